//! Named links and the routes of flows over them, media both ways, pauses and audio.

use thalweg_control::Payload;
use thalweg_lab::Scenario;
use thalweg_lab::record::{Record, What};
use thalweg_lab::scenario::{Audio, Competitor, Medium, NamedLink, NamedMedium, Pause, Paused, Route, Sender};
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, HopConfig, Jitter, PathConfig, QueueConfig, WifiConfig};
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Bytes, Rate, Span};

fn rate(rate: &str) -> HopConfig {
    HopConfig::Rate { rate: rate.parse().unwrap(), queue: QueueConfig::Infinite }
}

fn delay(millis: i64) -> HopConfig {
    HopConfig::Delay { delay: Span::from_millis(millis).into(), jitter: Jitter::None, reorders: false }
}

fn link(name: &str, hops: &[HopConfig]) -> NamedLink {
    NamedLink { name: name.into(), hops: hops.to_vec() }
}

fn path(hops: &[HopConfig]) -> PathConfig {
    PathConfig { hops: hops.to_vec() }
}

/// Over links of rates, without randomness on the way.
fn scenario(forward: &[HopConfig], reverse: &[HopConfig], seconds: i64) -> Scenario {
    Scenario {
        duration: Span::from_secs(seconds),
        forward: path(forward),
        reverse: path(reverse),
        ..Scenario::over("1Mbps")
    }
}

fn route(flow: u16, forward: &[&str], reverse: &[&str]) -> Route {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    Route { flow, forward: names(forward), reverse: names(reverse) }
}

fn run(scenario: &Scenario) -> Run {
    let gcc: Scheme = "gcc".parse().unwrap();
    scenario.play(&gcc).unwrap()
}

fn problem(scenario: &Scenario) -> String {
    let gcc: Scheme = "gcc".parse().unwrap();
    scenario.play(&gcc).err().expect("it is refused").to_string()
}

/// When packets of a flow left, with their sizes.
fn sent(run: &Run, flow: u16) -> Vec<(f64, Bytes)> {
    let size = |record: &Record| match record.what {
        What::Sender(Event::PacketSent { size, .. }) => Some(size),
        _ => None,
    };
    let of_flow = run.recorder.records().filter(|record| record.flow == flow);
    of_flow.filter_map(|record| Some((record.at.as_secs_f64(), size(record)?))).collect()
}

#[test]
fn a_path_cut_into_links_is_the_same_path() {
    let whole = scenario(&[delay(5), rate("1Mbps"), delay(20)], &[delay(20), delay(5)], 10);
    let mut cut = scenario(&[delay(5)], &[delay(20)], 10);
    cut.links = vec![link("middle", &[rate("1Mbps"), delay(20)]), link("back", &[delay(5)])];
    cut.routes = vec![route(0, &["forward", "middle"], &["reverse", "back"])];
    let [whole, cut] = [whole, cut].map(|scenario| run(&scenario));
    assert_eq!(whole.recorder.fingerprint(), cut.recorder.fingerprint());
    // The bottleneck is found on the second link.
    assert_eq!(whole.outcome.summary.utilization, cut.outcome.summary.utilization);
}

#[test]
fn media_that_goes_the_other_way_shares_its_queue_with_reports() {
    let queue = QueueConfig::DropTail(Limits::packets(10));
    let narrow = HopConfig::Rate { rate: "500kbps".parse().unwrap(), queue };
    let alone = scenario(&[rate("5Mbps"), delay(20)], &[narrow, delay(20)], 20);
    let datagrams = DatagramsConfig { rate: Rate::from_kbps(600), ..DatagramsConfig::default() };
    let both = Scenario {
        competitors: vec![Competitor::Datagrams(datagrams)],
        routes: vec![route(1, &["reverse"], &["forward"])],
        ..alone.clone()
    };
    let [alone, both] = [alone, both].map(|scenario| run(&scenario));
    // Of 600 kbit/s a sixth is dropped, and of reports, which come at other times, about as many.
    assert!(alone.reports_dropped.is_empty(), "{:?}", alone.reports_dropped);
    assert!((5..150).contains(&both.reports_dropped[0].len()), "{:?}", both.reports_dropped);
    let dropped = both.recorder.records().filter(|record| matches!(record.what, What::DatagramDropped { .. }));
    assert!((100..=500).contains(&dropped.count()));
}

#[test]
fn a_camera_that_pauses_sends_neither_video_nor_audio_and_goes_on_where_it_stopped() {
    let mut paused = scenario(&[rate("2Mbps"), delay(20)], &[delay(20)], 12);
    paused.audio = Some(Audio::default());
    paused.pauses = vec![Pause { flow: 0, from: Span::from_secs(4), until: Span::from_secs(8), what: Paused::Both }];
    let run = run(&paused);
    let within = |from: f64, until: f64| {
        let sent = sent(&run, 0).into_iter().filter(|(at, _)| (from..until).contains(at));
        sent.map(|(_, size)| size).sum::<Bytes>()
    };
    // What waited in the pacer may leave within a second.
    assert_eq!(within(5.0, 8.0), Bytes::ZERO);
    let rates = [within(2.0, 4.0), within(10.0, 12.0)].map(|bytes| bytes.bits() as f64 / 2e6);
    assert!(rates.iter().all(|mbps| (0.5..2.0).contains(mbps)), "{rates:?} Mbps");
    let captured: Vec<f64> = run.outcome.frames.iter().map(|frame| frame.captured_s).collect();
    assert!(captured.iter().all(|at| !(4.0..8.0).contains(at)));
    assert_eq!(captured.len(), 8 * 30);
}

/// 11 s with audio, of which this is off for a part.
fn muted(what: Paused, (from, until): (i64, i64)) -> Run {
    let mut muted = scenario(&[rate("2Mbps"), delay(20)], &[delay(20)], 11);
    muted.audio = Some(Audio::default());
    muted.pauses = vec![Pause { flow: 0, from: Span::from_secs(from), until: Span::from_secs(until), what }];
    run(&muted)
}

/// Packets of this payload that arrived within these seconds.
fn arrived(run: &Run, payload: Payload, (from, until): (f64, f64)) -> usize {
    let is = |record: &&Record| {
        (from..until).contains(&record.at.as_secs_f64())
            && matches!(record.what, What::Arrived { payload: arrived, .. } if arrived == payload)
    };
    run.recorder.records().filter(is).count()
}

#[test]
fn a_muted_camera_leaves_the_microphone_on_and_a_muted_microphone_the_camera() {
    let within = (5.0, 8.0);
    for (what, audio, video) in
        [(Paused::Camera, 149..=151, 0..=0), (Paused::Microphone, 0..=0, 90..=900), (Paused::Both, 0..=0, 0..=0)]
    {
        let run = muted(what, (4, 8));
        let found = [Payload::Audio, Payload::Media].map(|payload| arrived(&run, payload, within));
        assert!(audio.contains(&found[0]) && video.contains(&found[1]), "{what:?}: {found:?}");
        let off = if what == Paused::Microphone { vec![] } else { vec![(4.0, 8.0)] };
        assert_eq!(run.outcome.series.camera_off, off);
        assert!(run.outcome.summary.stall_ratio < 0.05, "{what:?}: {:?}", run.outcome.summary);
    }
}

#[test]
fn a_call_of_audio_alone_has_figures_of_its_packets_and_none_of_pictures() {
    let run = muted(Paused::Camera, (0, 11));
    let summary = &run.outcome.summary;
    // 50 packets a second of 50 bytes and their headers; what the controller probes with comes on top.
    assert!((545..=550).contains(&arrived(&run, Payload::Audio, (0.0, 11.0))));
    assert_eq!(arrived(&run, Payload::Media, (0.0, 11.0)), 0);
    assert!(run.outcome.frames.is_empty());
    assert_eq!((summary.shown_fps, summary.in_time_ratio, summary.latency_p95_ms), (None, None, None));
    assert_eq!((summary.stall_ratio, summary.frame_rate_fps, summary.video_bitrate_bps), (0.0, 0.0, 0.0));
    assert_eq!((summary.tail_missing, summary.psnr_db), (0, None));
    assert!(summary.wire_bitrate_bps > 50.0 * 78.0 * 8.0 && summary.packet_loss_ratio == 0.0, "{summary:?}");
    assert!(summary.one_way_delay_mean_ms.is_some_and(|ms| (20.0..60.0).contains(&ms)), "{summary:?}");
    let asked = run.recorder.records().filter(|record| matches!(record.what, What::KeyframeRequested));
    assert_eq!(asked.count(), 0, "a receiver asks for a keyframe of video that nobody sends");
}

#[test]
fn audio_is_fifty_packets_a_second_of_twenty_kilobits() {
    let mut with = scenario(&[rate("2Mbps"), delay(20)], &[delay(20)], 10);
    with.audio = Some(Audio::default());
    let run = run(&with);
    let audio =
        run.recorder.records().filter(|record| matches!(record.what, What::Arrived { payload: Payload::Audio, .. }));
    assert!((495..=500).contains(&audio.count()));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_there_is() {
    let plain = || scenario(&[rate("1Mbps")], &[delay(20)], 2);
    let mut unknown = plain();
    unknown.routes = vec![route(0, &["forward", "middle"], &["reverse"])];
    assert_eq!(problem(&unknown), "a route names the link 'middle'; there are forward, reverse");
    let mut double = plain();
    double.links = vec![link("forward", &[])];
    assert_eq!(problem(&double), "two links are called 'forward': rename one");
    let mut nowhere = plain();
    nowhere.routes = vec![route(0, &[], &["reverse"])];
    assert!(problem(&nowhere).contains("no link one way"));
    let mut twice = plain();
    twice.routes = vec![route(0, &["forward"], &["reverse"]); 2];
    assert!(problem(&twice).contains("flow 0 has two routes"));
    let mut nobody = plain();
    nobody.routes = vec![route(3, &["forward"], &["reverse"])];
    assert!(problem(&nobody).contains("flow 3 has a route, and there are flows 0 to 0"));
    let mut pause = plain();
    pause.pauses = vec![Pause { flow: 1, from: Span::ZERO, until: Span::from_secs(1), what: Paused::Both }];
    assert!(problem(&pause).contains("flow 1 pauses"));
    pause.pauses = vec![Pause { flow: 0, from: Span::from_secs(1), until: Span::from_secs(1), what: Paused::Both }];
    assert!(problem(&pause).contains("a pause ends after it begins"));
    let at = |what, from, until| Pause { flow: 0, from: Span::from_secs(from), until: Span::from_secs(until), what };
    pause.pauses = vec![at(Paused::Camera, 0, 1), at(Paused::Both, 1, 2)];
    assert!(problem(&pause).contains("flow 0 would pause from 1s until 2s"));
    let mut fast = plain();
    fast.clock_drift_ppm = 50_001;
    assert!(problem(&fast).contains("clock_drift_ppm is 50001, must be -50000 to 50000"));
    let copies = HopConfig::Duplicate { probability: 1.5, after: Span::ZERO };
    assert!(problem(&scenario(&[copies], &[delay(20)], 2)).contains("duplicate.probability is 1.5, must be 0 to 1"));
    let mut late = plain();
    late.from = Span::from_secs(3);
    assert!(problem(&late).contains("sender under test would begin at 3s"));
    let mut silent = plain();
    silent.audio = Some(Audio { interval: Span::ZERO, ..Audio::default() });
    assert!(problem(&silent).contains("audio.interval is 0"));
}

#[test]
fn two_stations_share_the_air_there_and_back_and_ports_are_named_in_full() {
    let mut air = scenario(&[delay(5)], &[delay(5)], 10);
    air.media = vec![NamedMedium { name: "air".into(), medium: Medium::Wifi(WifiConfig::of(2)) }];
    let other = Sender { scheme: "bbr".into(), video: None, from: Span::ZERO, until: None };
    air.competitors = vec![Competitor::Sender(other)];
    air.routes = vec![
        route(0, &["forward", "air down 0"], &["air up 0", "reverse"]),
        route(1, &["air up 1", "reverse"], &["forward", "air down 1"]),
    ];
    let played = run(&air);
    let delivered = [&played.outcome, &played.competitors[0]].map(|outcome| outcome.summary.wire_bitrate_bps / 1e6);
    assert!(delivered.iter().all(|mbps| (0.3..20.0).contains(mbps)), "{delivered:?} Mbps");
    // A medium's capacity depends on who sends, so nothing is utilised.
    assert_eq!(played.outcome.summary.utilization, None);
    assert_eq!(played.recorder.fingerprint(), run(&air).recorder.fingerprint());
    air.routes[1].forward[0] = "air up 2".into();
    assert!(problem(&air).contains("stations 0 to 1"), "{}", problem(&air));
    air.routes[1].forward[0] = "air".into();
    assert!(problem(&air).contains("write 'air up 0'"), "{}", problem(&air));
    air.routes[1].forward = vec!["reverse up 1".into()];
    assert!(problem(&air).contains("'reverse' is a path"), "{}", problem(&air));
}
