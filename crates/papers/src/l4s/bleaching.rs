//! g: paths that clear the ECN field or drop packets for it.
//!
//! How many packets said ECT(1) is counted by a wide link before the fault that marks each of them: it delays a packet by at
//! most a millisecond, and what follows clears the mark or drops the packet.

use thalweg_netsim::queue::{Limits, Marker};
use thalweg_netsim::{EcnFault, HopConfig, QueueConfig};
use thalweg_units::Span;

use super::{Asked, Bound, Frames, LENGTH, Line, Observed, Scenario, dual, line, named, over, part};
use thalweg_lab::scenario::{Change, NamedLink, REVERSE, Route, What};

pub(super) const BECAUSE: &[&str] = &[];

/// From here on rates are compared, in seconds.
const FROM_S: f64 = 25.0;
const END_S: f64 = LENGTH as f64;
/// When the path begins to clear the field, or packets take another.
const LATER: i64 = 10;

fn usual() -> Scenario {
    over("10Mbps", 20, dual(2), Frames::Modelled, LENGTH)
}

fn counter() -> HopConfig {
    let (limits, marker) = (Limits::packets(100_000), Marker::Step { at: Span::ZERO });
    let queue = QueueConfig::Marking { limits, marker, only_ect1: true, least_packets: 0 };
    HopConfig::Bottleneck { trace: "200Mbps".into(), queue, once: false }
}

/// A path on which packets with ECT(1) are counted and then meet this.
fn faulty(fault: EcnFault) -> Scenario {
    let mut scenario = usual();
    scenario.forward.hops.splice(0..0, [counter(), HopConfig::Middlebox(fault)]);
    scenario
}

/// The rate once the fault is known, over that of the second run, which has no ECN.
fn as_without() -> Asked {
    Asked::new("rate over that without ECN", "1", Bound::within(0.95, 1.05), |runs| {
        runs[0].mbps(0, FROM_S..END_S) / runs[1].mbps(0, FROM_S..END_S)
    })
}

fn plain(scenario: Scenario) -> [super::Part; 2] {
    [part(scenario.clone(), named("scream+l4s", 10)), part(scenario, named("scream", 10))]
}

/// The time in which packets that were dropped had been sent, as the policy counts it: of a pause 200 ms.
fn counted_ms(run: &Observed) -> f64 {
    // Before the retry.
    let at: Vec<f64> = run.dropped_s(0.0..9.0).collect();
    at.windows(2).map(|pair| (pair[1] - pair[0]).min(0.2) * 1e3).sum()
}

pub(super) fn lines() -> Vec<Line> {
    let bleached = faulty(EcnFault::Bleach { from: Span::ZERO });
    // Without a counter, which would mark what passes until then.
    let mut later = usual();
    later.forward.hops.insert(0, HopConfig::Middlebox(EcnFault::Bleach { from: Span::from_secs(LATER) }));
    let dropped = faulty(EcnFault::DropCapable { from: Span::ZERO });
    let mut back = usual();
    back.reverse.hops.insert(0, HopConfig::Middlebox(EcnFault::Bleach { from: Span::ZERO }));
    // At first the field is cleared; the other path carries it.
    let names = |name: &str| vec![name.to_string()];
    let route = Route { flow: 0, forward: names("other"), reverse: names(REVERSE) };
    let mut other = usual().forward.hops;
    other.insert(0, counter());
    let rerouted = Scenario {
        links: vec![NamedLink { name: "other".into(), hops: other }],
        changes: vec![Change { at: Span::from_secs(30), what: What::Route { route, adapter: true } }],
        ..bleached.clone()
    };
    // 300 kbps at the start, a round trip of 21 ms and a report of each packet: what is sent in it, two packets, and those
    // of a frame that were paced by then.
    let said = |window: fn(&Observed) -> super::Window| move |runs: &[Observed]| runs[0].marks(0, window(&runs[0]));
    vec![
        line(
            "g cleared from the start",
            plain(bleached).into(),
            vec![
                Asked::new("packets with ECT(1)", "12 in Chrome", Bound::within(1.0, 12.0), said(Observed::whole)),
                as_without(),
            ],
        ),
        line(
            "g cleared from 10 s on",
            plain(later).into(),
            vec![
                // A round trip and a report, seen each 100 ms.
                Asked::new("said ECT(1) for, ms", "a round trip", Bound::at_most(140.0), |runs| {
                    let mut later = runs[0].variable("sends_ect1", LATER as f64..END_S);
                    let ended = later.find(|(_, sends)| *sends == 0.0);
                    ended.map_or(f64::NAN, |(at, _)| (at - LATER as f64) * 1e3)
                }),
                as_without(),
            ],
        ),
        line(
            "g packets with ECT(1) dropped",
            plain(dropped).into(),
            vec![
                Asked::new("sent before it is noticed, ms", "500", Bound::within(400.0, 600.0), |runs| {
                    counted_ms(&runs[0])
                }),
                Asked::new("dropped after 20 s", "0", Bound::at_most(0.0), |runs| {
                    runs[0].dropped_s(20.0..END_S).count() as f64
                }),
                as_without(),
            ],
        ),
        line(
            "g reports' direction cleared",
            vec![part(back, named("scream+l4s", 10)), part(usual(), named("scream+l4s", 10))],
            vec![Asked::new("events that differ", "0", Bound::at_most(0.0), |runs| {
                f64::from(u8::from(runs[0].fingerprint() != runs[1].fingerprint()))
            })],
        ),
        line(
            "g another route at 30 s",
            vec![part(rerouted, named("scream+l4s", 10))],
            vec![
                Asked::new("packets with ECT(1) from 5 to 30 s", "0", Bound::at_most(0.0), said(|_| 5.0..30.0)),
                Asked::new("with ECT(1) from 31 s on, %", "100", Bound::at_least(99.0), |runs| {
                    runs[0].marked(0, 31.0..END_S) * 100.0
                }),
            ],
        ),
    ]
}
