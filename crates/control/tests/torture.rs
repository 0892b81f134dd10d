//! What paths do to every controller: it comes back, and it does not build a queue that grows.

mod support;

use support::subjects::{self, Kind, Subject};
use support::*;
use thalweg_units::{Bytes, Rate, Span};

fn adaptive() -> impl Iterator<Item = &'static Subject> {
    subjects::ALL.iter().filter(|subject| matches!(subject.kind, Kind::Window | Kind::Gcc))
}

/// How many of eight 1500-byte packets' time at `rate`: what Copa at delta 0.5 (four packets on average) and RoCC (two) keep
/// in the queue by design.
fn eight_packets(rate: Rate) -> Span {
    rate.time_for(Bytes::new(8 * 1500))
}

#[test]
fn window_controllers_find_every_capacity_at_every_round_trip_time() {
    for subject in adaptive().filter(|subject| subject.kind == Kind::Window) {
        for (kbps, rtt_ms) in grid() {
            let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
            let record = Scenario::new(rate, rtt, Span::from_secs(30)).run((subject.build)());
            let reached = record.reaches(rate.scale(0.8), 0.0, 1.0);
            let (use_, queue) = (ratio(record.arrived(20.0, 30.0), rate), record.worst_queueing(20.0, 30.0));
            let run = format!("{} {rate} {rtt}: reached {reached:?} s, uses {use_:.3}, queue {queue}", subject.name);
            println!("{run}");
            // RoCC doubles in 2.95 round trips (rocc.md section 4): 200 Mbps at 500 ms are thirteen doublings.
            let patience = (rtt.as_secs_f64() * 30.0).max(10.0);
            assert!(reached.is_some_and(|at| at <= patience), "{run}");
            assert!((0.7..=1.001).contains(&use_), "{run}");
            assert!(queue <= rtt + eight_packets(rate), "{run}");
        }
    }
}

#[test]
fn gcc_reaches_what_eight_percent_a_second_reach() {
    for subject in adaptive().filter(|subject| subject.kind == Kind::Gcc) {
        for (kbps, rtt_ms) in grid() {
            let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
            let record = Scenario::new(rate, rtt, Span::from_secs(30)).run((subject.build)());
            let (arrived, queue) = (record.arrived(28.0, 30.0), record.worst_queueing(20.0, 30.0));
            let run = format!("{} {rate} {rtt}: arrives {arrived}, queue {queue}", subject.name);
            println!("{run}");
            // The first probes find up to 1.8 Mbps (six times 300 kbps); after that 8 % a second (gcc.md sections 5 and 8), for
            // twenty of the thirty seconds; a path below the start rate is overrun at first and refilled at that pace.
            let found = Rate::from_kbps(1800).scale(1.08f64.powi(20));
            let floor = if kbps < 300 { rate.scale(0.4) } else { rate.scale(0.75).min(found) };
            assert!(arrived >= floor && arrived <= rate.scale(1.02), "{run}");
            let most = if kbps < 300 { Span::from_secs(2) } else { rtt / 2 + Span::from_millis(100) };
            assert!(queue <= most, "{run}");
        }
    }
}

/// Up to 10 Mbps: at 50, Copa wants less than a third of a millisecond in the queue, and RFC 8888 tells time in ticks of one.
#[test]
fn batched_reports_cost_window_controllers_little_at_every_round_trip_time() {
    for (style, subject) in [Style::Twcc, Style::Rfc8888]
        .into_iter()
        .flat_map(|style| adaptive().map(move |s| (style, s)))
        .filter(|(_, s)| s.kind == Kind::Window)
    {
        for (kbps, rtt_ms) in [300, 2000, 10_000].into_iter().flat_map(|k| [5, 30, 150, 500].map(|r| (k, r))) {
            let (rate, rtt) = (Rate::from_kbps(kbps), Span::from_millis(rtt_ms));
            let scenario = Scenario { style, ..Scenario::new(rate, rtt, Span::from_secs(40)) };
            let record = scenario.run((subject.build)());
            let (use_, queue) = (ratio(record.arrived(20.0, 40.0), rate), record.worst_queueing(20.0, 40.0));
            let run = format!("{} {style:?} {rate} {rtt}: uses {use_:.3}, queue {queue}", subject.name);
            println!("{run}");
            assert!((0.8..=1.001).contains(&use_), "{run}");
            // What waits for a report may leave in one burst after it.
            assert!(queue <= rtt + eight_packets(rate) + Span::from_millis(62), "{run}");
        }
    }
}

fn grid() -> impl Iterator<Item = (u64, i64)> {
    [100, 1000, 6000, 30_000, 200_000].into_iter().flat_map(|kbps| [5, 50, 200, 500].map(|rtt_ms| (kbps, rtt_ms)))
}

fn ratio(rate: Rate, of: Rate) -> f64 {
    rate.as_bps_f64() / of.as_bps_f64()
}

/// 3 Mbps, 60 ms, a queue of 1.5 MB.
const RATE: Rate = Rate::from_kbps(3000);

fn three_megabits(style: Style) -> Scenario {
    let plain = Scenario::new(RATE, Span::from_millis(60), Span::from_secs(50));
    Scenario { style, queue: Bytes::new(1_500_000), ..plain }
}

fn outage(style: Style) -> Scenario {
    let capacity = Schedule::steps(&[(0, RATE), (15, Rate::ZERO), (25, RATE)]);
    Scenario { capacity, ..three_megabits(style) }
}

#[test]
fn bad_reports_and_odd_clocks_cost_nobody_much() {
    for style in Style::ALL {
        let base = || three_megabits(style);
        let cases = [
            ("nothing", base()),
            ("an odd clock", Scenario { clock: Clock::ODD, ..base() }),
            ("a slow clock", Scenario { clock: Clock::SLOW, ..base() }),
            ("duplicates", Scenario { duplicates: 0.2, ..base() }),
            ("reordering", Scenario { reordering: 0.1, ..base() }),
            ("loss", Scenario { loss: 0.02, ..base() }),
            ("200-byte packets", Scenario { source: Source::Backlog(Bytes::new(200)), ..base() }),
        ];
        for (subject, (what, scenario)) in adaptive().flat_map(|subject| cases.iter().map(move |case| (subject, case)))
        {
            let record = scenario.run((subject.build)());
            let (use_, queue) = (ratio(record.arrived(35.0, 50.0), RATE), record.worst_queueing(35.0, 50.0));
            let run = format!("{} {style:?} {what}: uses {use_:.3}, queue {queue}", subject.name);
            println!("{run}");
            assert!((0.9..=1.001).contains(&use_), "{run}");
            assert!(queue <= Span::from_millis(110), "{run}");
        }
    }
}

#[test]
fn window_controllers_are_back_soon_after_silence_and_after_an_outage() {
    for (style, subject) in Style::ALL
        .into_iter()
        .flat_map(|style| adaptive().map(move |s| (style, s)))
        .filter(|(_, s)| s.kind == Kind::Window)
    {
        let silence = Scenario { silence: Some((15, 20)), ..three_megabits(style) };
        for (what, scenario, end) in [("silence", silence, 20.0), ("outage", outage(style), 25.0)] {
            let record = scenario.run((subject.build)());
            let back = record.reaches(RATE.scale(0.8), end + 1.0, 1.0).map(|at| at - end);
            let (use_, queue) = (ratio(record.arrived(35.0, 50.0), RATE), record.worst_queueing(35.0, 50.0));
            let run = format!("{} {style:?} {what}: back {back:?} s, uses {use_:.3}, queue {queue}", subject.name);
            println!("{run}");
            assert!(back.is_some_and(|after| after <= 10.0) && use_ >= 0.9, "{run}");
            assert!(queue <= Span::from_millis(110), "{run}");
        }
    }
}

/// GCC's only answer to silence is to back off to 0.8 of the target each second from the third on (gcc.md section 7). That leaves
/// the delay-based estimate alone, so the target is where it was with the first young report; what an outage costs more than that is
/// overuse, by the queue it leaves behind.
#[test]
fn gcc_backs_off_in_silence_and_is_back_with_the_first_reports() {
    for (style, subject) in Style::ALL
        .into_iter()
        .flat_map(|style| adaptive().map(move |s| (style, s)))
        .filter(|(_, s)| s.kind == Kind::Gcc)
    {
        let silence = Scenario { silence: Some((15, 20)), ..three_megabits(style) };
        for (what, scenario, begin, end, lowered) in
            [("silence", silence, 15.0, 20.0, 3), ("outage", outage(style), 15.0, 25.0, 8)]
        {
            let record = scenario.run((subject.build)());
            let (before, least, back) = (record.target(begin), record.target(end - 0.1), record.target(49.0));
            let queue = record.worst_queueing(40.0, 50.0);
            let run = format!("{} {style:?} {what}: {before}, {least}, then {back}, queue {queue}", subject.name);
            println!("{run}");
            let backed_off = before.scale(0.8f64.powi(lowered));
            assert!(ratio(least, backed_off) >= 0.95 && ratio(least, backed_off) <= 1.3, "{run}");
            assert!(ratio(back, RATE) >= 0.75, "{run}");
            if what == "silence" {
                let soon = record.target(end + 1.0);
                assert!(ratio(soon, before) >= 0.75, "{soon} a second after {run}");
            }
            assert!(queue <= Span::from_millis(110), "{run}");
        }
    }
}
