//! Pudica compared with specs/pudica.md: 30 frames a second, without probes, because this harness paces padding like
//! media.

use thalweg_control::{Controller, pudica};
use thalweg_units::{Bytes, Rate};

use super::{ratio, within};
use crate::support::subjects::built;
use crate::support::*;

fn with(config: pudica::Config) -> Box<dyn Controller> {
    built(pudica::Pudica::new(pudica::Config { probes: 0, ..config }))
}

/// An application that could use four times the capacity.
fn path(kbps: u64, rtt_ms: i64, seconds: i64) -> Scenario {
    let rate = Rate::from_kbps(kbps);
    Scenario::new(rate, rtt_ms, seconds).encoded(1.0, rate.scale(4.0))
}

#[test]
fn where_a_round_trip_is_half_a_second_it_swings_but_neither_stops_nor_fills_the_queue() {
    for kbps in [100, 300, 1000, 3000, 6000, 30_000] {
        let record = path(kbps, 500, 40).run(with(pudica::Config::default()));
        let used = ratio(record.arrived(20.0, 40.0), Rate::from_kbps(kbps));
        within(used, 0.4, 1.001, &format!("{kbps} kbps, utilisation"));
        within(record.worst_queueing(20.0, 40.0).as_millis_f64(), 5.0, 250.0, &format!("{kbps} kbps, queueing in ms"));
    }
}

#[test]
fn half_of_all_packets_lost_stop_it_only_where_losses_count() {
    let sent = |max_lost| {
        let config = pudica::Config { max_lost, ..pudica::Config::default() };
        let record = Scenario { loss: 0.5, ..path(3000, 60, 50) }.run(with(config));
        ratio(record.sent(30.0, 50.0), Rate::from_kbps(3000))
    };
    within(sent(1.0), 0.5, 1.0, "sent over the capacity");
    within(sent(0.2), 0.005, 0.1, "and where a frame that lost a fifth counts as one of R = 1.5");
}

#[test]
fn a_queue_of_less_than_six_kilobytes_it_overruns() {
    // The Camel paper, Figure 20: "from 6 KB". A short queue hides how late a frame is.
    for (bytes, low, high) in [(2500, 2.0, 4.1), (4000, 2.0, 4.1), (6000, 0.9, 1.05), (8000, 0.9, 1.05)] {
        let record = Scenario { queue: Bytes::new(bytes), ..path(3000, 60, 50) }.run(with(pudica::Config::default()));
        within(ratio(record.sent(30.0, 50.0), Rate::from_kbps(3000)), low, high, &format!("{bytes} bytes, sent"));
    }
}
