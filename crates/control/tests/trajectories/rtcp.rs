//! FBRA, RRTCC, the C-NADU-like controller and TFRC on the paths of FBRA's paper (specs/fbra.md 7) and on wider ones:
//! 30 frames a second, with reports per packet, every 62 and every 31 ms. The page of each controller says which
//! figures it reaches.

use thalweg_units::{Bytes, Rate, Span, Time};

use super::within;
use crate::support::subjects;
use crate::support::*;

/// FRCC: the percentage of probes that are not immediately followed by a decrease (specs/metrics.md 8).
fn right_probes(record: &Record) -> f64 {
    let probes = record.decisions.windows(2).filter(|pair| pair[0].what == "probe" && pair[1].what != "probe");
    let (all, wrong) =
        probes.fold((0, 0), |(all, wrong), pair| (all + 1, wrong + u32::from(pair[1].what == "undershoot")));
    100.0 * (1.0 - f64::from(wrong) / f64::from(all.max(1)))
}

type Bounds = (f64, f64);

/// A controller and its bounds: receive rate over the capacity, per cent of packets lost or late, mean queueing time in
/// ms.
type Row<'a> = (&'a str, Bounds, Bounds, Bounds);

/// Runs a controller, and checks the seconds `from` to `to`.
fn check(title: &str, row: &Row<'_>, scenario: &Scenario, (from, to): (f64, f64)) -> Record {
    let (name, used, useless, mean) = *row;
    let record = scenario.run((subjects::named(name).build)());
    let passable = scenario.capacity.between(Time::from_secs_f64(from), Time::from_secs_f64(to));
    let passable = passable.per(Span::from_secs_f64(to - from)).as_bps_f64();
    let what = |what: &str| format!("{title}, {name}, {what}");
    within(record.arrived(from, to).as_bps_f64() / passable, used.0, used.1, &what("used"));
    within(100.0 * record.useless(from, to), useless.0, useless.1, &what("per cent lost or late"));
    within(record.mean_queueing(from, to).as_millis_f64(), mean.0, mean.1, &what("mean queueing in ms"));
    record
}

/// The paper's first scenario: 100 to 256 kbps in steps of 30 s, a queue of fifty packets, each a frame at 150 kbps.
fn varying(delay_ms: i64) -> Scenario {
    let rates = [100, 160, 256, 200, 128];
    let steps: Vec<(u64, Rate)> =
        (0..10).map(|step| (30 * step as u64, Rate::from_kbps(rates[step % rates.len()]))).collect();
    Scenario {
        capacity: Schedule::steps(&steps),
        queue: Bytes::new(625 * 50),
        style: Style::Twcc,
        source: Source::Encoder { share: 1.0, max: Rate::from_kbps(1000) },
        ..Scenario::new(Rate::ZERO, 2 * delay_ms, 300)
    }
}

/// A constant path with 300 ms of queue, or fifty packets if that is more; the application could use four times as
/// much.
fn constant(kbps: u64, rtt_ms: i64, style: Style) -> Scenario {
    let rate = Rate::from_kbps(kbps);
    let queue = rate.over(Span::from_millis(300)).max(Bytes::new(625 * 50));
    Scenario { queue, style, ..Scenario::new(rate, rtt_ms, 90).encoded(1.0, rate.scale(4.0)) }
}

/// The varying path, by delay. Loss in the paper, which does not say whether it includes late packets: FBRA 1.23, 1.72,
/// 2.82 %, RRTCC 4.27, 3.09, 2.98 %, C-NADU 0.34, 0.17, 0.19 %.
const VARYING: &[(i64, Row<'_>)] = &[
    (50, ("fbra", (0.85, 0.95), (0.6, 2.1), (74.7, 114.6))),
    (100, ("fbra", (0.74, 0.83), (0.8, 2.5), (48.9, 75.8))),
    (240, ("fbra", (0.71, 0.79), (3.7, 9.3), (36.8, 57.6))),
    (50, ("rrtcc", (0.86, 0.95), (3.4, 8.6), (64.0, 99.0))),
    (100, ("rrtcc", (0.85, 0.94), (4.4, 11.0), (64.0, 99.0))),
    (240, ("rrtcc", (0.83, 0.92), (11.0, 26.3), (87.0, 133.0))),
    (50, ("cnadu", (0.85, 0.95), (0.1, 0.9), (53.2, 82.2))),
    (100, ("cnadu", (0.83, 0.93), (0.5, 1.9), (46.2, 71.9))),
    (240, ("cnadu", (0.69, 0.78), (2.3, 5.9), (34.8, 54.7))),
    (50, ("tfrc", (0.83, 0.92), (39.5, 92.9), (587.0, 883.0))),
    (100, ("tfrc", (0.83, 0.92), (39.0, 91.8), (549.0, 825.0))),
    (240, ("tfrc", (0.82, 0.9), (39.0, 91.6), (438.0, 660.0))),
];

#[test]
fn on_the_papers_varying_path_each_has_its_place() {
    for (delay_ms, row) in VARYING {
        check(&format!("varying, {delay_ms} ms"), row, &varying(*delay_ms), (30.0, 300.0));
    }
}

#[test]
fn probes_are_right_and_their_fec_is_some_per_cent_of_the_media() {
    for ((delay_ms, row), share) in VARYING.iter().filter(|(_, row)| row.0 == "fbra").zip([6.4, 4.5, 4.3]) {
        let record = check(&format!("probes, {delay_ms} ms"), row, &varying(*delay_ms), (30.0, 300.0));
        within(right_probes(&record), 90.0, 100.0, &format!("{delay_ms} ms, FRCC in per cent"));
        let (fec, all) =
            record.bins.iter().fold((0.0, 0.0), |(fec, all), bin| (fec + bin.fec.as_f64(), all + bin.sent.as_f64()));
        let fec = 100.0 * fec / (all - fec);
        within(fec, share - 0.5, share + 0.5, &format!("{delay_ms} ms, FEC over media in per cent"));
    }
}

/// Constant paths by kbps and ms of round trip, after a minute.
const CONSTANT: &[(u64, i64, Row<'_>)] = &[
    (200, 20, ("fbra", (0.92, 1.01), (0.0, 0.2), (64.4, 99.1))),
    (200, 100, ("fbra", (0.7, 0.78), (1.1, 3.2), (63.3, 97.5))),
    (200, 480, ("fbra", (0.86, 0.96), (3.1, 7.8), (46.1, 71.7))),
    (1000, 20, ("fbra", (0.87, 0.98), (0.0, 0.2), (24.9, 39.9))),
    (1000, 100, ("fbra", (0.92, 1.01), (0.0, 0.2), (55.6, 85.9))),
    (1000, 480, ("fbra", (0.84, 0.94), (5.5, 13.5), (38.6, 60.4))),
    (3000, 20, ("fbra", (0.88, 0.98), (0.0, 0.2), (10.5, 18.3))),
    (3000, 100, ("fbra", (0.9, 1.01), (0.0, 0.2), (37.2, 58.2))),
    (3000, 480, ("fbra", (0.78, 0.87), (3.5, 8.9), (23.8, 38.2))),
    (200, 20, ("rrtcc", (0.92, 1.01), (0.0, 0.2), (25.0, 40.0))),
    (200, 100, ("rrtcc", (0.92, 1.01), (0.0, 0.2), (25.0, 41.0))),
    (200, 480, ("rrtcc", (0.93, 1.01), (0.0, 0.2), (26.0, 41.0))),
    (1000, 20, ("rrtcc", (0.92, 1.01), (0.0, 0.2), (12.5, 21.2))),
    (1000, 100, ("rrtcc", (0.92, 1.01), (0.0, 0.2), (12.4, 21.1))),
    (1000, 480, ("rrtcc", (0.9, 1.0), (0.0, 0.2), (12.4, 21.1))),
    (3000, 20, ("rrtcc", (0.89, 0.99), (0.0, 0.2), (8.6, 15.5))),
    (3000, 100, ("rrtcc", (0.88, 0.98), (0.0, 0.2), (8.4, 15.1))),
    (3000, 480, ("rrtcc", (0.52, 0.58), (0.0, 0.2), (3.8, 8.2))),
    (200, 20, ("cnadu", (0.91, 1.01), (0.0, 0.2), (47.9, 74.3))),
    (200, 100, ("cnadu", (0.91, 1.01), (0.0, 0.2), (53.9, 83.4))),
    (200, 480, ("cnadu", (0.79, 0.88), (0.0, 0.2), (27.9, 44.3))),
    (1000, 20, ("cnadu", (0.91, 1.01), (0.0, 0.2), (30.6, 48.3))),
    (1000, 100, ("cnadu", (0.9, 1.0), (0.0, 0.2), (30.4, 48.1))),
    (1000, 480, ("cnadu", (0.9, 1.01), (0.0, 0.4), (30.9, 48.8))),
    (3000, 20, ("cnadu", (0.91, 1.01), (0.0, 0.2), (21.4, 34.6))),
    (3000, 100, ("cnadu", (0.91, 1.01), (0.0, 0.2), (23.8, 38.2))),
    (3000, 480, ("cnadu", (0.73, 0.82), (0.0, 0.2), (11.9, 20.4))),
    (200, 20, ("tfrc", (0.85, 0.94), (39.4, 92.5), (499.0, 752.0))),
    (200, 100, ("tfrc", (0.81, 0.89), (37.4, 88.0), (473.0, 712.0))),
    (200, 480, ("tfrc", (0.8, 0.88), (35.6, 83.8), (375.0, 565.0))),
    (1000, 20, ("tfrc", (0.91, 1.0), (1.2, 3.4), (121.0, 185.0))),
    (1000, 100, ("tfrc", (0.9, 0.99), (0.4, 1.5), (109.0, 166.0))),
    (1000, 480, ("tfrc", (0.9, 1.0), (0.4, 1.7), (31.0, 49.0))),
    (3000, 20, ("tfrc", (0.91, 1.01), (0.2, 1.2), (117.0, 179.0))),
    (3000, 100, ("tfrc", (0.92, 1.01), (0.0, 0.5), (110.0, 167.0))),
    (3000, 480, ("tfrc", (0.8, 0.89), (0.0, 0.2), (1.4, 4.6))),
];

#[test]
fn after_a_minute_on_a_constant_path_it_is_used_as_far_as_each_has_come() {
    for (kbps, rtt_ms, row) in CONSTANT {
        let scenario = constant(*kbps, *rtt_ms, Style::Twcc);
        check(&format!("constant, {kbps} kbps, {rtt_ms} ms"), row, &scenario, (60.0, 90.0));
    }
}

/// 1 Mbps and 100 ms with every kind of report, after a minute.
const REPORTS: &[(&str, Row<'_>)] = &[
    ("plain", ("fbra", (0.91, 1.01), (0.0, 0.2), (47.0, 85.9))),
    ("fast clock", ("fbra", (0.91, 1.01), (0.0, 0.2), (47.0, 107.1))),
    ("slow clock", ("fbra", (0.84, 1.01), (0.0, 0.3), (46.8, 108.1))),
    ("duplicates", ("fbra", (0.91, 1.01), (0.0, 0.2), (47.0, 85.9))),
    ("reordering", ("fbra", (0.89, 1.01), (0.0, 0.2), (48.3, 99.2))),
    ("2 % lost", ("fbra", (0.05, 0.19), (0.7, 3.4), (0.6, 7.7))),
    ("silence", ("fbra", (0.86, 1.01), (0.0, 0.2), (40.5, 81.2))),
    ("six tenths", ("fbra", (0.08, 0.09), (0.0, 0.2), (1.0, 4.1))),
    ("plain", ("rrtcc", (0.92, 1.01), (0.0, 0.2), (12.4, 21.6))),
    ("fast clock", ("rrtcc", (0.93, 1.01), (0.0, 0.2), (12.4, 21.8))),
    ("slow clock", ("rrtcc", (0.92, 1.01), (0.0, 0.2), (12.4, 21.5))),
    ("duplicates", ("rrtcc", (0.92, 1.01), (0.0, 0.2), (12.4, 21.6))),
    ("reordering", ("rrtcc", (0.9, 1.01), (0.0, 0.2), (12.6, 22.5))),
    ("2 % lost", ("rrtcc", (0.89, 0.99), (0.9, 3.4), (12.3, 21.2))),
    ("silence", ("rrtcc", (0.91, 1.01), (0.0, 0.2), (12.4, 21.5))),
    ("six tenths", ("rrtcc", (0.07, 0.11), (0.0, 0.2), (1.4, 4.6))),
    ("plain", ("cnadu", (0.9, 1.01), (0.0, 0.2), (30.4, 52.5))),
    ("fast clock", ("cnadu", (0.9, 1.01), (0.0, 0.2), (30.0, 53.9))),
    ("slow clock", ("cnadu", (0.9, 1.01), (0.0, 0.2), (30.0, 52.4))),
    ("duplicates", ("cnadu", (0.9, 1.01), (0.0, 0.2), (30.4, 52.5))),
    ("reordering", ("cnadu", (0.89, 1.01), (0.0, 0.2), (30.4, 52.0))),
    ("2 % lost", ("cnadu", (0.85, 0.96), (0.9, 3.2), (15.5, 28.7))),
    ("silence", ("cnadu", (0.89, 1.0), (0.0, 0.2), (23.4, 39.8))),
    ("six tenths", ("cnadu", (0.65, 0.79), (0.0, 0.2), (12.3, 23.1))),
    ("plain", ("tfrc", (0.9, 1.01), (0.3, 2.1), (109.0, 181.0))),
    ("fast clock", ("tfrc", (0.9, 1.01), (0.3, 1.4), (112.0, 181.0))),
    ("slow clock", ("tfrc", (0.9, 1.01), (0.3, 2.0), (111.0, 181.0))),
    ("duplicates", ("tfrc", (0.9, 1.01), (0.3, 2.1), (109.0, 181.0))),
    ("reordering", ("tfrc", (0.9, 1.01), (0.3, 1.5), (109.0, 188.0))),
    ("2 % lost", ("tfrc", (0.47, 0.74), (0.7, 3.3), (4.8, 10.5))),
    ("silence", ("tfrc", (0.9, 1.01), (0.1, 1.8), (107.0, 184.0))),
    ("six tenths", ("tfrc", (0.93, 1.01), (0.0, 0.4), (116.0, 235.0))),
];

fn with(what: &str, base: Scenario) -> Scenario {
    match what {
        "plain" => base,
        "fast clock" => Scenario { clock: Clock::ODD, ..base },
        "slow clock" => Scenario { clock: Clock::SLOW, ..base },
        "duplicates" => Scenario { duplicates: 0.2, ..base },
        "reordering" => Scenario { reordering: 0.1, ..base },
        "2 % lost" => Scenario { loss: 0.02, ..base },
        "silence" => Scenario { silence: Some((40, 45)), ..base },
        "six tenths" => base.encoded(0.6, Rate::from_kbps(4000)),
        _ => unreachable!("{what} is no case"),
    }
}

#[test]
fn clocks_duplicates_reordering_losses_and_a_silence_leave_each_where_it_is_known_to_be() {
    for (what, row) in REPORTS {
        for style in Style::ALL {
            let scenario = with(what, constant(1000, 100, style));
            check(&format!("reports, {what}, {style:?}"), row, &scenario, (60.0, 90.0));
        }
    }
}
