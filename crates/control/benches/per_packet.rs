//! The CPU cost of a packet: nanoseconds per packet sent and reported, for each controller on top of the history. `fixed`
//! ignores feedback: what it costs is the history's.
//!
//! ```text
//! cargo bench -p thalweg-control --bench per_packet                       # ns per packet: all subjects, all styles
//! cargo bench -p thalweg-control --bench per_packet -- gcc twcc 100000    # one subject, one style, so many packets once
//! ```
//!
//! Times on a shared machine vary; instruction counts do not. Two commands count them; the second uses the binary
//! printed by the first:
//!
//! ```text
//! cargo bench -p thalweg-control --bench per_packet --no-run
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*per_packet::drive*' BINARY gcc twcc 100000
//! ```
//!
//! "Collected" over 100000 is instructions per packet, sent and reported. One report covers one packet (`each`), 32
//! (`rfc8888`) or 65 (`twcc`): multiply by that for the cost of a report with its packets. Without `--toggle-collect`,
//! the difference of two runs over the difference of their packet counts gives the same.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use thalweg_control::{
    Acknowledgement, Controller, Demand, FramePlace, History, LossDetectionConfig, PacketId, SentPacket,
};
use thalweg_units::{Bytes, Rate, Span, Time};

use support::subjects::{self, Subject};

/// How packets are reported: each at once, or all of an interval together.
const STYLES: &[(&str, Option<Span>)] =
    &[("each", None), ("rfc8888", Some(Span::from_millis(31))), ("twcc", Some(Span::from_millis(62)))];

/// Packets of a frame: 10 Mbps at 30 frames a second.
const FRAME: u64 = 35;

/// 10 Mbps of 1200-byte packets, 25 ms each way, one packet in two hundred lost.
#[inline(never)]
fn drive(controller: &mut dyn Controller, batch: Option<Span>, packets: u64) -> Rate {
    let one_way = Span::from_millis(25);
    let gap = Rate::from_kbps(10_000).time_for(Bytes::new(1200));
    let mut history = History::new(LossDetectionConfig::default());
    controller.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) });
    let mut report: Vec<Acknowledgement> = Vec::new();
    let mut reported = 0;
    let mut next_report = Time::ZERO;
    for number in 0..packets {
        let now = Time::ZERO + gap * number as i64;
        if controller.next_timeout() <= now {
            controller.on_timeout(now);
        }
        let (frame, index) = (number / FRAME, number % FRAME);
        let offset = Bytes::new(1200) * index;
        let place = Some(FramePlace {
            frame,
            first: index == 0,
            last: index + 1 == FRAME,
            offset,
            captured: Time::ZERO + gap * (frame * FRAME) as i64,
            keyframe: false,
        });
        let mut packet = SentPacket::new(PacketId(number), now, Bytes::new(1200));
        packet.place = place;
        let packet = history.on_sent(packet);
        controller.on_sent(&packet);
        std::hint::black_box(controller.limits());
        if batch.is_some() && now < next_report {
            continue;
        }
        next_report = now + batch.unwrap_or(Span::ZERO);
        while Time::ZERO + gap * reported + one_way * 2 <= now {
            let id = PacketId(reported as u64);
            let arrival = (reported % 200 != 7).then_some(Time::ZERO + gap * reported + one_way);
            report.push(Acknowledgement::new(id, arrival));
            reported += 1;
        }
        if !report.is_empty() {
            controller.on_feedback(&history.on_report(now, &report, None));
            report.clear();
        }
    }
    controller.limits().capacity
}

#[allow(clippy::disallowed_methods, reason = "a benchmark is the place to read a clock")]
fn time(subject: &Subject, batch: Option<Span>, packets: u64) -> Duration {
    let mut controller = (subject.build)();
    let start = Instant::now();
    std::hint::black_box(drive(&mut *controller, batch, packets));
    start.elapsed()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |index: usize, name: &str| arguments.get(index).is_none_or(|argument| argument == name);
    let packets = arguments.get(2).and_then(|argument| argument.parse().ok());
    println!("{:14} {:>12} {:>12} {:>12}", "ns/packet", STYLES[0].0, STYLES[1].0, STYLES[2].0);
    for subject in subjects::ALL.iter().filter(|subject| wanted(0, subject.name)) {
        print!("{:14}", subject.name);
        for (_, batch) in STYLES.iter().filter(|(style, _)| wanted(1, style)) {
            // The best of five: disturbances only make a run slower.
            let (count, runs) = packets.map_or((500_000, 5), |packets: u64| (packets, 1));
            let best = (0..runs).map(|_| time(subject, *batch, count)).min().unwrap_or_default();
            print!(" {:12.1}", best.as_nanos() as f64 / count as f64);
        }
        println!();
    }
}
