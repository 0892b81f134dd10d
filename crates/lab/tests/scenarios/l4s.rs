//! L4S end to end in virtual time: senders that say ECT(1), queues that mark, reports that carry the marks
//! (specs/l4s.md 6, in shorter forms).

use thalweg_codecs::Codec;
use thalweg_lab::Scenario;
use thalweg_lab::record::What;
use thalweg_lab::scenario::{Change, Competitor, NamedLink, Route, Video, What as Changed};
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::{DualPi2Config, FqCodelConfig, Limits};
use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};
use thalweg_netsim::{EcnFault, HopConfig, PathConfig, QueueConfig, TcpConfig};
use thalweg_sender::scheme::RateLimits;
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Rate, Size, Span};

/// After this long a flow is judged.
const WARM_S: f64 = 8.0;

/// A model of an encoder that makes up to 20 Mbps, over this link with 10 ms each way.
fn scenario(rates: &str, queue: QueueConfig, seconds: i64) -> Scenario {
    let delay = || HopConfig::delay(Span::from_millis(10));
    let serial = HopConfig::Rate { rate: rates.parse().unwrap(), queue };
    Scenario {
        duration: Span::from_secs(seconds),
        video: Video::scene(Size::HD, 30),
        codec: Codec::Model(Default::default()),
        forward: PathConfig { hops: vec![serial, delay()] },
        reverse: PathConfig { hops: vec![delay()] },
        measure_quality: false,
        ..Scenario::over("10Mbps")
    }
}

fn named(name: &str) -> Scheme {
    let limits = RateLimits {
        min: Rate::from_kbps(100),
        start: Rate::from_kbps(300),
        max: Rate::from_kbps(20_000),
        wire: Rate::from_kbps(22_000),
    };
    name.parse::<Scheme>().unwrap().within(limits).unwrap()
}

fn play(scenario: &Scenario, scheme: &str) -> Flow {
    Flow { run: scenario.play(&named(scheme)).unwrap(), end: scenario.duration }
}

struct Flow {
    run: Run,
    end: Span,
}

impl Flow {
    /// Size, queueing time in ms and whether it was marked, of each packet of a flow that arrived after `from` seconds.
    fn arrivals(&self, flow: u16, from: f64) -> Vec<(u64, f64, bool)> {
        let of_flow = self.run.recorder.records().filter(|one| one.flow == flow && one.at.as_secs_f64() >= from);
        let arrivals = of_flow.filter_map(|one| match one.what {
            What::Arrived { size, queued, marked, .. } | What::SegmentArrived { size, queued, marked } => {
                Some((size.get(), queued.as_millis_f64(), marked.is_some()))
            }
            _ => None,
        });
        arrivals.collect()
    }

    fn mbps(&self, flow: u16, from: f64) -> f64 {
        let bytes: u64 = self.arrivals(flow, from).iter().map(|(size, ..)| size).sum();
        bytes as f64 * 8e-6 / (self.end.as_secs_f64() - from)
    }

    fn wait_ms(&self, flow: u16, from: f64, share: f64) -> f64 {
        let mut waits: Vec<f64> = self.arrivals(flow, from).iter().map(|(_, wait, _)| *wait).collect();
        waits.sort_by(f64::total_cmp);
        waits[((waits.len() - 1) as f64 * share) as usize]
    }

    fn marked(&self, flow: u16, from: f64) -> f64 {
        let arrivals = self.arrivals(flow, from);
        arrivals.iter().filter(|(.., marked)| *marked).count() as f64 / arrivals.len() as f64
    }
}

fn dual() -> QueueConfig {
    QueueConfig::DualPi2(DualPi2Config { least_packets: 2, ..DualPi2Config::default() })
}

/// specs/l4s.md 6, a1 to a3: frames of the model vary by a fifth.
#[test]
fn scream_keeps_a_dual_queue_short_and_three_quarters_of_the_link() {
    let marks = play(&scenario("10Mbps", dual(), 20), "scream+l4s");
    let (used, late) = (marks.mbps(0, WARM_S) / 10.0, marks.wait_ms(0, WARM_S, 0.99));
    assert!((0.75..=1.0).contains(&used) && late < 5.0, "{used} used, {late} ms");
    assert!((0.005..0.15).contains(&marks.marked(0, WARM_S)), "{}", marks.marked(0, WARM_S));
    let delay = play(&scenario("10Mbps", dual(), 20), "scream");
    assert!(delay.marked(0, 0.0) == 0.0 && delay.wait_ms(0, WARM_S, 0.99) > 3.0 * late);
}

/// A cap around controllers that know nothing of marks: P99 below 10 ms and more than 60 % of the link.
#[test]
fn any_controller_keeps_a_marking_queue_short_under_its_cap() {
    for scheme in ["gcc+l4s", "copa+l4s", "vidaptive+l4s", "bbr+l4s", "thalweg+l4s"] {
        let flow = play(&scenario("10Mbps", dual(), 20), scheme);
        let (used, late) = (flow.mbps(0, WARM_S) / 10.0, flow.wait_ms(0, WARM_S, 0.99));
        assert!((0.6..=1.0).contains(&used) && late < 10.0, "{scheme}: {used} used, {late} ms");
    }
}

fn beside(scheme: &str, congestion: Congestion) -> Flow {
    let connection = ConnectionConfig { congestion, ..ConnectionConfig::default() };
    let tcp = Competitor::Tcp(TcpConfig { connection, ..TcpConfig::default() });
    play(&Scenario { competitors: vec![tcp], ..scenario("10Mbps", dual(), 40) }, scheme)
}

/// specs/l4s.md 6 (c) and (d): beside Cubic in the classic queue and beside Prague in its own.
#[test]
fn a_capped_controller_shares_a_dual_queue_with_cubic_and_with_prague() {
    for congestion in [Congestion::Cubic, Congestion::Prague] {
        for scheme in ["vidaptive+l4s", "copa+l4s", "thalweg+l4s"] {
            let run = beside(scheme, congestion);
            let [ours, theirs] = [0, 1].map(|flow| run.mbps(flow, 20.0));
            let ratio = ours / theirs;
            assert!((0.5..=2.0).contains(&ratio), "{scheme}: {ours} and {theirs} Mbps beside {congestion:?}");
            let late = run.wait_ms(0, 20.0, 0.99);
            assert!(late < 7.0, "{scheme}: {late} ms beside {congestion:?}");
        }
    }
}

/// The draft's average of marks rises sixteen times as fast as it falls, and is several times the share of marks.
#[test]
fn scream_gives_way_to_both_because_it_takes_the_most_marks_for_the_mean() {
    for congestion in [Congestion::Cubic, Congestion::Prague] {
        let run = beside("scream+l4s", congestion);
        let [ours, theirs] = [0, 1].map(|flow| run.mbps(flow, 20.0));
        assert!((0.03..0.5).contains(&(ours / theirs)), "{ours} and {theirs} Mbps beside {congestion:?}");
        assert!(ours + theirs > 9.0 && run.wait_ms(0, 20.0, 0.99) < 7.0);
    }
}

/// specs/l4s.md 6 (g): what paths do to ECN costs no more than finding it out.
#[test]
fn a_path_that_clears_or_drops_the_field_costs_what_it_takes_to_notice() {
    let plain = play(&scenario("10Mbps", dual(), 20), "scream");
    for fault in [EcnFault::Bleach { from: Span::ZERO }, EcnFault::DropCapable { from: Span::ZERO }] {
        let mut faulty = scenario("10Mbps", dual(), 30);
        faulty.forward.hops.insert(0, HopConfig::Middlebox(fault));
        let flow = play(&faulty, "scream+l4s");
        let sends = flow.run.recorder.records().filter_map(|one| match one.what {
            What::Sender(Event::Variable { name: "sends_ect1", value }) => Some((one.at.as_secs_f64(), value > 0.0)),
            _ => None,
        });
        let sends: Vec<(f64, bool)> = sends.collect();
        assert!(
            sends.iter().filter(|(at, _)| *at > 4.0 && (*at < 10.0 || *at > 16.0)).all(|(_, sends)| !sends),
            "{fault:?}"
        );
        let (own, same) = (flow.mbps(0, 20.0), plain.mbps(0, WARM_S));
        assert!((own / same - 1.0).abs() < 0.05, "{own} and {same} Mbps: {fault:?}");
    }
}

/// specs/l4s.md 6 (e1). A frame leaves within 150 ms with `+l4s`, marks or not.
#[test]
fn queues_that_drop_and_do_not_mark_make_no_difference_beyond_that_of_the_pacer() {
    let codel = |limits| QueueConfig::Codel { limits, target: Span::from_millis(5), interval: Span::from_millis(100) };
    let run = |scheme| play(&scenario("10Mbps", codel(Limits::packets(1000)), 20), scheme);
    let [with, without] = ["scream+l4s", "scream"].map(run);
    let ratio = with.mbps(0, 0.0) / without.mbps(0, 0.0);
    assert!(with.marked(0, 0.0) == 0.0 && (0.99..=1.01).contains(&ratio), "{ratio}");
}

/// specs/l4s.md 6 (b): a fall to a third, and back.
#[test]
fn marks_shorten_the_queue_that_a_fall_of_the_link_leaves() {
    let fall = scenario("10Mbps@8s/3Mbps@4s/10Mbps", dual(), 16);
    let [with, without] = ["scream+l4s", "scream"].map(|scheme| play(&fall, scheme));
    let longest = |flow: &Flow| flow.wait_ms(0, WARM_S, 1.0);
    assert!((50.0..250.0).contains(&longest(&with)), "{} and {} ms", longest(&with), longest(&without));
    assert!(with.wait_ms(0, 0.0, 0.99) < without.wait_ms(0, 0.0, 0.99));
    assert!(with.mbps(0, 14.0) > 5.0, "{}", with.mbps(0, 14.0));
}

fn shared_with_cubic(scheme: &str, seconds: i64) -> Flow {
    let [target, interval] = [5, 100].map(Span::from_millis);
    let queue = QueueConfig::CodelEcn { limits: Limits::packets(1000), target, interval, threshold: None };
    let connection = ConnectionConfig { ecn: true, ..ConnectionConfig::default() };
    let tcp = Competitor::Tcp(TcpConfig { connection, ..TcpConfig::default() });
    play(&Scenario { competitors: vec![tcp], ..scenario("10Mbps", queue, seconds) }, scheme)
}

/// specs/l4s.md 6 (e3).
#[test]
fn a_queue_that_takes_ect1_for_ect0_is_noticed_where_that_is_asked_for() {
    let noticed = shared_with_cubic("scream+l4s+classic", 30);
    let variable = |of: &Flow, name: &str| -> Vec<(f64, f64)> {
        let is_it = |known: &&str| *known == name;
        let records = of.run.recorder.records().filter_map(|one| match one.what {
            What::Sender(Event::Variable { name, value }) if is_it(&name) => Some((one.at.as_secs_f64(), value)),
            _ => None,
        });
        records.collect()
    };
    let states = variable(&noticed, "classic_aqm");
    assert!(states.iter().any(|(at, state)| *at < 15.0 && *state == 1.0));
    let unnoticed = shared_with_cubic("scream+l4s", 30);
    assert!(variable(&unnoticed, "classic_aqm").is_empty(), "off unless asked for");
    let [with, without] = [&noticed, &unnoticed].map(|run| run.mbps(0, 15.0) / run.mbps(1, 15.0));
    assert!((0.25..3.0).contains(&with) && with < without, "{with} and {without} of Cubic's rate");
    // A queue of its own is none of that kind.
    let own = play(&scenario("10Mbps", dual(), 20), "scream+l4s+classic");
    assert!(variable(&own, "classic_aqm").iter().all(|(_, state)| *state == 0.0));
}

/// specs/l4s.md 2.5: with a queue for each flow each hurts only itself.
#[test]
fn fair_queues_give_each_flow_its_half_and_only_the_others_wait() {
    let config = FqCodelConfig { threshold: Some(Span::from_millis(3)), ..FqCodelConfig::default() };
    let connection = ConnectionConfig { ecn: true, ..ConnectionConfig::default() };
    let tcp = Competitor::Tcp(TcpConfig { connection, ..TcpConfig::default() });
    let queue = QueueConfig::FqCodel(config);
    let run = play(&Scenario { competitors: vec![tcp], ..scenario("10Mbps", queue, 30) }, "vidaptive+l4s");
    let [ours, theirs] = [0, 1].map(|flow| run.mbps(flow, 10.0));
    assert!((2.5..6.0).contains(&ours) && (3.5..7.5).contains(&theirs), "{ours} and {theirs} Mbps");
    let [ours, theirs] = [0, 1].map(|flow| run.wait_ms(flow, 10.0, 0.5));
    assert!(ours < 5.0 && theirs > ours, "{ours} and {theirs} ms");
}

/// specs/l4s.md 6 (g): another route is tried anew.
#[test]
fn a_path_that_cleared_the_field_is_forgotten_with_the_route() {
    let mut cleared = scenario("10Mbps", dual(), 16);
    let names = |name: &str| vec![name.to_string()];
    cleared.links = vec![NamedLink { name: "other".into(), hops: cleared.forward.hops.clone() }];
    cleared.forward.hops.insert(0, HopConfig::Middlebox(EcnFault::Bleach { from: Span::ZERO }));
    let route = Route { flow: 0, forward: names("other"), reverse: names("reverse") };
    cleared.changes = vec![Change { at: Span::from_secs(8), what: Changed::Route { route, adapter: true } }];
    let flow = play(&cleared, "scream+l4s");
    let sends = |at: f64| {
        let before = flow.run.recorder.records().take_while(|one| one.at.as_secs_f64() < at);
        let values = before.filter_map(|one| match one.what {
            What::Sender(Event::Variable { name: "sends_ect1", value }) => Some(value),
            _ => None,
        });
        values.last().unwrap()
    };
    assert_eq!([2.0, 7.9, 8.5, 15.0].map(sends), [0.0, 0.0, 1.0, 1.0]);
}
