//! BBR compared with its paper and specs/bbr.md.

use thalweg_control::bbr::{self, Ageing, Padding};
use thalweg_units::{Bytes, Rate};

use super::within;
use crate::support::subjects::built;
use crate::support::*;

fn run(config: bbr::Config, scenario: &Scenario) -> Record {
    scenario.run(built(bbr::Bbr::new(config)))
}

/// 50 ms and these rates, each from its second on; an unlimited queue and a backlog of packets of 1200 bytes.
fn backlog(steps: &[(u64, u64)], seconds: i64) -> Scenario {
    let steps: Vec<(u64, Rate)> = steps.iter().map(|(second, kbps)| (*second, Rate::from_kbps(*kbps))).collect();
    Scenario { capacity: Schedule::steps(&steps), ..Scenario::new(Rate::ZERO, 50, seconds) }
}

#[test]
fn startup_doubles_in_a_round_trip() {
    // 2 / ln 2: pacing at 2.885 BtlBw doubles the delivered bytes in a round trip (draft-cardwell-00, 4.3.2.1).
    let scenario = Scenario::new(Rate::from_kbps(400_000), 200, 4);
    let record = run(bbr::Config::default(), &scenario);
    record.print("bbr, 400 Mbps, 200 ms");
    let growth = record.arrived(1.6, 1.8).as_bps_f64() / record.arrived(0.8, 1.0).as_bps_f64();
    within(4.0 / growth.log2(), 0.9, 1.15, "round trips to double");
    let reached = record.reaches(Rate::from_kbps(320_000), 0.0, 0.2).expect("it fills the path");
    within(reached / 0.2, 9.0, 16.0, "round trips until 80 % of 400 Mbps arrive, from ten packets");
}

#[test]
fn on_a_busy_path_the_queue_is_what_a_quarter_more_puts_there_and_the_pause_costs_two_percent() {
    let record = run(bbr::Config::default(), &backlog(&[(0, 6000)], 62));
    record.print("bbr, 6 Mbps, 50 ms");
    within(record.arrived(2.0, 10.0).as_mbps_f64() / 6.0, 0.99, 1.001, "utilisation before RTprop is looked for");
    within(record.arrived(2.0, 62.0).as_mbps_f64() / 6.0, 0.96, 0.99, "and with it");
    // 0.25 BDP at most, and the packet's own transmission time.
    within(record.worst_queueing(2.0, 62.0).as_millis_f64(), 5.0, 12.5 + 5.0, "worst queueing in ms");
    within(record.mean_queueing(2.0, 62.0).as_millis_f64(), 1.6, 8.0, "mean queueing in ms");
    let empty = |from: u32| {
        (0..100)
            .filter(|bin| {
                record.sent(f64::from(from) + f64::from(*bin) / 10.0, f64::from(from) + f64::from(*bin + 1) / 10.0)
                    < Rate::from_kbps(2000)
            })
            .count()
    };
    within(empty(5) as f64, 1.0, 3.0, "tenths of a second of the first ten with four packets in flight");
}

#[test]
fn a_lower_capacity_is_believed_after_ten_round_trips_and_a_higher_one_after_some_cycles() {
    let record = run(bbr::Config::default(), &backlog(&[(0, 6000), (20, 2000), (40, 6000)], 60));
    record.print("bbr, 6, 2 and 6 Mbps by turns of 20 s");
    // At most 2 BDP of the old rate are in flight, with an RTprop measured again that includes 4.8 ms for a packet, and
    // three bursts: 91 kB, minus the 12.5 kB that the path now holds, is 315 ms.
    within(record.worst_queueing(20.0, 24.0).as_millis_f64(), 200.0, 320.0, "worst queueing after the drop in ms");
    // Ten rounds of up to 366 ms.
    let believed = (200..400).find(|bin| record.bins[*bin].target < Rate::from_kbps(2200)).expect("it is") as f64;
    within(believed / 10.0 - 20.0, 1.0, 3.7, "seconds until the target is below 2.2 Mbps");
    // A phase of 0.75 drains what one of 1.25 added and no more: the queue left by the drop, up to a BDP and the
    // bursts, stays until RTprop is measured again.
    within(record.worst_queueing(26.0, 32.0).as_millis_f64(), 40.0, 110.0, "worst queueing until PROBE_RTT in ms");
    within(record.worst_queueing(34.0, 40.0).as_millis_f64(), 5.0, 30.0, "worst queueing after it in ms");
    // ln 3 / ln 1.25 = 4.9 cycles of eight phases of 50 ms and more.
    let again = record.reaches(Rate::from_kbps(5400), 40.0, 0.5).expect("it finds it") - 40.0;
    within(again, 1.0, 4.0, "seconds until 5.4 Mbps arrive");
}

/// A path as in the Camel paper's Figures 10 and 11: an encoder that produces this share of its target, and capacities
/// of 1, 2 and 1 Mbps for 30 s each.
fn encoder(share: f64, style: Style) -> Scenario {
    Scenario {
        source: Source::Encoder { share, max: Rate::from_kbps(2500) },
        queue: Bytes::new(100_000),
        style,
        ..backlog(&[(0, 1000), (30, 2000), (60, 1000)], 91)
    }
}

/// The estimate over the capacity: the mean from ten seconds after each change on.
fn accuracy(config: bbr::Config, share: f64, style: Style) -> [f64; 3] {
    let target_share = config.target_share;
    let record = run(config, &encoder(share, style));
    record.print(&format!("bbr, an encoder of {share}, {style:?}"));
    [(10.0, 1000.0), (40.0, 2000.0), (70.0, 1000.0)]
        .map(|(from, kbps)| record.mean_target(from, from + 20.0).as_kbps_f64() / target_share / kbps)
}

const PARTS: [&str; 3] = ["1 Mbps", "2 Mbps", "1 Mbps again"];

#[test]
fn as_published_media_alone_never_find_the_capacity() {
    for style in [Style::PerPacket, Style::Twcc] {
        let [before, ..] = accuracy(bbr::Config::default(), 1.0, style);
        within(before, 0.15, 0.35, "estimate over capacity: what was sent at first is what is believed");
    }
}

#[test]
fn as_in_the_camel_paper_it_follows_a_full_encoder_and_underestimates_with_one_of_sixty_percent() {
    // libwebrtc's: a probing phase is one round trip long, most of which reports at intervals of 62 ms capture.
    for (style, low, high) in [(Style::PerPacket, 0.97, 1.05), (Style::Twcc, 0.7, 0.95)] {
        let shares = [accuracy(bbr::Config::of_camel(), 1.0, style), accuracy(bbr::Config::of_camel(), 0.6, style)];
        for (index, part) in PARTS.iter().enumerate() {
            within(shares[0][index], 0.97, 1.1, &format!("{style:?}, estimate over capacity, a full encoder, {part}"));
            within(shares[1][index], low, high, &format!("{style:?}, estimate over capacity, 60 %, {part}"));
        }
    }
}

#[test]
fn for_media_it_knows_the_capacity_of_which_the_encoder_uses_sixty_percent() {
    for style in [Style::PerPacket, Style::Twcc] {
        for share in [1.0, 0.6] {
            let [first, second, third] = accuracy(bbr::Config::for_media(), share, style);
            within(first, 0.95, 1.03, &format!("{style:?} {share}, estimate over capacity, 1 Mbps"));
            within(second, 0.88, 1.03, &format!("{style:?} {share}, 2 Mbps"));
            within(third, 0.95, 1.03, &format!("{style:?} {share}, 1 Mbps again"));
        }
    }
}

#[test]
fn as_published_it_holds_what_it_knew_and_never_sees_a_rise() {
    // Linux and the draft: lower app-limited samples change nothing, so the 2 Mbps are not detected.
    for style in [Style::PerPacket, Style::Twcc] {
        let config = bbr::Config { padding: Padding::Startup, ..bbr::Config::default() };
        for (value, expected) in accuracy(config, 0.6, style).into_iter().zip([1.0, 0.5, 1.0]) {
            within(value, 0.95 * expected, 1.05 * expected, &format!("{style:?}, estimate over capacity"));
        }
    }
}

#[test]
fn it_falls_to_the_floor_only_where_limited_samples_count_and_nothing_probes() {
    let floors = [
        bbr::Config { padding: Padding::Startup, ..bbr::Config::of_camel() },
        bbr::Config { padding: Padding::Startup, ageing: Ageing::EveryRound, ..bbr::Config::default() },
    ];
    for config in floors {
        for (value, kbps) in accuracy(config, 0.6, Style::PerPacket).into_iter().skip(1).zip([2000.0, 1000.0]) {
            within(value * kbps, 20.0, 60.0, "kbps, of which 30 are the floor");
        }
    }
}
