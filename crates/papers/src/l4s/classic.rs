//! e1 to e3: queues that drop, and a queue that takes ECT(1) for ECT(0).

use thalweg_netsim::queue::Limits;
use thalweg_netsim::traffic::tcp::ConnectionConfig;
use thalweg_netsim::{QueueConfig, TcpConfig};
use thalweg_units::Span;

use super::{Asked, Bound, Frames, LENGTH, Line, Scenario, line, named, over, part, warm};
use thalweg_lab::scenario::Competitor;

pub(super) const BECAUSE: &[&str] = &[];

/// From here on the fallback is judged, in seconds.
const FROM_S: f64 = 15.0;

/// e1: with ECT(1), and without.
fn dropping(name: &str, queue: QueueConfig) -> Line {
    let scenario = || over("10Mbps", 20, queue, Frames::Modelled, LENGTH);
    let parts = ["scream+l4s", "scream"].map(|scheme| part(scenario(), named(scheme, 10)));
    let asked = vec![
        Asked::new("rate over that without ECN", "1", Bound::within(0.95, 1.05), |runs| {
            runs[0].mbps(0, warm(&runs[0])) / runs[1].mbps(0, warm(&runs[1]))
        }),
        Asked::new("P95 of latency over that without", "1", Bound::within(0.9, 1.1), |runs| {
            runs[0].latency_p95_ms() / runs[1].latency_p95_ms()
        }),
        Asked::new("marks", "0", Bound::at_most(0.0), |runs| runs[0].marks(0, runs[0].whole())),
    ];
    line(format!("e1 {name}"), parts.into(), asked)
}

/// One queue with marks for all, beside Cubic with ECN.
fn shared() -> Scenario {
    let [target, interval] = [5, 100].map(Span::from_millis);
    let queue = QueueConfig::CodelEcn { limits: Limits::packets(1000), target, interval, threshold: None };
    let connection = ConnectionConfig { ecn: true, ..ConnectionConfig::default() };
    let tcp = Competitor::Tcp(TcpConfig { connection, ..TcpConfig::default() });
    Scenario { competitors: vec![tcp], ..over("10Mbps", 20, queue, Frames::Modelled, LENGTH) }
}

fn ratio(expected: &'static str, bound: Bound) -> Asked {
    Asked::new("our rate over Cubic's", expected, bound, |runs| {
        let [ours, theirs] = [0, 1].map(|flow| runs[0].mbps(flow, FROM_S..LENGTH as f64));
        ours / theirs
    })
}

fn marked() -> Asked {
    Asked::new("marked, %", "1", Bound::NONE, |runs| runs[0].marked(0, FROM_S..LENGTH as f64) * 100.0)
}

/// From the first mark on, until the queue is taken for a classic one.
fn noticed(bound: Bound) -> Asked {
    Asked::new("noticed after, s", "", bound, |runs| {
        let first = runs[0].variable("classic_aqm", runs[0].whole()).find(|(_, value)| *value > 0.0);
        first.map_or(f64::NAN, |(at, _)| at - runs[0].first_mark_s(0))
    })
}

pub(super) fn lines() -> Vec<Line> {
    let limits = Limits::packets(1000);
    let [target, interval] = [5, 100].map(Span::from_millis);
    let [reference, max_burst] = [15, 150].map(Span::from_millis);
    let mut lines = vec![
        dropping("CoDel", QueueConfig::Codel { limits, target, interval }),
        dropping("PIE", QueueConfig::Pie { limits, reference, max_burst }),
    ];
    for scheme in ["scream+l4s", "copa+l4s", "vidaptive+l4s"] {
        let asked = vec![ratio("16, above 3", Bound::NONE), marked()];
        lines.push(line("e2 nothing notices", vec![part(shared(), named(scheme, 10))], asked));
        let noticing = format!("{scheme}+classic");
        // The others yield to the queue's delay by themselves: they have less than Cubic whatever they do about marks.
        let is_judged = scheme == "scream+l4s";
        let asked = if is_judged {
            vec![ratio("", Bound::within(1.0 / 3.0, 3.0)), noticed(Bound::at_most(5.0)), marked()]
        } else {
            vec![ratio("", Bound::NONE), noticed(Bound::NONE), marked()]
        };
        lines.push(line("e3 it is noticed", vec![part(shared(), named(&noticing, 10))], asked));
    }
    lines
}
