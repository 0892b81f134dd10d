//! h: libwebrtc's own scenarios with queues that mark (specs/l4s.md 6.1), and those without beside them.
//!
//! Their limits are on the target at each whole second. libwebrtc's tests log them and fail only on request. The others of
//! its scenarios are cases of `thalweg bench rmcat --case webrtc`.

use thalweg_codecs::Codec;
use thalweg_codecs::traffic::{self, Fixfps, TrafficModel};
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::{FeedbackStyle, RateLimits};
use thalweg_units::{Bytes, Rate, Size, Span};

use super::{Asked, Bound, Line, Scenario, line, part};
use thalweg_lab::scenario::{Audio, Video};

pub(super) const BECAUSE: &[&str] = &[];

/// 720p at 30 frames a second with audio, both ways over a link of this rate.
fn call(seconds: i64, rates: &str, rtt_ms: i64, queue: QueueConfig) -> Scenario {
    let way = || {
        let rate = rates.parse().expect("rates are written by us");
        vec![HopConfig::Rate { rate, queue }, HopConfig::delay(Span::from_millis(rtt_ms) / 2)]
    };
    Scenario {
        duration: Span::from_secs(seconds),
        video: Video::scene(Size::HD, 30),
        codec: Codec::Traffic(traffic::Config {
            min_rate: Rate::from_kbps(5),
            max_rate: Rate::from_kbps(100_000),
            model: TrafficModel::Fixfps(Fixfps { delay: Span::ZERO, ..Fixfps::default() }),
        }),
        audio: Some(Audio { payload: Bytes::new(80), ..Audio::default() }),
        feedback: Some(FeedbackStyle::CcfbByFrame),
        forward: PathConfig { hops: way() },
        reverse: PathConfig { hops: way() },
        measure_quality: false,
        ..Scenario::over(rates)
    }
}

fn named(name: &str) -> Scheme {
    let [min, start, max] = [30, 300, 10_000].map(Rate::from_kbps);
    let scheme = name.parse::<Scheme>().unwrap_or_else(|error| panic!("{error}"));
    scheme.within(RateLimits { min, start, max, wire: max.scale(1.1) }).unwrap_or_else(|error| panic!("{error}"))
}

/// The least and the greatest target at whole seconds from `from_s` to the end.
fn targets(from_s: f64, (least, most): (f64, f64)) -> Vec<Asked> {
    let of = move |runs: &[super::Observed], choose: fn(f64, f64) -> f64| {
        runs[0].by_second("capacity_bps", from_s..runs[0].whole().end).map(|bps| bps / 1e3).fold(f64::NAN, choose)
    };
    vec![
        Asked::new("least target, kbps", "", Bound::at_least(least), move |runs| of(runs, f64::min)),
        Asked::new("greatest target, kbps", "", Bound::at_most(most), move |runs| of(runs, f64::max)),
    ]
}

pub(super) fn lines() -> Vec<Line> {
    // All of them use a target of 10 ms and no link rate: PI alone.
    let pi = QueueConfig::DualPi2Webrtc { target: Span::from_millis(10), link_rate: None };
    let none = QueueConfig::Infinite;
    let cases = [
        ("600 kbps, 100 ms, PI", call(10, "600kbps", 100, pi), true, 4.0, (350.0, 660.0)),
        ("1 Mbps, 100 ms, PI", call(10, "1Mbps", 100, pi), true, 3.0, (600.0, 1000.0)),
        ("2 Mbps, 50 ms, PI", call(30, "2Mbps", 50, pi), true, 2.0, (1300.0, 2300.0)),
        ("2 Mbps, 50 ms, PI, no ECN", call(30, "2Mbps", 50, pi), false, 2.0, (1300.0, 2500.0)),
        ("600 kbps, 100 ms", call(10, "600kbps", 100, none), true, 2.0, (250.0, 700.0)),
        ("600 kbps, 20 ms", call(30, "600kbps", 20, none), true, 2.0, (200.0, 900.0)),
        ("1.5 Mbps, 30 ms", call(30, "1.5Mbps", 30, none), true, 2.0, (800.0, 2200.0)),
        ("100 kbps, 50 ms", call(10, "100kbps", 50, none), true, 1.0, (10.0, 150.0)),
        (
            "5 Mbps off a third of the time, 50 ms",
            call(20, "5Mbps@200ms/0bps@100ms", 50, none),
            true,
            2.0,
            (1200.0, 5000.0),
        ),
    ];
    let mut lines = Vec::new();
    for (name, scenario, says_ect1, from_s, range) in cases {
        let suffix = if says_ect1 { "+l4s" } else { "" };
        let theirs = part(scenario.clone(), named(&format!("scream:libwebrtc{suffix}")));
        lines.push(line(format!("h {name}"), vec![theirs], targets(from_s, range)));
        // Beside it, and not judged: the draft's.
        let mut seen = targets(from_s, range);
        seen.iter_mut().for_each(|asked| asked.bound = Bound::NONE);
        lines.push(line(format!("h {name}"), vec![part(scenario, named(&format!("scream{suffix}")))], seen));
    }
    lines
}
