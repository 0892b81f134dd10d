//! What BBR does over time, against the numbers of its paper and of bbr.md. With `--nocapture` a line a second is
//! printed.

mod support;

use support::*;
use thalweg_control::bbr::{self, Ageing, Padding};
use thalweg_units::{Bytes, Rate, Span};

fn within(value: f64, low: f64, high: f64, what: &str) {
    println!("{what}: {value:.3} (expected {low} to {high})");
    assert!(value >= low && value <= high, "{what} is {value:.3}, expected {low} to {high}");
}

fn run(config: bbr::Config, scenario: &Scenario) -> Record {
    scenario.run(Box::new(config.build().expect("in range")))
}

/// 50 ms and these rates, each from its second on; a bottomless queue and a backlog of packets of 1200 bytes.
fn backlog(steps: &[(u64, u64)], seconds: i64) -> Scenario {
    let steps: Vec<(u64, Rate)> = steps.iter().map(|(second, kbps)| (*second, Rate::from_kbps(*kbps))).collect();
    let plain = Scenario::new(Rate::ZERO, Span::from_millis(50), Span::from_secs(seconds));
    Scenario { capacity: Schedule::steps(&steps), ..plain }
}

#[test]
fn startup_doubles_in_a_round_trip() {
    // 2 / ln 2: pacing at 2.885 BtlBw doubles what is delivered in a round trip (draft-cardwell-00, 4.3.2.1).
    let scenario = Scenario::new(Rate::from_kbps(400_000), Span::from_millis(200), Span::from_secs(4));
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
    // 0.25 BDP at most, and the packet's own time.
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
    // At most 2 BDP of the old rate, of an RTprop found anew with 4.8 ms for a packet, and three bursts are in flight:
    // 91 kB, less the 12.5 kB that fit the path now, is 315 ms.
    within(record.worst_queueing(20.0, 24.0).as_millis_f64(), 200.0, 320.0, "worst queueing after the drop in ms");
    // Ten rounds of up to 366 ms.
    let believed = (200..400).find(|bin| record.bins[*bin].target < Rate::from_kbps(2200)).expect("it is") as f64;
    within(believed / 10.0 - 20.0, 1.0, 3.7, "seconds until the target is below 2.2 Mbps");
    // A phase of 0.75 takes back what one of 1.25 added and no more: what the drop left, up to a BDP and the bursts,
    // stands until RTprop is next looked for.
    within(record.worst_queueing(26.0, 32.0).as_millis_f64(), 40.0, 110.0, "worst queueing until PROBE_RTT in ms");
    within(record.worst_queueing(34.0, 40.0).as_millis_f64(), 5.0, 30.0, "worst queueing after it in ms");
    // ln 3 / ln 1.25 = 4.9 cycles of eight phases of 50 ms and more.
    let again = record.reaches(Rate::from_kbps(5400), 40.0, 0.5).expect("it finds it") - 40.0;
    within(again, 1.0, 4.0, "seconds until 5.4 Mbps arrive");
}

/// A path like that of the Camel paper's Figures 10 and 11: an encoder that makes this share of its target, 1, 2 and 1
/// Mbps by turns of 30 s.
fn encoder(share: f64, style: Style) -> Scenario {
    Scenario {
        source: Source::Encoder { share, max: Rate::from_kbps(2500) },
        queue: Bytes::new(100_000),
        style,
        ..backlog(&[(0, 1000), (30, 2000), (60, 1000)], 90)
    }
}

/// The estimate over the capacity before each change.
fn accuracy(config: bbr::Config, share: f64, style: Style) -> [f64; 3] {
    let target_share = config.target_share;
    let record = run(config, &encoder(share, style));
    record.print(&format!("bbr, an encoder of {share}, {style:?}"));
    [(29.0, 1000.0), (59.0, 2000.0), (89.0, 1000.0)]
        .map(|(at, kbps)| record.target(at).as_kbps_f64() / target_share / kbps)
}

#[test]
fn as_published_media_alone_never_find_the_capacity() {
    for style in [Style::PerPacket, Style::Twcc] {
        let [before, ..] = accuracy(bbr::Config::default(), 1.0, style);
        within(before, 0.15, 0.35, "estimate over capacity: what was sent at first is what is believed");
    }
}

#[test]
fn as_in_the_camel_paper_it_follows_a_full_encoder_and_falls_with_one_of_sixty_percent() {
    for style in [Style::PerPacket, Style::Twcc] {
        for (part, full) in
            ["1 Mbps", "2 Mbps", "1 Mbps again"].iter().zip(accuracy(bbr::Config::of_camel(), 1.0, style))
        {
            within(full, 0.97, 1.03, &format!("{style:?}, estimate over capacity with a full encoder, {part}"));
        }
        for (part, low) in
            ["1 Mbps", "2 Mbps", "1 Mbps again"].iter().zip(accuracy(bbr::Config::of_camel(), 0.6, style))
        {
            within(low, 0.01, 0.3, &format!("{style:?}, estimate over capacity with an encoder of 60 %, {part}"));
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
fn without_filler_a_rise_stays_unseen_and_ageing_decides_whether_the_estimate_falls() {
    let config = |ageing| bbr::Config { ageing, ..bbr::Config::of_camel() };
    let held = accuracy(config(Ageing::WithSamples), 0.6, Style::PerPacket);
    within(held[0], 0.97, 1.03, "1 Mbps, forgetting with samples");
    within(held[1], 0.48, 0.52, "2 Mbps, forgetting with samples");
    let probing = bbr::Config { padding: Padding::Probing, ..config(Ageing::WithSamples) };
    within(accuracy(probing, 0.6, Style::PerPacket)[1], 0.9, 1.03, "2 Mbps, and filler when it asks for more");
}
