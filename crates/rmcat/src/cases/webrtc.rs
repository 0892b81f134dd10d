//! libwebrtc's own scenarios (specs/rmcat.md 8): links, times and bounds of `goog_cc_network_control_unittest.cc`,
//! `scream_test.cc`, `bwe_ramp_up_test.cc`, `l4s_test.cc` and `probing_test.cc`.
//!
//! Bounds that they give on one side have a second one of ours where a greater or smaller value would mean that the
//! measurement is broken.

use thalweg_codecs::Codec;
use thalweg_codecs::traffic::{self, Fixfps, TrafficModel};
use thalweg_control::gcc::{self, PushbackConfig, Restart};
use thalweg_lab::Scenario;
use thalweg_lab::scenario::{
    Audio, Change, Competitor, FORWARD, NamedLink, Pause, Paused, REVERSE, Route, Sender, Video, What,
};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, HopConfig, Jitter, LossModel, PathConfig, QueueConfig, TcpConfig};
use thalweg_sender::scheme::{FeedbackStyle, RateLimits};
use thalweg_units::{Bytes, Rate, Size, Span};

use crate::bar::{Bar, Source};
use crate::case::{Aqm, Case, Setting};
use crate::measure::Figure::{self, *};
use crate::range::range;

/// Cases of specs/rmcat.md 8 that are not played, with the reason.
pub const NOT_MODELLED: [(&str, &str); 17] = [
    ("gcc.LossBasedRecoversFaster", "removed from libwebrtc with the loss-based control that it compares (v1 of 2019)"),
    ("scream.4", L4S),
    ("scream.5", L4S),
    ("scream.6", L4S),
    ("scream.7", L4S),
    ("scream.10", L4S),
    ("scream.16", "no media: our SCReAM (RFC 8298) does not pad, so it learns nothing without a camera"),
    ("scream.31", SLIDES),
    ("scream.32", SLIDES),
    ("scream.33", SLIDES),
    (
        "rampup.InitialProbeWithoutMedia",
        "our engine probes from the first media packet on, as libwebrtc does by default",
    ),
    ("rampup.InitialProbeWithoutMediaL4s", L4S),
    ("rampup.SendsEct1 and the others of L4STest", L4S),
    ("rampup.LayersSwitchedOn", "no simulcast; a raised maximum of the encoder is a unit test of the probe controller"),
    ("rampup.UpDownUp", "no bar: times are logged"),
    ("rampup.PeerConnectionRampUp", "no bar: means are logged"),
    ("rampup.FeedbackFormatCalleeOnly", "negotiation: on the wire the same as FeedbackFormatTransport"),
];
const L4S: &str = "queues that mark, and ECN on packets: issue 25";
const SLIDES: &str = "pictures that change every few seconds only: no traffic model has them";

/// A figure, the flow, the window in seconds, and the least and the greatest value.
type Asked = (Figure, usize, (f64, f64), (f64, f64));

/// The default limits of libwebrtc's scenarios: min, start and max in kbps.
const LIMITS: [u64; 3] = [30, 300, 3000];

/// A case of libwebrtc's; `gcc` has these parameters in it, the test's field trials.
fn case(id: &str, title: &str, scenario: Scenario, limits: [u64; 3], gcc: gcc::Config, asked: Vec<Asked>) -> Case {
    let bar = |(figure, flow, window, (low, high))| Bar {
        figure,
        flow: Some(flow),
        window,
        must: range(low, high),
        should: range(low, high),
        source: Source::Webrtc,
    };
    let [min, start, max] = limits.map(Rate::from_kbps);
    Case {
        id: id.into(),
        title: title.into(),
        duration: scenario.duration,
        limits: RateLimits { min, start, max, wire: max },
        setting: Setting::Scenario(Box::new(Scenario { name: id.into(), ..scenario })),
        aqm: Aqm::DropTail,
        bars: asked.into_iter().map(bar).collect(),
        reference: None,
        gcc: (gcc != gcc::Config::default()).then(|| Box::new(gcc)),
        needs_weights: false,
    }
}

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    [goog_cc(), ramp_up(), scream()].concat()
}

fn ms(millis: f64) -> Span {
    Span::from_secs_f64(millis / 1e3)
}

fn rate(rates: &str, queue: QueueConfig) -> HopConfig {
    HopConfig::Rate { rate: rates.parse().expect("rates are written by us"), queue }
}

fn delay(delays: &str) -> HopConfig {
    HopConfig::Delay { delay: delays.parse().expect("delays are written by us"), jitter: Jitter::None, reorders: false }
}

fn losing(probability: f64) -> HopConfig {
    HopConfig::Loss(LossModel::Random { probability })
}

/// A link with an endless queue; without `rates` as wide as any.
fn link(rates: &str, one_way: &str) -> Vec<HopConfig> {
    let narrow = (!rates.is_empty()).then(|| rate(rates, QueueConfig::Infinite));
    narrow.into_iter().chain([delay(one_way)]).collect()
}

/// Over a link there and one back, with a stand-in encoder that follows its target with the next frame.
fn over(seconds: f64, forward: Vec<HopConfig>, reverse: Vec<HopConfig>) -> Scenario {
    Scenario {
        duration: ms(seconds * 1e3),
        video: Video::scene(Size::new(320, 180), 30),
        codec: Codec::Traffic(traffic::Config {
            min_rate: Rate::from_kbps(5),
            max_rate: Rate::from_kbps(100_000),
            model: TrafficModel::Fixfps(Fixfps { delay: Span::ZERO, ..Fixfps::default() }),
        }),
        forward: PathConfig { hops: forward },
        reverse: PathConfig { hops: reverse },
        measure_quality: false,
        ..Scenario::over("unused")
    }
}

fn paused(from: f64, until: f64) -> Vec<Pause> {
    vec![Pause { flow: 0, from: ms(from * 1e3), until: ms(until * 1e3), what: Paused::Both }]
}

/// Just after what libwebrtc's tests read at that time.
fn at(seconds: f64, what: What) -> Change {
    Change { at: ms(seconds * 1e3) + Span::from_micros(10), what }
}

fn route(forward: &str, adapter: bool) -> What {
    let names = |name: &str| vec![name.to_string()];
    What::Route { route: Route { flow: 0, forward: names(forward), reverse: names(REVERSE) }, adapter }
}

fn bounds(max: u64) -> What {
    What::Bounds { flow: 0, min: Rate::from_kbps(30), max: Rate::from_kbps(max) }
}

/// The window of `WebRTC-CongestionWindow` with this queue.
fn window(queue_ms: i64, drop_frames: bool) -> PushbackConfig {
    PushbackConfig { queue: Span::from_millis(queue_ms), drop_frames, ..PushbackConfig::default() }
}

fn restart(restart: Restart) -> gcc::Config {
    gcc::Config { restart, ..gcc::Config::default() }
}

fn near(target: f64, within: f64) -> (f64, f64) {
    (target - within, target + within)
}

fn tcp(from: f64) -> Competitor {
    Competitor::Tcp(TcpConfig { from: ms(from * 1e3), ..TcpConfig::default() })
}

/// The GoogCcScenario tests of `goog_cc_network_control_unittest.cc`.
fn goog_cc() -> Vec<Case> {
    let plain = gcc::Config::default;
    let target = |second: f64, range: (f64, f64)| (Target, 0, (0.0, second), range);
    let burst = Competitor::Datagrams(DatagramsConfig {
        rate: Rate::from_kbps(1_000_000),
        size: Bytes::new(1000),
        burst: 125,
        from: ms(10_000.0),
        until: Some(ms(10_000.5)),
        ..DatagramsConfig::default()
    });
    vec![
        case(
            "gcc.CongestionWindowPushbackOnNetworkDelay",
            "the link halts: pushback on the target",
            over(13.0, link("1Mbps@10s/0bps@10s/1Mbps", "100ms"), link("", "100ms")),
            [10, 300, 2000],
            gcc::Config { pushback: Some(window(800, false)), ..plain() },
            vec![target(13.0, (10.0, 40.0))],
        ),
        case(
            "gcc.CongestionWindowPushbackDropFrameOnNetworkDelay",
            "the link halts: pushback on frames",
            over(13.0, link("1Mbps@10s/0bps@10s/1Mbps", "100ms"), link("", "100ms")),
            [10, 300, 2000],
            gcc::Config { pushback: Some(window(800, true)), ..plain() },
            vec![target(13.0, (300.0, 1100.0))],
        ),
        case(
            "gcc.LimitsToFloorIfRttIsHigh",
            "a burst that fills the link for 10 s",
            Scenario { competitors: vec![burst], ..over(16.0, link("100kbps", "100ms"), link("", "100ms")) },
            [30, 100, 3000],
            gcc::Config { rtt_limit: Some(Span::from_secs(2)), rtt_floor: Rate::from_kbps(50), ..plain() },
            vec![target(16.0, near(50.0, 5.0))],
        ),
        case(
            "gcc.UpdatesTargetRateBasedOnLinkCapacity",
            "500, 800, 100 kbps",
            over(95.0, link("500kbps@25s/800kbps@20s/100kbps", "100ms@45s/200ms"), link("", "100ms@45s/200ms")),
            [10, 300, 1500],
            plain(),
            vec![target(25.0, near(450.0, 100.0)), target(45.0, near(750.0, 150.0)), target(95.0, near(90.0, 25.0))],
        ),
        case(
            "gcc.LossBasedControlDoesModestBackoffToHighLoss",
            "10 % of random loss",
            over(120.0, vec![rate("2Mbps", QueueConfig::Infinite), losing(0.1), delay("200ms")], link("", "200ms")),
            [10, 300, 1500],
            plain(),
            vec![target(120.0, (100.0, 1600.0))],
        ),
        case(
            "gcc.MaintainsLowRateInSafeReset",
            "another route at a low rate",
            Scenario {
                changes: vec![at(0.5, route(FORWARD, true))],
                ..over(0.6, link("200kbps", "10ms"), link("", "0ms"))
            },
            LIMITS,
            restart(Restart::Target),
            vec![target(0.5, near(200.0, 50.0)), target(0.6, near(200.0, 50.0))],
        ),
        case(
            "gcc.DoNotResetBweUnlessNetworkAdapterChange",
            "another route, then another adapter",
            Scenario {
                changes: vec![at(0.5, route(FORWARD, false)), at(1.05, route(FORWARD, true))],
                ..over(1.1, link("1Mbps", "50ms"), link("", "0ms"))
            },
            LIMITS,
            gcc::Config { restart_by_adapter: true, ..plain() },
            vec![target(0.5, near(1000.0, 300.0)), target(0.55, near(1000.0, 300.0)), target(1.1, near(300.0, 30.0))],
        ),
        case(
            "gcc.CutsHighRateInSafeReset",
            "another route at a high rate",
            Scenario {
                changes: vec![at(0.5, route(FORWARD, true))],
                ..over(0.55, link("1Mbps", "50ms"), link("", "0ms"))
            },
            LIMITS,
            restart(Restart::Target),
            vec![target(0.5, near(1000.0, 300.0)), target(0.55, near(300.0, 30.0))],
        ),
        case(
            "gcc.DetectsHighRateInSafeReset",
            "another route that is wider",
            Scenario {
                links: vec![NamedLink { name: "new".into(), hops: link("800kbps", "50ms") }],
                changes: vec![at(2.0, route("new", true))],
                ..over(3.05, link("200kbps", "50ms"), link("", "0ms"))
            },
            LIMITS,
            restart(Restart::Acknowledged),
            vec![target(2.0, near(200.0, 50.0)), target(2.05, near(200.0, 50.0)), target(3.05, (500.0, 900.0))],
        ),
        case(
            "gcc.TargetRateReducedOnPacingBufferBuildup",
            "a queue in the pacer",
            // Of frames that are exactly their share of the target none would wait.
            Scenario { codec: Codec::Model(Default::default()), ..over(5.0, link("1Mbps", "50ms"), link("", "0ms")) },
            [30, 1000, 3000],
            gcc::Config {
                pacing_factor: 1.0,
                pushback: Some(PushbackConfig { with_queue: true, ..window(100, false) }),
                ..plain()
            },
            vec![(PacerDelay, 0, (4.0, 5.0), (0.0, 150.0))],
        ),
        case(
            "gcc.NoBandwidthTogglingInLossControl",
            "20 % of random loss",
            over(2.25, vec![rate("2Mbps", QueueConfig::Infinite), losing(0.2), delay("10ms")], link("", "0ms")),
            LIMITS,
            plain(),
            vec![(Dips, 0, (0.25, 2.25), (0.0, 1.0))],
        ),
        case(
            "gcc.NoRttBackoffCollapseWhenVideoStops",
            "the camera stops",
            Scenario { pauses: paused(1.0, 5.0), ..over(5.0, link("2Mbps", "100ms"), link("", "0ms")) },
            [30, 1000, 3000],
            gcc::Config { rtt_limit: Some(Span::from_secs(2)), ..plain() },
            vec![target(5.0, (1000.0, 3000.0))],
        ),
        case(
            "gcc.NoCrashOnVeryLateFeedback",
            "reports five minutes late",
            Scenario {
                pauses: paused(5.0, 304.0),
                ..over(306.0, link("", "0ms"), link("10Gbps@5s/0bps@300s/10Gbps", "0ms"))
            },
            LIMITS,
            plain(),
            vec![target(306.0, (30.0, 3000.0))],
        ),
        case(
            "gcc.IsFairToTCP",
            "beside TCP, endless queue",
            Scenario { competitors: vec![tcp(0.0)], ..over(10.0, link("1Mbps", "50ms"), link("1Mbps", "50ms")) },
            [30, 1000, 3000],
            plain(),
            vec![target(10.0, (30.0, 750.0))],
        ),
        case(
            "gcc.FastRampupOnRembCapLifted",
            "REMB of 250 kbps and back",
            Scenario {
                changes: vec![
                    at(10.0, What::ReceiverLimit { flow: 0, rate: Some(Rate::from_kbps(250)) }),
                    at(11.0, What::ReceiverLimit { flow: 0, rate: Some(Rate::from_kbps(10_000)) }),
                ],
                ..over(21.0, link("2Mbps", "50ms"), link("2Mbps", "50ms"))
            },
            [30, 1000, 3000],
            plain(),
            vec![target(10.0, (1500.0, 2200.0)), target(11.0, (250.0, 250.0)), target(21.0, (1500.0, 2200.0))],
        ),
        // Without feedback on packets libwebrtc's receiver estimates the delay-based rate and reports it (REMB), and its
        // sender applies the first loss-based control: our `rrtcc`.
        case(
            "gcc.FallbackToLossBasedWithoutPacketFeedback",
            "no packet feedback (the bounds are for rrtcc)",
            Scenario {
                changes: vec![at(20.0, What::Link { name: FORWARD.into(), rate: None, delay: None, loss: Some(0.15) })],
                ..over(40.0, vec![rate("1Mbps", QueueConfig::Infinite), losing(0.0), delay("100ms")], link("", "0ms"))
            },
            [30, 1000, 3000],
            plain(),
            vec![target(20.0, (500.0, 1200.0)), target(40.0, (30.0, 300.0))],
        ),
        // Removed from libwebrtc since.
        case(
            "gcc.StableEstimateInSteadyState",
            "removed since: varies by a decrease",
            over(50.0, link("500kbps", "100ms"), link("", "100ms")),
            LIMITS,
            plain(),
            vec![(LeastOverGreatestTarget, 0, (30.0, 50.0), (0.3, 0.85))],
        ),
        case(
            "gcc.LossBasedEstimatorCapsRate",
            "removed since: 3 % of random loss",
            Scenario {
                changes: vec![at(
                    1.0,
                    What::Link { name: FORWARD.into(), rate: Some(Rate::from_kbps(5000)), delay: None, loss: None },
                )],
                ..over(
                    21.0,
                    vec![rate("2Mbps", QueueConfig::Infinite), losing(0.03), delay("100ms")],
                    link("", "100ms"),
                )
            },
            [30, 1000, 5000],
            plain(),
            vec![target(21.0, (500.0, 2500.0))],
        ),
    ]
}

/// `bwe_ramp_up_test.cc`, `l4s_test.cc` and `probing_test.cc`.
fn ramp_up() -> Vec<Case> {
    let case = |id, title, scenario, limits, asked| case(id, title, scenario, limits, gcc::Config::default(), asked);
    let target = |second: f64, range: (f64, f64)| (Target, 0, (0.0, second), range);
    let fifteen = |scenario: Scenario| Scenario { video: Video::scene(Size::new(640, 480), 15), ..scenario };
    let both_ways = |scenario: Scenario| Scenario {
        competitors: vec![Competitor::Sender(Sender {
            scheme: "gcc".into(),
            video: None,
            from: Span::ZERO,
            until: None,
        })],
        routes: vec![Route { flow: 1, forward: vec![REVERSE.into()], reverse: vec![FORWARD.into()] }],
        ..scenario
    };
    let format = |id, feedback| {
        let spoken = Scenario {
            feedback: Some(feedback),
            audio: Some(Audio::default()),
            ..over(5.0, link("250kbps", "0ms"), link("250kbps", "0ms"))
        };
        let bars = vec![
            target(5.0, (150.0, 300.0)),
            (Target, 1, (0.0, 5.0), (150.0, 300.0)),
            (RoundTrip, 0, (0.0, 5.0), (0.0, 250.0)),
        ];
        case(id, "video and audio both ways over 250 kbps", both_ways(spoken), LIMITS, bars)
    };
    vec![
        case(
            "rampup.CapacityIncrease",
            "500 kbps to 3 Mbps",
            over(20.0, link("500kbps@3s/3Mbps", "0ms"), link("5Mbps", "0ms")),
            LIMITS,
            vec![target(5.0, (300.0, 650.0)), target(20.0, (1000.0, 3300.0))],
        ),
        // Whether a receiver knows the stream of a packet has no part in its reports.
        case(
            "rampup.UndemuxableRtpPackets",
            "an endless link",
            fifteen(over(2.0, link("", "0ms"), link("", "0ms"))),
            LIMITS,
            vec![target(2.0, (645.0, 3000.0))],
        ),
        case(
            "rampup.RespectsStartRate",
            "from 70 Mbps",
            over(1.0, link("100Mbps", "0ms"), link("100Mbps", "0ms")),
            [5000, 70_000, 100_000],
            vec![target(1.0, (70_000.0, 100_000.0))],
        ),
        case(
            "rampup.ReconfiguresAfterVideoStopped",
            "starts over after TCP, without a camera",
            Scenario {
                competitors: vec![transfer(500_000, 0.5)],
                pauses: paused(6.0, 9.0),
                changes: vec![at(8.0, route(FORWARD, true))],
                ..over(9.0, link("1Mbps", "0ms"), link("1Mbps", "0ms"))
            },
            LIMITS,
            vec![(TargetRise, 0, (6.0, 9.0), (300.0, 1000.0)), target(9.0, (300.0, 1000.0))],
        ),
        case(
            "rampup.ReceiveSideBwe",
            "REMB only (the bounds are for rrtcc)",
            over(20.0, link("600kbps", "50ms"), link("600kbps", "50ms")),
            LIMITS,
            vec![target(20.0, (300.0, 800.0))],
        ),
        format("rampup.FeedbackFormatTransport", FeedbackStyle::Twcc),
        format("rampup.FeedbackFormatRfc8888", FeedbackStyle::Ccfb),
        case(
            "rampup.InitialProbing",
            "2 Mbps from 300 kbps",
            over(1.0, link("2Mbps", "0ms"), link("", "0ms")),
            LIMITS,
            vec![target(1.0, (900.0, 2200.0))],
        ),
        case(
            "rampup.MidCallProbing",
            "max 3 Mbps, 100 kbps, 3 Mbps",
            Scenario {
                changes: vec![at(1.0, bounds(100)), at(3.0, bounds(3000))],
                ..over(4.0, link("", "0ms"), link("", "0ms"))
            },
            LIMITS,
            vec![target(1.0, (1500.0, 3000.0)), target(3.0, (30.0, 110.0)), target(4.0, (1500.0, 3000.0))],
        ),
    ]
}

/// A file over TCP.
fn transfer(bytes: u64, from: f64) -> Competitor {
    Competitor::Tcp(TcpConfig { from: ms(from * 1e3), size: Some(Bytes::new(bytes)), ..TcpConfig::default() })
}

/// `scream_test.cc`, by their places in specs/rmcat.md 8.2 read by rows; those that are not here are not modelled.
fn scream() -> Vec<Case> {
    let drop_tail = |packets: u64| QueueConfig::DropTail(Limits::packets(packets));
    // 720p at 30 frames a second with audio.
    let call = |seconds: f64, forward: Vec<HopConfig>, reverse: Vec<HopConfig>| Scenario {
        video: Video::scene(Size::HD, 30),
        audio: Some(Audio { payload: Bytes::new(80), ..Audio::default() }),
        feedback: Some(FeedbackStyle::Ccfb),
        ..over(seconds, forward, reverse)
    };
    let same = |seconds: f64, rates: &str, one_way: &str| call(seconds, link(rates, one_way), link(rates, one_way));
    let lossy = |seconds: f64, rates: &str, share: f64, one_way: &str| {
        call(seconds, vec![rate(rates, QueueConfig::Infinite), losing(share), delay(one_way)], link(rates, one_way))
    };
    let jittered = |seconds: f64, rates: &str, one_way: i64, deviation: i64, reorders: bool| {
        let hop = HopConfig::Delay {
            delay: Span::from_millis(one_way).into(),
            jitter: Jitter::Normal { deviation: Span::from_millis(deviation) },
            reorders,
        };
        call(seconds, vec![rate(rates, QueueConfig::Infinite), hop], link(rates, &format!("{one_way}ms")))
    };
    // Losses in bursts of three, a fifth of all.
    let bursts = LossModel::GilbertElliott { to_bad: 1.0 / 12.0, to_good: 1.0 / 3.0, good_loss: 0.0, bad_loss: 1.0 };
    let back_lost = |seconds: f64| {
        let back = vec![rate("1Mbps", QueueConfig::Infinite), HopConfig::Loss(bursts), delay("25ms")];
        call(seconds, link("1Mbps", "25ms"), back)
    };
    let scream = |id, title, scenario, asked| case(id, title, scenario, LIMITS, gcc::Config::default(), asked);
    let between = |from: f64, until: f64, low: f64, high: f64| {
        vec![(LeastTarget, 0, (from, until), (low, high)), (GreatestTarget, 0, (from, until), (low, high))]
    };
    let end = |second: f64, low: f64, high: f64| vec![(Target, 0, (0.0, second), (low, high))];
    let chain = |parts: [Vec<Asked>; 2]| parts.concat();
    vec![
        scream("scream.1", "600 kbps (the bounds are for gcc)", same(10.0, "600kbps", "50ms"), end(10.0, 450.0, 700.0)),
        scream("scream.2", "600 kbps", same(10.0, "600kbps", "50ms"), between(2.0, 10.0, 250.0, 700.0)),
        scream(
            "scream.3",
            "600 kbps, round trip 20 ms",
            same(30.0, "600kbps", "10ms"),
            between(2.0, 30.0, 200.0, 900.0),
        ),
        scream("scream.8", "1.5 Mbps", same(30.0, "1.5Mbps", "15ms"), between(2.0, 30.0, 800.0, 2200.0)),
        scream("scream.9", "2 Mbps", same(30.0, "2Mbps", "25ms"), between(2.0, 30.0, 1300.0, 2300.0)),
        scream("scream.11", "2 Mbps (the bounds are for gcc)", same(30.0, "2Mbps", "25ms"), end(30.0, 1000.0, 2600.0)),
        scream(
            "scream.12",
            "2 Mbps, transport-wide reports",
            Scenario { feedback: Some(FeedbackStyle::Twcc), ..same(30.0, "2Mbps", "25ms") },
            between(6.0, 30.0, 700.0, 2600.0),
        ),
        scream(
            "scream.13",
            "4 Mbps, jitter",
            jittered(30.0, "4Mbps", 25, 10, false),
            between(2.0, 30.0, 700.0, 4100.0),
        ),
        scream("scream.14", "100 kbps", same(10.0, "100kbps", "25ms"), between(1.0, 10.0, 10.0, 150.0)),
        scream(
            "scream.15",
            "500 kbps to 5 Mbps",
            call(10.0, link("500kbps@5s/5Mbps", "15ms"), link("", "25ms")),
            chain([between(2.0, 4.0, 200.0, 600.0), end(10.0, 1200.0, 5000.0)]),
        ),
        scream("scream.17", "50 Mbps", same(1.0, "50Mbps", "10ms"), end(0.4, 1200.0, 2500.0)),
        scream(
            "scream.18",
            "delay 10 to 80 ms",
            call(35.0, link("1Mbps", "10ms@3s/80ms"), link("", "10ms")),
            chain([end(6.0, 30.0, 400.0), end(35.0, 600.0, 1200.0)]),
        ),
        scream(
            "scream.19",
            "no way back for 3 s",
            call(10.0, link("600kbps", "50ms"), link("1Mbps@3s/0bps@3s/1Mbps", "0ms")),
            vec![
                (VideoPackets, 0, (4.0, 5.0), (0.0, 0.0)),
                (AudioPackets, 0, (4.0, 5.0), (1.0, 60.0)),
                (VideoPackets, 0, (8.0, 10.0), (1.0, 400.0)),
                (Target, 0, (0.0, 10.0), (30.0, 800.0)),
            ],
        ),
        scream(
            "scream.20",
            "a queue of 3 packets",
            call(10.0, vec![rate("1Mbps", drop_tail(3)), delay("25ms")], link("1Mbps", "25ms")),
            chain([vec![(Loss, 0, (0.0, 10.0), (0.0, 7.0))], between(2.0, 10.0, 200.0, 1100.0)]),
        ),
        scream("scream.21", "1 Mbps, 10 % lost", lossy(10.0, "1Mbps", 0.1, "25ms"), between(2.0, 10.0, 100.0, 1100.0)),
        scream("scream.22", "3 Mbps, 5 % lost", lossy(10.0, "3Mbps", 0.05, "40ms"), between(3.0, 10.0, 100.0, 1100.0)),
        scream("scream.23", "3 Mbps, 1 % lost", lossy(10.0, "3Mbps", 0.01, "40ms"), between(3.0, 10.0, 1000.0, 3000.0)),
        scream(
            "scream.24",
            "3 Mbps, reordered",
            jittered(10.0, "3Mbps", 40, 5, true),
            between(3.0, 10.0, 1000.0, 3000.0),
        ),
        scream("scream.25", "a fifth of reports lost", back_lost(20.0), between(2.0, 20.0, 300.0, 1300.0)),
        scream(
            "scream.26",
            "a fifth of reports lost, no audio",
            Scenario { audio: None, ..back_lost(10.0) },
            between(2.0, 10.0, 10.0, 1200.0),
        ),
        scream(
            "scream.27",
            "policed to 256 kbps",
            call(
                10.0,
                vec![
                    HopConfig::Policer { rate: Rate::from_kbps(256), bucket: Bytes::new(16_384) },
                    rate("5Mbps", QueueConfig::Infinite),
                    delay("25ms"),
                ],
                link("5Mbps", "25ms"),
            ),
            chain([vec![(Loss, 0, (0.0, 10.0), (1.0, 11.0))], between(2.0, 10.0, 150.0, 900.0)]),
        ),
        scream(
            "scream.28",
            "after a file over TCP",
            Scenario { competitors: vec![transfer(2_000_000, 3.0)], ..same(30.0, "5Mbps", "25ms") },
            between(20.0, 30.0, 1500.0, 5000.0),
        ),
        scream(
            "scream.29",
            "5 Mbps, off a third of the time",
            same(20.0, "5Mbps@200ms/0bps@100ms", "25ms"),
            between(2.0, 20.0, 1200.0, 5000.0),
        ),
        scream(
            "scream.30",
            "2 Mbps, off a third of the time",
            same(20.0, "2Mbps@200ms/0bps@100ms", "25ms"),
            between(2.0, 20.0, 700.0, 2000.0),
        ),
    ]
}
