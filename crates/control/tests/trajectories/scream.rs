//! SCReAM compared with specs/scream.md: by its own rule it needs some hundred round trips to reach a large window, and
//! losses that are not caused by a queue cost it half of the path.

use thalweg_control::{Controller, scream};
use thalweg_units::{Bytes, Rate, Span};

use super::{ratio, within};
use crate::support::subjects::built;
use crate::support::*;

fn draft() -> Box<dyn Controller> {
    with(scream::WindowConfig::default())
}

fn with(window: scream::WindowConfig) -> Box<dyn Controller> {
    built(scream::Scream::new(scream::Config { window, ..scream::Config::default() }))
}

/// Seconds that a backlogged sender needs to reach 80 % of `rate`: the window grows by a segment and 2 % of its size
/// for each window acknowledged, of which a round trip has 1.225, because pacing is that many times the window's rate.
fn growth_takes(rate: Rate, round_trip: Span) -> f64 {
    let paced = 1.5 / 1.2 / 1.02;
    let seconds = round_trip.as_secs_f64();
    let window = |rate: f64| rate / 8.0 * seconds / paced;
    let (from, to) = ((300e3 / 8.0 * seconds).max(3000.0), window(0.8 * rate.as_bps_f64()));
    let windows = ((1000.0 + 0.02 * to) / (1000.0 + 0.02 * from)).ln() / 0.02;
    windows * seconds / paced
}

#[test]
fn the_window_grows_by_a_segment_and_two_percent_a_round_trip() {
    for (kbps, rtt_ms, duration) in
        [(200_000, 50, 15), (30_000, 50, 15), (6000, 200, 20), (30_000, 200, 40), (200_000, 200, 60), (6000, 500, 60)]
    {
        let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
        let record = Scenario::new(rate, rtt_ms, duration).run(draft());
        let (takes, reached) = (growth_takes(rate, rtt), record.reaches(rate.scale(0.8), 0.0, 1.0));
        within(reached.expect("reached"), 0.8 * takes - 0.5, 1.2 * takes + 0.5, &format!("{rate} {rtt}, s to 80 %"));
    }
}

#[test]
fn a_backlog_keeps_a_queue_of_about_half_the_target() {
    for (kbps, rtt_ms) in [(6000, 5), (6000, 50), (30_000, 5), (30_000, 50), (200_000, 5), (200_000, 50)] {
        let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
        let record = Scenario::new(rate, rtt_ms, 30).run(draft());
        let what = |what: &str| format!("{rate} {rtt}, {what}");
        within(ratio(record.arrived(20.0, 30.0), rate), 0.98, 1.001, &what("utilisation"));
        within(record.mean_queueing(20.0, 30.0).as_millis_f64(), 20.0, 40.0, &what("mean queueing in ms"));
        within(record.worst_queueing(10.0, 30.0).as_millis_f64(), 25.0, 60.0, &what("worst queueing in ms"));
    }
}

#[test]
fn an_encoder_aimed_at_the_target_fills_paths_of_every_size() {
    for (kbps, rtt_ms) in [300, 1000, 6000, 30_000].into_iter().flat_map(|k| [5, 50, 200].map(|r| (k, r))) {
        let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
        let record = Scenario::new(rate, rtt_ms, 60).encoded(1.0, Rate::from_kbps(1_000_000)).run(draft());
        let what = |what: &str| format!("{rate} {rtt}, {what}");
        within(ratio(record.arrived(45.0, 60.0), rate), 0.8, 1.001, &what("utilisation"));
        // The min window, three times of which may be in flight, is 240 ms of the smallest path.
        let max = if kbps < 1000 { 250.0 } else { 110.0 };
        within(record.worst_queueing(40.0, 60.0).as_millis_f64(), 1.0, max, &what("worst queueing in ms"));
    }
}

#[test]
fn a_queue_that_overflows_costs_less_where_it_counts_once_a_round_trip() {
    for (style, min_gain) in [(Style::PerPacket, 0.02), (Style::Twcc, 0.05), (Style::Rfc8888, 0.1)] {
        let used = |losses| {
            let window = scream::WindowConfig { losses, ..scream::WindowConfig::default() };
            let record = Scenario { queue: Bytes::new(7500), ..Scenario::reference(style, 50) }.run(with(window));
            ratio(record.arrived(20.0, 50.0), REFERENCE)
        };
        let (draft, once) = (used(scream::Losses::EachVirtualRoundTrip), used(scream::Losses::EachRoundTrip));
        within(once - draft, min_gain, 0.3, &format!("{style:?}, {draft:.3} and {once:.3}, gain"));
    }
}

#[test]
fn an_encoder_that_makes_less_than_its_target_holds_the_window_down() {
    // Bytes in flight are 0.6 x 0.8 of the window: 1.5 times that is less than the window, so the window cannot grow.
    let scenario = Scenario::reference(Style::PerPacket, 50).encoded(0.6, Rate::from_kbps(12_000));
    for (headroom, low, high) in [(1.5, 0.02, 0.1), (4.0, 0.9, 1.001)] {
        let record = scenario.run(with(scream::WindowConfig { headroom, ..scream::WindowConfig::default() }));
        within(ratio(record.arrived(35.0, 50.0), REFERENCE), low, high, &format!("headroom {headroom}, utilisation"));
    }
}
