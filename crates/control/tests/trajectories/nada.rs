//! NADA compared with specs/nada.md: it keeps a queue of XREF x RMAX / capacity by design, and ramps up by a share that
//! falls with the round trip.

use thalweg_control::{Controller, nada};
use thalweg_units::{Bytes, Rate, Span};

use super::{ratio, within};
use crate::support::subjects::built;
use crate::support::*;

/// RMAX.
const MAX: Rate = Rate::from_kbps(12_000);

fn rfc() -> Box<dyn Controller> {
    built(nada::Nada::new(nada::Config::default()))
}

/// The queueing delay at equilibrium: x = PRIO x XREF x RMAX / r.
fn equilibrium(rate: Rate) -> f64 {
    10.0 * ratio(MAX, rate)
}

/// Seconds from 300 kbps to 80 % of `rate`: each step is (1 + gamma) of the receive rate, which is known a round trip,
/// half of LOGWIN and half an update interval late.
fn ramp_up_takes(rate: Rate, round_trip: Span) -> f64 {
    let seconds = round_trip.as_secs_f64();
    let gamma = (0.05 / (seconds + 0.22)).min(0.5);
    (0.8 * rate.as_bps_f64() / 300e3).ln() / gamma.ln_1p() * (seconds + 0.25 + 0.05)
}

#[test]
fn it_ramps_up_by_gamma_and_settles_where_the_queue_is_the_reference() {
    for (kbps, rtt_ms) in [1000, 3000, 6000, 10_000].into_iter().flat_map(|k| [5, 50, 200].map(|r| (k, r))) {
        let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
        let record = Scenario::new(rate, rtt_ms, 40).encoded(1.0, MAX).run(rfc());
        let what = |what: &str| format!("{rate} {rtt}, {what}");
        let takes = ramp_up_takes(rate, rtt);
        let reached = record.reaches(rate.scale(0.8), 0.0, 1.0).expect("reached");
        within(reached, 0.6 * takes - 0.5, 1.1 * takes + 0.5, &what("s to 80 %"));
        within(ratio(record.arrived(30.0, 40.0), rate), 0.98, 1.001, &what("utilisation"));
        // A packet's own transmission time is not queueing.
        let queue = record.mean_queueing(30.0, 40.0) - rate.time_for(Bytes::new(1200));
        let expected = equilibrium(rate);
        within(queue.as_millis_f64(), 0.9 * expected - 1.0, 1.1 * expected + 1.0, &what("mean queueing in ms"));
        within(
            record.worst_queueing(0.0, 40.0).as_millis_f64(),
            expected,
            expected + 60.0,
            &what("worst queueing in ms"),
        );
    }
}

#[test]
fn half_a_second_of_round_trip_is_stable_and_slow() {
    for kbps in [1000, 3000] {
        let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(500));
        let record = Scenario::new(rate, 500, 60).encoded(1.0, MAX).run(rfc());
        let takes = ramp_up_takes(rate, rtt);
        let reached = record.reaches(rate.scale(0.8), 0.0, 1.0).expect("reached");
        within(reached, 0.6 * takes - 0.5, 1.1 * takes + 0.5, &format!("{rate}, s to 80 %"));
        within(ratio(record.arrived(45.0, 60.0), rate), 0.9, 1.001, &format!("{rate}, utilisation"));
        within(record.worst_queueing(0.0, 60.0).as_millis_f64(), 40.0, 350.0, &format!("{rate}, worst queueing in ms"));
    }
}

/// The equilibrium uses 40 ms of the queue.
fn three_megabits(style: Style) -> Scenario {
    Scenario::reference(style, 50).encoded(1.0, MAX)
}

#[test]
fn bad_reports_and_odd_clocks_cost_little() {
    for style in Style::ALL {
        let base = || three_megabits(style);
        for (what, scenario, queue) in [
            ("nothing", base(), 39.0..45.0),
            // 100 ppm over 50 s are 5 ms.
            ("an odd clock", Scenario { clock: Clock::ODD, ..base() }, 34.0..42.0),
            ("a slow clock", Scenario { clock: Clock::SLOW, ..base() }, 42.0..50.0),
            ("duplicates", Scenario { duplicates: 0.2, ..base() }, 39.0..45.0),
            // With per-packet feedback, some of the overtaken packets count as lost.
            ("reordering", Scenario { reordering: 0.1, ..base() }, 5.0..45.0),
        ] {
            let record = scenario.run(rfc());
            let what = |unit: &str| format!("{style:?} {what}, {unit}");
            within(ratio(record.arrived(35.0, 50.0), REFERENCE), 0.9, 1.001, &what("utilisation"));
            let mean = record.mean_queueing(35.0, 50.0).as_millis_f64();
            within(mean, queue.start, queue.end, &what("mean queueing in ms"));
            within(record.worst_queueing(35.0, 50.0).as_millis_f64(), 10.0, 110.0, &what("worst queueing in ms"));
        }
    }
}

#[test]
fn two_percent_lost_count_as_forty_milliseconds() {
    // x = 10 (p / 0.01)^2 = 40 ms on an empty path: RMAX x 10 / 40 = 3 Mbps, and slightly more because the rate ramps
    // up after half a second without a loss.
    for style in Style::ALL {
        let capacity = Schedule::constant(Rate::from_kbps(10_000));
        let record = Scenario { loss: 0.02, capacity, ..three_megabits(style) }.run(rfc());
        within(record.sent(20.0, 50.0).as_mbps_f64(), 2.4, 4.5, &format!("{style:?}, Mbps at 2 % loss"));
    }
}

#[test]
fn a_path_that_becomes_three_times_as_wide_is_filled_and_one_a_third_as_wide_is_left() {
    for (from, to) in [(1000, 3000), (9000, 3000)] {
        let capacity = Schedule::steps(&[(0, Rate::from_kbps(from)), (20, Rate::from_kbps(to))]);
        let record = Scenario { capacity, ..three_megabits(Style::Twcc) }.run(rfc());
        record.print(&format!("nada, {from} to {to} kbps after 20 s"));
        let what = |what: &str| format!("{from} to {to} kbps, {what}");
        within(ratio(record.arrived(30.0, 50.0), REFERENCE), 0.95, 1.001, &what("utilisation"));
        within(record.mean_queueing(40.0, 50.0).as_millis_f64(), 38.0, 45.0, &what("mean queueing in ms"));
    }
}

#[test]
fn an_encoder_of_ninety_five_percent_fills_the_path() {
    // (1 + gamma) of 60 % is less than the capacity (spec: self-limiting): the rate stays at its start
    // (`torture/undershoot.rs`).
    let record = three_megabits(Style::Twcc).encoded(0.95, MAX).run(rfc());
    within(ratio(record.arrived(35.0, 50.0), REFERENCE), 0.9, 1.001, "utilisation by 95 %");
}
