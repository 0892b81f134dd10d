//! SQP compared with specs/sqp.md: 30 frames a second, packets of 1200 bytes and the remainder.

use thalweg_control::{Controller, sqp};
use thalweg_units::{Bytes, Rate};

use super::{ratio, within};
use crate::support::subjects::built;
use crate::support::*;

fn sqp() -> Box<dyn Controller> {
    built(sqp::Sqp::new(sqp::Config::default()))
}

/// Seconds 20 to 40 on a constant path of which the application could use four times as much: the receive rate over the
/// capacity, and the max queueing time in milliseconds.
fn settled(kbps: u64, rtt_ms: i64) -> (f64, f64) {
    let rate = Rate::from_kbps(kbps);
    let record = Scenario::new(rate, rtt_ms, 40).encoded(1.0, rate.scale(4.0)).run(sqp());
    (ratio(record.arrived(20.0, 40.0), rate), record.worst_queueing(20.0, 40.0).as_millis_f64())
}

#[test]
fn it_uses_nine_tenths_of_every_capacity_and_its_frames_are_gone_before_the_next() {
    for (kbps, rtt_ms) in [1000, 3000, 6000, 30_000].into_iter().flat_map(|k| [5, 50, 200, 500].map(|r| (k, r))) {
        let (used, queue) = settled(kbps, rtt_ms);
        within(used, 0.88, 0.92, &format!("{kbps} kbps, {rtt_ms} ms, utilisation"));
        within(queue, 12.0, 20.0, &format!("{kbps} kbps, {rtt_ms} ms, worst queueing in ms"));
    }
}

#[test]
fn with_a_packet_or_two_in_a_frame_it_uses_seven_tenths_and_more() {
    for (kbps, rtt_ms) in [100, 300].into_iter().flat_map(|k| [5, 50, 200, 500].map(|r| (k, r))) {
        let (used, queue) = settled(kbps, rtt_ms);
        within(used, 0.7, 0.97, &format!("{kbps} kbps, {rtt_ms} ms, utilisation"));
        within(queue, 10.0, rtt_ms as f64 / 2.0 + 150.0, &format!("{kbps} kbps, {rtt_ms} ms, worst queueing in ms"));
    }
}

#[test]
fn it_grows_by_its_step_and_no_faster() {
    // delta (r 0.8 + 0.444) = 206 kbps for a sample of twice B: 6.2 Mbps a second at 30 frames a second, whatever the
    // capacity.
    let rate = Rate::from_kbps(200_000);
    let record = Scenario::new(rate, 50, 30).encoded(1.0, rate).run(sqp());
    within((record.target(25.0).as_mbps_f64() - record.target(5.0).as_mbps_f64()) / 20.0, 4.5, 6.3, "Mbps a second");
}

fn three_megabits(queue: u64) -> Scenario {
    let reference = Scenario::reference(Style::PerPacket, 50).encoded(1.0, Rate::from_kbps(12_000));
    Scenario { queue: Bytes::new(queue), ..reference }
}

#[test]
fn half_of_all_packets_lost_leave_its_estimate() {
    let record = Scenario { loss: 0.5, ..three_megabits(1_500_000) }.run(sqp());
    within(ratio(record.sent(30.0, 50.0), REFERENCE), 0.6, 1.0, "sent over the capacity");
}

#[test]
fn a_queue_of_two_packets_takes_a_tenth_of_what_it_sends_and_one_of_half_a_frame_takes_nothing() {
    for (bytes, used, lost) in
        [(2500, (0.4, 0.7), (0.08, 0.3)), (4000, (0.55, 0.8), (0.06, 0.3)), (8000, (0.88, 0.92), (0.0, 0.001))]
    {
        let record = three_megabits(bytes).run(sqp());
        let (arrived, sent) = (ratio(record.arrived(30.0, 50.0), REFERENCE), ratio(record.sent(30.0, 50.0), REFERENCE));
        within(arrived, used.0, used.1, &format!("{bytes} bytes, utilisation"));
        within((1.0 - arrived / sent).max(0.0), lost.0, lost.1, &format!("{bytes} bytes, lost"));
    }
}
