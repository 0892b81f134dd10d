//! A congestion controller on its own: GCC's estimate of a path of 2 Mbps, with feedback every 100 ms.

use thalweg::control::{Acknowledgement, History, PacketId};
use thalweg::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (path, delay, size) = (Rate::from_kbps(2000), Span::from_millis(25), Bytes::new(1200));
    let mut controller = "gcc".parse::<Scheme>()?.controller.build()?;
    let (mut history, mut now, mut path_free, mut arrived) = (History::default(), Time::ZERO, Time::ZERO, Vec::new());
    let mut report = Time::from_millis(100);
    for number in 0..3000 {
        controller.on_sent(&history.on_sent(SentPacket::new(PacketId(number), now, size)));
        path_free = path_free.max(now + delay) + path.time_for(size);
        arrived.push(Acknowledgement::new(PacketId(number), Some(path_free)));
        now += controller.limits().capacity.time_for(size);
        if now >= report {
            let reported = arrived.partition_point(|packet| packet.arrival < Some(now - delay));
            let packets: Vec<_> = arrived.drain(..reported).collect();
            controller.on_feedback(&history.on_report(now, &packets, None));
            if report.as_nanos().is_multiple_of(1_000_000_000) {
                println!("{:2.0} s  {}", now.as_secs_f64(), controller.limits().capacity);
            }
            report += Span::from_millis(100);
        }
    }
    Ok(())
}
