//! Named links and the routes of flows over them, media both ways, pauses and audio.

use thalweg_lab::Scenario;
use thalweg_lab::record::{Record, What};
use thalweg_lab::scenario::{Audio, Competitor, Medium, NamedLink, NamedMedium, Pause, Route, Sender};
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
    paused.pauses = vec![Pause { flow: 0, from: Span::from_secs(4), until: Span::from_secs(8) }];
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

#[test]
fn audio_is_fifty_packets_a_second_of_twenty_kilobits() {
    let mut with = scenario(&[rate("2Mbps"), delay(20)], &[delay(20)], 10);
    with.audio = Some(Audio::default());
    let run = run(&with);
    let audio = run
        .recorder
        .records()
        .filter(|record| matches!(record.what, What::Arrived { payload: thalweg_control::Payload::Audio, .. }));
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
    pause.pauses = vec![Pause { flow: 1, from: Span::ZERO, until: Span::from_secs(1) }];
    assert!(problem(&pause).contains("flow 1 pauses"));
    pause.pauses = vec![Pause { flow: 0, from: Span::from_secs(1), until: Span::from_secs(1) }];
    assert!(problem(&pause).contains("a pause ends after it begins"));
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
