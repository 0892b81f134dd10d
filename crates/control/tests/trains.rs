//! What paths do to the controllers that are coupled to frames, SQP and Pudica: the torture's paths with an encoder in
//! place of its backlog, which has no frames to measure. 30 frames a second, packets of 1200 bytes and what is left.

mod support;

use support::*;
use thalweg_control::{Controller, pudica, sqp};
use thalweg_units::{Bytes, Rate, Span};

type Build = fn() -> Box<dyn Controller>;

fn sqp() -> Box<dyn Controller> {
    Box::new(sqp::Config::default().build().expect("in range"))
}

/// Without probes: this harness paces filler and media alike, and its filler is no smaller than its media.
fn pudica() -> Box<dyn Controller> {
    Box::new(pudica::Config { probes: 0, ..pudica::Config::default() }.build().expect("in range"))
}

const BOTH: [(&str, Build); 2] = [("sqp", sqp), ("pudica", pudica)];

fn encoder(share: f64, max: Rate) -> Source {
    Source::Encoder { share, max }
}

fn ratio(rate: Rate, of: Rate) -> f64 {
    rate.as_bps_f64() / of.as_bps_f64()
}

/// What became of 40 s on a constant path of which the application could use four times as much.
struct Settled {
    run: String,
    reached: Option<f64>,
    used: f64,
    queue: Span,
}

fn settle(name: &str, build: Build, kbps: u64, rtt_ms: i64) -> Settled {
    let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
    let plain = Scenario::new(rate, rtt, Span::from_secs(40));
    let record = Scenario { source: encoder(1.0, rate.scale(4.0)), ..plain }.run(build());
    let reached = record.reaches(rate.scale(0.8), 0.0, 1.0);
    let (used, queue) = (ratio(record.arrived(20.0, 40.0), rate), record.worst_queueing(20.0, 40.0));
    let run = format!("{name} {rate} {rtt}: reached {reached:?} s, uses {used:.3}, queue {queue}");
    println!("{run}");
    Settled { run, reached, used, queue }
}

fn grid(kbps: &'static [u64], rtts_ms: &'static [i64]) -> impl Iterator<Item = (u64, i64)> {
    kbps.iter().flat_map(move |kbps| rtts_ms.iter().map(move |rtt_ms| (*kbps, *rtt_ms)))
}

#[test]
fn sqp_uses_nine_tenths_of_every_capacity_and_its_frames_are_gone_before_the_next() {
    for (kbps, rtt_ms) in grid(&[1000, 3000, 6000, 30_000], &[5, 50, 200, 500]) {
        let Settled { run, reached, used, queue } = settle("sqp", sqp, kbps, rtt_ms);
        assert!(reached.is_some_and(|at| at <= 10.0), "{run}");
        assert!((0.88..=0.92).contains(&used), "{run}");
        assert!(queue <= Span::from_millis(20), "{run}");
    }
}

#[test]
fn sqp_with_a_packet_or_two_in_a_frame_uses_seven_tenths_and_more() {
    for (kbps, rtt_ms) in grid(&[100, 300], &[5, 50, 200, 500]) {
        let Settled { run, used, queue, .. } = settle("sqp", sqp, kbps, rtt_ms);
        assert!((0.7..=0.97).contains(&used), "{run}");
        assert!(queue <= Span::from_millis(rtt_ms / 2 + 150), "{run}");
    }
}

#[test]
fn sqp_grows_by_its_step_and_no_faster() {
    // delta (r 0.8 + 0.444) = 206 kbps of a sample of twice B: 6.2 Mbps a second at 30 frames a second, whatever the
    // path has.
    let rate = Rate::from_kbps(200_000);
    let plain = Scenario::new(rate, Span::from_millis(50), Span::from_secs(30));
    let record = Scenario { source: encoder(1.0, rate), ..plain }.run(sqp());
    let growth = (record.target(25.0).as_mbps_f64() - record.target(5.0).as_mbps_f64()) / 20.0;
    println!("{growth:.2} Mbps a second");
    assert!((4.5..=6.3).contains(&growth), "{growth}");
}

#[test]
fn pudica_finds_every_capacity_and_leaves_no_more_than_a_frame_in_the_queue() {
    for (kbps, rtt_ms) in grid(&[3000, 6000, 30_000, 200_000], &[5, 50, 200]) {
        let Settled { run, reached, used, queue } = settle("pudica", pudica, kbps, rtt_ms);
        assert!(reached.is_some_and(|at| at <= 10.0), "{run}");
        assert!((0.8..=1.001).contains(&used), "{run}");
        assert!(queue <= Span::of_frame(30.0), "{run}");
    }
    for (kbps, rtt_ms) in grid(&[100, 300, 1000], &[5, 50, 200]) {
        let Settled { run, used, queue, .. } = settle("pudica", pudica, kbps, rtt_ms);
        assert!((0.7..=1.001).contains(&used), "{run}");
        // A packet of 1200 bytes takes 96 ms at 100 kbps.
        assert!(queue <= Span::of_frame(30.0) + Rate::from_kbps(kbps).time_for(Bytes::new(3600)), "{run}");
    }
}

/// Fifteen intervals pass before anything shows what a decision did: it swings, but neither stops nor fills the queue.
#[test]
fn pudica_swings_where_a_round_trip_is_half_a_second() {
    for (kbps, rtt_ms) in grid(&[100, 300, 1000, 3000, 6000, 30_000, 200_000], &[500]) {
        let Settled { run, reached, used, queue } = settle("pudica", pudica, kbps, rtt_ms);
        assert!(reached.is_some_and(|at| at <= 15.0), "{run}");
        assert!((0.4..=1.001).contains(&used), "{run}");
        assert!(queue <= Span::from_millis(250), "{run}");
    }
}

/// 3 Mbps, 60 ms, a queue of 1.5 MB.
const RATE: Rate = Rate::from_kbps(3000);

fn three_megabits(style: Style) -> Scenario {
    let plain = Scenario::new(RATE, Span::from_millis(60), Span::from_secs(50));
    Scenario { style, queue: Bytes::new(1_500_000), source: encoder(1.0, Rate::from_kbps(12_000)), ..plain }
}

#[test]
fn bad_reports_odd_clocks_and_a_little_loss_cost_neither_much() {
    for style in Style::ALL {
        let base = || three_megabits(style);
        let cases = [
            ("nothing", base()),
            ("an odd clock", Scenario { clock: Clock::ODD, ..base() }),
            ("a slow clock", Scenario { clock: Clock::SLOW, ..base() }),
            ("duplicates", Scenario { duplicates: 0.2, ..base() }),
            ("reordering", Scenario { reordering: 0.1, ..base() }),
            ("loss", Scenario { loss: 0.02, ..base() }),
            ("a queue of 7500 bytes", Scenario { queue: Bytes::new(7500), ..base() }),
        ];
        for ((name, build), (what, scenario)) in BOTH.into_iter().flat_map(|b| cases.iter().map(move |case| (b, case)))
        {
            let record = scenario.run(build());
            let (used, queue) = (ratio(record.arrived(35.0, 50.0), RATE), record.worst_queueing(35.0, 50.0));
            let run = format!("{name} {style:?} {what}: uses {used:.3}, queue {queue}");
            println!("{run}");
            assert!((0.84..=1.001).contains(&used), "{run}");
            assert!(queue <= Span::from_millis(35), "{run}");
        }
    }
}

#[test]
fn both_are_back_soon_after_silence_an_outage_and_a_drop_to_a_quarter() {
    for style in Style::ALL {
        let during = |rate: Rate| Schedule::steps(&[(0, RATE), (15, rate), (25, RATE)]);
        let cases = [
            ("silence", Scenario { silence: Some((15, 20)), ..three_megabits(style) }, 20.0),
            ("outage", Scenario { capacity: during(Rate::ZERO), ..three_megabits(style) }, 25.0),
            ("drop", Scenario { capacity: during(RATE.scale(0.25)), ..three_megabits(style) }, 25.0),
        ];
        for ((name, build), (what, scenario, end)) in BOTH.into_iter().flat_map(|b| cases.iter().map(move |c| (b, c))) {
            let record = scenario.run(build());
            let back = record.reaches(RATE.scale(0.8), end + 1.0, 1.0).map(|at| at - end);
            let (used, queue) = (ratio(record.arrived(35.0, 50.0), RATE), record.worst_queueing(35.0, 50.0));
            let late = record.worst_queueing(20.0, 25.0);
            let run = format!("{name} {style:?} {what}: back {back:?} s, uses {used:.3}, queue {queue}, during {late}");
            println!("{run}");
            assert!(back.is_some_and(|after| after <= 3.0) && (0.84..=1.001).contains(&used), "{run}");
            assert!(queue <= Span::from_millis(35), "{run}");
            assert!(*what != "drop" || late <= Span::from_millis(100), "{run}");
        }
    }
}

#[test]
fn an_encoder_that_makes_six_tenths_deceives_pudica_but_not_sqp() {
    let scenario = Scenario { source: encoder(0.6, Rate::from_kbps(12_000)), ..three_megabits(Style::PerPacket) };
    let told = |build: Build| {
        let record = scenario.run(build());
        (300..490).map(|bin| ratio(record.target(f64::from(bin) / 10.0), RATE)).sum::<f64>() / 190.0
    };
    let (sqp, pudica) = (told(sqp), told(pudica));
    println!("sqp says {sqp:.3} of the capacity, pudica {pudica:.3}");
    assert!((0.88..=0.92).contains(&sqp), "T of it: {sqp}");
    // Its drift goes up below half of B_max until frames need more than their interval.
    assert!((1.2..=1.7).contains(&pudica), "{pudica}");
}

#[test]
fn half_of_all_packets_lost_leaves_sqp_its_estimate_and_pudica_nothing() {
    let scenario = Scenario { loss: 0.5, ..three_megabits(Style::PerPacket) };
    let sent = |build: Build| ratio(scenario.run(build()).sent(30.0, 50.0), RATE);
    let (sqp, pudica) = (sent(sqp), sent(pudica));
    println!("sqp sends {sqp:.3} of the capacity, pudica {pudica:.3}");
    assert!((0.6..=1.0).contains(&sqp) && pudica <= 0.1, "{sqp} {pudica}");
}

#[test]
fn a_queue_of_two_packets_takes_a_tenth_of_what_sqp_sends_and_one_of_half_a_frame_takes_nothing() {
    for (bytes, used, lost) in
        [(2500, 0.4..0.7, 0.08..0.3), (4000, 0.55..0.8, 0.06..0.3), (8000, 0.88..0.92, 0.0..0.001)]
    {
        let record = Scenario { queue: Bytes::new(bytes), ..three_megabits(Style::PerPacket) }.run(sqp());
        let (arrived, sent) = (ratio(record.arrived(30.0, 50.0), RATE), ratio(record.sent(30.0, 50.0), RATE));
        println!("sqp, {bytes} bytes: sends {sent:.3}, {arrived:.3} arrive");
        assert!(
            used.contains(&arrived) && lost.contains(&(1.0 - arrived / sent).max(0.0)),
            "{bytes}: {arrived} of {sent}"
        );
    }
}
