//! Paths off the beaten track, on which `thalweg` with all of its parts finds the rate again, and loses little
//! (docs/thalweg.md). Each is played without these parts too, so that a test shows what they are for.

use thalweg_control::thalweg;
use thalweg_lab::metrics::Summary;
use thalweg_lab::scenario::{Audio, Pause, Paused, Video};
use thalweg_lab::{Outcome, Scenario, Undershoot};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, Jitter, PathConfig, QueueConfig};
use thalweg_sender::FeedbackStyle;
use thalweg_sender::scheme::{ControllerConfig, FramesConfig};
use thalweg_units::{Bytes, FrameRate, Rate, Seed, Size, Span};

use crate::scenarios::support::named;

fn rate(rates: &str) -> HopConfig {
    HopConfig::Rate { rate: rates.parse().unwrap(), queue: QueueConfig::Infinite }
}

fn behind(bytes: u64) -> HopConfig {
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(bytes)));
    HopConfig::Rate { rate: "2Mbps".parse().unwrap(), queue }
}

fn delay(delays: &str, jitter: Jitter) -> HopConfig {
    HopConfig::Delay { delay: delays.parse().unwrap(), jitter, reorders: false }
}

fn scenario(hops: Vec<HopConfig>, seconds: i64) -> Scenario {
    let forward = PathConfig { hops };
    Scenario { duration: Span::from_secs(seconds), forward, ..Scenario::over("unused") }
}

/// Over a path of these rates, 25 ms each way.
fn over(rates: &str, seconds: i64) -> Scenario {
    scenario(vec![rate(rates), delay("25ms", Jitter::None)], seconds)
}

/// Plays a scheme, of which parts of its controller are taken out unless it is to find its way everywhere.
fn played(scenario: &Scenario, scheme: &str, everywhere: bool) -> Outcome {
    let mut scheme = named(scheme);
    if let ControllerConfig::Thalweg(config) = &mut scheme.controller
        && !everywhere
    {
        *config = thalweg::Config { trains: None, steps: None, jitter: None, policer: None, rebases: false, ..*config };
    }
    scenario.play(&scheme).unwrap().outcome
}

/// Mean rate of the video with its headers in Mbps, from this second on.
fn from(scenario: &Scenario, scheme: &str, everywhere: bool, second: f64) -> f64 {
    let series = played(scenario, scheme, everywhere).series;
    let bins = &series.video_mbps[(second / series.bin_s) as usize..];
    bins.iter().sum::<f64>() / bins.len() as f64
}

fn summary(scenario: &Scenario, scheme: &str, everywhere: bool) -> Summary {
    played(scenario, scheme, everywhere).summary
}

#[test]
fn ten_seconds_after_a_dip_the_link_is_used_again_with_every_kind_of_report() {
    let dip_60 = Scenario { video: Video::scene(Size::HD, 60), ..over("5Mbps@10s/400kbps@10s/5Mbps", 45) };
    let step = scenario(vec![rate("2Mbps"), delay("20ms@10s/100ms", Jitter::None)], 35);
    let far = scenario(vec![rate("2Mbps"), delay("20ms@10s/400ms", Jitter::None)], 35);
    for (name, link, scenario, from_second) in [
        ("low, then high", 5.0, over("200kbps@20s/5Mbps", 45), 30.0),
        ("lower, then high", 5.0, over("100kbps@20s/5Mbps", 45), 30.0),
        ("a short dip", 2.0, over("2Mbps@10s/100kbps@3s/2Mbps", 38), 23.0),
        ("a longer dip", 2.0, over("2Mbps@10s/200kbps@10s/2Mbps", 45), 30.0),
        ("a dip at sixty pictures a second", 5.0, dip_60, 30.0),
        ("a longer way", 2.0, step, 20.0),
        ("a far longer way", 2.0, far, 20.0),
    ] {
        // A conventional encoder is aimed at 0.8 of the rate.
        for (scheme, least, feedback) in [
            ("thalweg", 0.8, None),
            ("thalweg", 0.8, Some(FeedbackStyle::Twcc)),
            ("thalweg", 0.8, Some(FeedbackStyle::Ccfb)),
            ("thalweg:conventional", 0.75, None),
        ] {
            let scenario = Scenario { feedback, ..scenario.clone() };
            let used = from(&scenario, scheme, true, from_second) / link;
            println!("{name}, {scheme}, {feedback:?}: {used:.2}");
            assert!((least..1.02).contains(&used), "{name}, {scheme}, {feedback:?}: {used}");
        }
    }
    let without = from(&over("100kbps@20s/5Mbps", 45), "thalweg", false, 30.0);
    assert!(without < 1.0, "{without} Mbps without trains");
}

#[test]
fn over_a_policer_or_a_queue_of_few_packets_little_is_lost_and_the_picture_is_no_worse_than_that_of_gcc() {
    let policer = |bucket| {
        let policer = HopConfig::Policer { rate: Rate::from_kbps(2000), bucket: Bytes::new(bucket) };
        scenario(vec![policer, delay("25ms", Jitter::None)], 20)
    };
    let tiny = |bytes| scenario(vec![behind(bytes), delay("25ms", Jitter::None)], 20);
    for (name, scenario) in [1500, 6000, 15_000, 30_000, 100_000]
        .map(|bucket| (format!("a bucket of {bucket}"), policer(bucket)))
        .into_iter()
        .chain([1500, 3000, 4500].map(|bytes| (format!("a queue of {bytes}"), tiny(bytes))))
    {
        let (ours, gcc) = (summary(&scenario, "thalweg", true), summary(&scenario, "gcc", false));
        let (ssim, other) = (ours.screen_ssim_db.unwrap(), gcc.screen_ssim_db.unwrap());
        let lost = ours.packet_loss_ratio;
        println!("{name}: {ssim:.1} dB ({other:.1}), {:.1} % lost, {:.0} fps", lost * 100.0, ours.frame_rate_fps);
        assert!(ssim >= other && ssim < 25.0, "{name}: {ssim} dB, gcc {other}");
        assert!((0.0..=0.1).contains(&lost), "{name}: {lost}");
        assert!((25.0..=30.5).contains(&ours.frame_rate_fps), "{name}: {} fps", ours.frame_rate_fps);
    }
    // Of a slow one nearly all is lost where its losses are taken for random.
    for (kbps, bucket, used) in [(200, 6000, 0.11..0.2), (300, 6000, 0.2..0.3), (500, 3000, 0.33..0.5)] {
        let hops = vec![
            HopConfig::Policer { rate: Rate::from_kbps(kbps), bucket: Bytes::new(bucket) },
            delay("60ms", Jitter::None),
        ];
        let (ours, gcc) =
            (summary(&scenario(hops.clone(), 40), "thalweg", true), summary(&scenario(hops, 40), "gcc", true));
        let (lost, mbps) = (ours.packet_loss_ratio, ours.video_bitrate_bps / 1e6);
        println!("{kbps} kbps: {mbps:.2} Mbps, {:.1} % lost", lost * 100.0);
        assert!(lost < gcc.packet_loss_ratio + 0.05 && used.contains(&mbps), "{kbps} kbps: {lost}, {mbps} Mbps");
        assert!(ours.screen_ssim_db > gcc.screen_ssim_db, "{kbps} kbps");
    }
    let without = summary(&policer(15_000), "thalweg", false);
    assert!(without.packet_loss_ratio > 0.5, "{} lost without recognition", without.packet_loss_ratio);
}

/// Means over three seeds: Mbps of video, and on-screen SSIM in dB.
fn means(scenario: &Scenario, scheme: &str) -> (f64, f64) {
    let of = |seed| summary(&Scenario { seed: Seed::new(seed), ..scenario.clone() }, scheme, true);
    let summaries: Vec<Summary> = (1..=3).map(of).collect();
    let mean = |figure: fn(&Summary) -> f64| summaries.iter().map(figure).sum::<f64>() / summaries.len() as f64;
    (mean(|summary| summary.video_bitrate_bps / 1e6), mean(|summary| summary.screen_ssim_db.unwrap()))
}

#[test]
fn jitter_and_regular_pauses_are_no_queue() {
    let jittery = |max| {
        let jitter = Jitter::Uniform { max: Span::from_millis(max) };
        scenario(vec![rate("10Mbps"), delay("25ms", jitter)], 20)
    };
    for (name, worse, scenario) in [
        // Too little to be told from a path that serves in turns.
        ("5 ms", 0.3, jittery(5)),
        ("20 ms", 0.0, jittery(20)),
        ("50 ms", 0.0, jittery(50)),
        ("100 ms", 0.0, jittery(100)),
        ("pauses", 0.0, over("12Mbps@850ms/0bps@150ms", 20)),
    ] {
        let ((bits, ssim), (others, other)) = (means(&scenario, "thalweg"), means(&scenario, "gcc"));
        println!("{name}: {ssim:.1} dB, {bits:.1} Mbps ({other:.1}, {others:.1})");
        assert!(ssim >= other - worse && ssim < 25.0, "{name}: {ssim} dB, gcc {other}");
    }
}

#[test]
fn a_managed_queue_or_a_short_one_on_a_slow_path_loses_little_and_no_other_flow_is_seen_in_it() {
    let codel = "{ codel = { limits = { packets = 1000 }, target = '5ms', interval = '100ms' } }";
    for (kbps, queue, longer) in
        [(419, codel, "17ms"), (412, codel, "7ms"), (476, "{ drop-tail = { bytes = '7087B' } }", "5ms@17s/17ms")]
    {
        let hops = format!(
            "hops = [{{ rate = {{ rate = '{kbps}kbps', queue = {queue} }} }}, {{ delay = {{ delay = '{longer}' }} }}]"
        );
        let forward: PathConfig = toml::from_str(&hops).unwrap();
        let scenario = Scenario { duration: Span::from_secs(50), forward, ..Scenario::over("unused") };
        let (ours, gcc) = (summary(&scenario, "thalweg", true), summary(&scenario, "gcc", true));
        let (ssim, other) = (ours.screen_ssim_db.unwrap(), gcc.screen_ssim_db.unwrap());
        let lost = ours.packet_loss_ratio;
        println!("{kbps} kbps: {ssim:.1} dB ({other:.1}), {:.1} % lost", lost * 100.0);
        assert!(ssim >= other - 0.5 && ssim < 15.0, "{kbps} kbps: {ssim} dB, gcc {other}");
        assert!((0.0..=0.05).contains(&lost), "{kbps} kbps: {lost}");
    }
}

/// Links that `thalweg hunt` found, made smaller (docs/hunt.md).
#[test]
fn on_links_that_the_hunt_found_the_picture_is_no_worse_than_that_of_gcc_and_the_link_is_used() {
    let queue = |bytes: u64, rates: &str| {
        format!("{{ rate = {{ rate = '{rates}', queue = {{ drop-tail = {{ bytes = '{bytes}B' }} }} }} }}")
    };
    let endless = |rates: &str| format!("{{ rate = {{ rate = '{rates}' }} }}");
    let delay = |delays: &str, jitter: u32, reorders: bool| {
        format!(
            "{{ delay = {{ delay = '{delays}', jitter = {{ uniform = {{ max = '{jitter}ms' }} }}, reorders = {reorders} }} }}"
        )
    };
    let small = Size::new(640, 360);
    for (name, (fps, size), undershoot, hops, reverse, used) in [
        (
            "packets that overtake one another, and a longer way",
            (30, Size::HD),
            1.0,
            vec![endless("1Mbps"), delay("25ms@8s/125ms", 50, true)],
            None,
            0.45..0.85,
        ),
        (
            "the same on a fast path",
            (60, small),
            1.0,
            vec![queue(11_100, "11Mbps@2s/5Mbps@1s/11Mbps"), delay("11ms", 5, true)],
            None,
            3.0..9.0,
        ),
        (
            "few pictures into a short queue",
            (15, small),
            1.0,
            vec![queue(17_400, "4Mbps"), delay("40ms", 0, false)],
            None,
            2.5..3.8,
        ),
        (
            "a keyframe larger than the queue",
            (15, Size::HD),
            1.0,
            vec![queue(3_570, "100kbps@6s/363kbps"), delay("50ms", 0, false)],
            None,
            0.1..0.34,
        ),
        (
            "an encoder that makes a fifth of what it is asked for",
            (30, Size::HD),
            0.2,
            vec![endless("300kbps"), delay("3ms", 0, false)],
            None,
            0.06..0.28,
        ),
        (
            "an encoder that makes a tenth of what it is asked for, into a short queue",
            (30, small),
            0.1,
            vec![queue(3_000, "8Mbps@1s/10Mbps"), delay("25ms", 0, false)],
            None,
            0.4..1.2,
        ),
        (
            "pauses of 400 ms behind which packets arrive at once, and few reports",
            (30, Size::HD),
            1.0,
            vec![endless("2Mbps"), endless("1Gbps@3s/0bps@400ms"), delay("70ms", 0, false)],
            Some("6kbps"),
            1.0..1.9,
        ),
        (
            "a fast path and few reports",
            (30, Size::HD),
            1.0,
            vec![endless("5740kbps"), delay("13ms", 0, false)],
            Some("12kbps"),
            4.5..5.6,
        ),
        (
            "a rate that rises and falls each 300 ms",
            (30, Size::HD),
            1.0,
            vec![endless("3Mbps@300ms/300kbps@300ms"), delay("40ms", 0, false)],
            None,
            0.3..0.9,
        ),
        (
            "a rate that rises and falls each 700 ms",
            (30, Size::HD),
            1.0,
            vec![endless("10Mbps@700ms/1Mbps@700ms"), delay("20ms", 0, false)],
            None,
            0.6..2.5,
        ),
        (
            "jitter, a longer way, and a rate that changes",
            (15, Size::HD),
            1.0,
            vec![endless("1.2Mbps@2s/600kbps@2s/1.2Mbps@2s/500kbps@2s/1.2Mbps"), delay("29ms@11s/109ms", 24, false)],
            None,
            0.3..0.9,
        ),
    ] {
        let forward: PathConfig = toml::from_str(&format!("hops = [{}]", hops.join(", "))).unwrap();
        let undershoot = if undershoot < 1.0 { Undershoot::always(undershoot) } else { Undershoot::None };
        let mut scenario = Scenario { duration: Span::from_secs(40), forward, undershoot, ..Scenario::over("unused") };
        if let Some(rate) = reverse {
            let queue = QueueConfig::DropTail(Limits::time(Span::from_millis(500)));
            scenario.reverse.hops.insert(0, HopConfig::Rate { rate: rate.parse().unwrap(), queue });
        }
        (scenario.video.frame_rate, scenario.video.size) = (FrameRate::whole(fps), Some(size));
        let (ours, gcc) = (summary(&scenario, "thalweg", true), summary(&scenario, "gcc", true));
        let (ssim, other, mbps) =
            (ours.screen_ssim_db.unwrap(), gcc.screen_ssim_db.unwrap(), ours.video_bitrate_bps / 1e6);
        println!("{name}: {mbps:.2} Mbps, {ssim:.1} dB ({other:.1}), {:.1} % lost", ours.packet_loss_ratio * 100.0);
        assert!(used.contains(&mbps), "{name}: {mbps} Mbps");
        assert!(ssim >= other - 0.5 && ssim < 25.0, "{name}: {ssim} dB, gcc {other}");
    }
}

#[test]
fn where_packets_overtake_one_another_a_lost_report_is_no_lost_packet() {
    let hops = vec![
        rate("5Mbps"),
        toml::from_str("delay = { delay = '20ms', jitter = { uniform = { max = '48ms' } }, reorders = true }").unwrap(),
    ];
    let mut scenario = scenario(hops, 40);
    scenario.reverse.hops.insert(0, toml::from_str("loss = { random = { probability = 0.1 } }").unwrap());
    let (mbps, ssim) = means(&scenario, "thalweg");
    let (_, other) = means(&scenario, "gcc");
    // 1.5 Mbps where the report that a packet has arrived after all is its only one.
    assert!((2.8..4.6).contains(&mbps) && ssim > other + 1.0, "{mbps} Mbps, {ssim} dB, gcc {other}");
}

#[test]
fn audio_that_begins_before_video_does_not_hold_it_back() {
    let mut scenario = scenario(vec![rate("10Mbps"), delay("25ms", Jitter::Uniform { max: Span::from_millis(20) })], 3);
    scenario.pauses = vec![Pause { flow: 0, from: Span::ZERO, until: Span::from_millis(500), what: Paused::Camera }];
    let (alone, _) = means(&scenario, "thalweg");
    scenario.audio = Some(Audio::default());
    let (beside, ssim) = means(&scenario, "thalweg");
    let (_, other) = means(&scenario, "gcc");
    // 0.56 of the video, where its packets measure the path and open the ladder.
    let share = beside / alone;
    assert!((0.8..1.0).contains(&share) && ssim > other + 2.0, "{share} of the video, {ssim} dB, gcc {other}");
}

#[test]
fn few_pictures_over_a_short_way_are_shown_before_the_next_is_taken_however_the_two_ways_share_the_round_trip() {
    for (there, back) in [("5ms", "5ms"), ("20ms", "2ms")] {
        let mut scenario = scenario(vec![rate("4Mbps"), delay(there, Jitter::None)], 40);
        scenario.reverse.hops = vec![delay(back, Jitter::None)];
        (scenario.video.frame_rate, scenario.video.size) = (FrameRate::whole(15), Some(Size::HD));
        let with = summary(&scenario, "thalweg", true);
        let gcc = summary(&scenario, "gcc", true);
        let mut without = named("thalweg");
        let FramesConfig::Budgeted(frames) = &mut without.frames else { panic!("{:?}", without.frames) };
        frames.before_next = None;
        let without = scenario.play(&without).unwrap().outcome.summary;
        let p95 = with.latency_p95_ms.unwrap();
        let gain = |other: &Summary| with.screen_ssim_db.unwrap() - other.screen_ssim_db.unwrap();
        let bits = with.video_bitrate_bps / without.video_bitrate_bps;
        let (over_gcc, over_none) = (gain(&gcc), gain(&without));
        println!("{there} and {back}: {over_gcc:.1} and {over_none:.1} dB, {bits:.2} of the bits, P95 {p95:.0} ms");
        // Where the way there is longer than it seems whole intervals would be as good; half of the round trip, 4 dB worse.
        let worth = if there == back { 1.0..7.0 } else { -1.5..7.0 };
        assert!((2.0..7.0).contains(&over_gcc) && worth.contains(&over_none), "{over_gcc} and {over_none} dB");
        assert!((0.5..0.95).contains(&bits), "{bits} of the bits");
        assert!((50.0..66.7).contains(&p95), "P95 {p95} ms");
    }
}
