//! c and d: beside TCP, in the other queue or in the same.

use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};
use thalweg_netsim::{QueueConfig, TcpConfig};
use thalweg_sender::FeedbackStyle;
use thalweg_units::Span;

use super::{Asked, Bound, Frames, Line, Scenario, dual, line, named, never_classic, over, part};
use thalweg_lab::scenario::Competitor;

pub(super) const CUBIC_BECAUSE: &[&str] = &[PEAKS];
pub(super) const PRAGUE_BECAUSE: &[&str] = &[PEAKS];

const PEAKS: &str = "the draft's average of marks rises sixteen times as fast as it falls and is three to four times their share, \
                     with one packet in a sample 16 m / (1 + 15 m) (docs/l4s.md)";

/// They are judged from here to the end, in seconds.
const FROM_S: f64 = 20.0;
const END_S: f64 = 50.0;

fn beside(mbps: u64, rtt_ms: i64, queue: QueueConfig, connection: ConnectionConfig) -> Scenario {
    let tcp = Competitor::Tcp(TcpConfig { connection, ..TcpConfig::default() });
    let scenario = over(&format!("{mbps}Mbps"), rtt_ms, queue, Frames::Modelled, END_S as i64);
    Scenario { competitors: vec![tcp], ..scenario }
}

/// With SCReAM a second time, whose reports come each 31 ms.
fn variants(scenario: &Scenario, schemes: &[&str], mbps: u64) -> Vec<(&'static str, super::Part)> {
    let own = schemes.iter().map(|scheme| ("", part(scenario.clone(), named(scheme, mbps))));
    let rare = Scenario { feedback: Some(FeedbackStyle::Ccfb), ..scenario.clone() };
    own.chain([(", reports each 31 ms", part(rare, named("scream+l4s", mbps)))]).collect()
}

fn ratio(expected: &'static str, bound: Bound) -> Asked {
    Asked::new("our rate over TCP's", expected, bound, |runs| {
        let [ours, theirs] = [0, 1].map(|flow| runs[0].mbps(flow, FROM_S..END_S));
        ours / theirs
    })
}

fn wait(flow: usize, share: f64, what: &str, expected: &'static str, bound: Bound) -> Asked {
    Asked::new(what, expected, bound, move |runs| runs[0].wait_ms(flow, FROM_S..END_S, share))
}

fn marked(flow: usize, what: &str) -> Asked {
    Asked::new(what, "", Bound::NONE, move |runs| runs[0].marked(flow, FROM_S..END_S) * 100.0)
}

/// SCReAM's estimate of the share of its packets that are marked.
fn alpha() -> Asked {
    Asked::new("l4s_alpha or ce_alpha, mean, %", "", Bound::NONE, |runs| {
        let of = |name| runs[0].mean(name, FROM_S..END_S) * 100.0;
        let (own, capped) = (of("l4s_alpha"), of("ce_alpha"));
        if own.is_nan() { capped } else { own }
    })
}

/// By how much SCReAM lowers its target because frames wait, 0 to 0.5.
fn adjusted() -> Asked {
    Asked::new("raf, mean", "", Bound::NONE, |runs| runs[0].mean("rate_adjust", FROM_S..END_S))
}

/// The least that a flow has in any 5 s, in % of the link.
fn least(flow: usize, mbps: u64, what: &str) -> Asked {
    Asked::new(what, "", Bound::at_least(25.0), move |runs| {
        runs[0].least_mbps(flow, FROM_S..END_S, 5.0) / mbps as f64 * 100.0
    })
}

pub(super) fn cubic() -> Vec<Line> {
    let cubic = ConnectionConfig::default();
    let mut lines = Vec::new();
    for mbps in [10, 40] {
        let schemes = ["scream+l4s", "gcc+l4s", "copa+l4s", "vidaptive+l4s"];
        for (how, part) in variants(&beside(mbps, 20, dual(2), cubic), &schemes, mbps) {
            let asked = vec![
                ratio("1.4", Bound::within(0.5, 2.0)),
                wait(0, 0.99, "P99 of waiting, ms", "", Bound::at_most(5.0)),
                wait(1, 0.5, "P50 of waiting of TCP, ms", "15", Bound::within(10.0, 25.0)),
                least(0, mbps, "our least in 5 s, % of the link"),
                least(1, mbps, "TCP's least in 5 s, % of the link"),
                marked(0, "marked, %"),
                alpha(),
                adjusted(),
            ];
            lines.push(line(format!("c {mbps} Mbps{how}"), vec![part], asked));
        }
        let webrtc = QueueConfig::DualPi2Webrtc { target: Span::from_millis(10), link_rate: None };
        let parts = vec![part(beside(mbps, 20, webrtc, cubic), named("scream+l4s", mbps))];
        lines.push(line(format!("c' {mbps} Mbps, libwebrtc's queue"), parts, vec![ratio("", Bound::NONE)]));
        let parts = vec![part(beside(mbps, 20, dual(2), cubic), named("scream+l4s+classic", mbps))];
        lines.push(line(format!("e3 in c, {mbps} Mbps"), parts, vec![never_classic("never")]));
    }
    lines
}

pub(super) fn prague() -> Vec<Line> {
    let prague = ConnectionConfig { congestion: Congestion::Prague, ..ConnectionConfig::default() };
    let mut lines = Vec::new();
    for (mbps, rtt_ms) in [(10, 5), (10, 20), (10, 50), (40, 5), (40, 20), (40, 50)] {
        let scenario = || beside(mbps, rtt_ms, dual(2), prague);
        let name = format!("d {mbps} Mbps, {rtt_ms} ms");
        for (how, part) in variants(&scenario(), &["scream+l4s", "copa+l4s", "vidaptive+l4s"], mbps) {
            let asked = vec![
                ratio("", Bound::within(0.5, 2.0)),
                wait(0, 0.99, "P99 of waiting, ms", "", Bound::at_most(5.0)),
                wait(1, 0.99, "P99 of waiting of TCP, ms", "", Bound::at_most(5.0)),
                marked(0, "marked, %"),
                marked(1, "marked of TCP, %"),
                alpha(),
                adjusted(),
            ];
            lines.push(line(format!("{name}{how}"), vec![part], asked));
        }
        let libwebrtc = vec![part(scenario(), named("scream:libwebrtc+l4s", mbps))];
        lines.push(line(&name, libwebrtc, vec![ratio("", Bound::NONE)]));
        let classic = vec![part(scenario(), named("scream+l4s+classic", mbps))];
        lines.push(line(format!("e3 in {name}"), classic, vec![never_classic("never")]));
    }
    lines
}
