//! b: the link falls to a third and comes back.

use thalweg_netsim::QueueConfig;

use super::{Asked, Bound, Frames, Line, Observed, Part, Scenario, dual, line, named, never_classic, over, part};

pub(super) const BECAUSE: &[&str] = &[];

const FALL_S: f64 = 15.0;
const RISE_S: f64 = 30.0;
const END_S: f64 = 45.0;

fn over_queue(queue: QueueConfig) -> Scenario {
    over("10Mbps@15s/3Mbps@15s/10Mbps", 20, queue, Frames::Even, END_S as i64)
}

fn scenario() -> Scenario {
    over_queue(dual(0))
}

/// With marks, without in the same queue, and without in one that never drops.
fn parts(marked: &str, plain: &str) -> Vec<Part> {
    let endless = part(over_queue(QueueConfig::Infinite), named(plain, 10));
    vec![part(scenario(), named(marked, 10)), part(scenario(), named(plain, 10)), endless]
}

fn longest(run: &Observed) -> f64 {
    run.wait_ms(0, FALL_S..RISE_S, 1.0)
}

fn asked() -> Vec<Asked> {
    vec![
        Asked::new("longest wait, ms", "123", Bound::at_most(200.0), |runs| longest(&runs[0])),
        Asked::new("over that without ECN, endless queue", "0.39", Bound::at_most(0.6), |runs| {
            longest(&runs[0]) / longest(&runs[2])
        }),
        Asked::new("over that without ECN, DualPI2", "", Bound::NONE, |runs| longest(&runs[0]) / longest(&runs[1])),
        Asked::new("P99 of waiting, whole run, ms", "2", Bound::at_most(15.0), |runs| {
            runs[0].wait_ms(0, runs[0].whole(), 0.99)
        }),
        Asked::new("below 5 ms again after, ms", "", Bound::at_most(500.0), |runs| {
            runs[0].ms_until_wait_below(0, FALL_S..RISE_S, 5.0)
        }),
        Asked::new("8 Mbps again after, s", "", Bound::at_most(5.0), |runs| {
            runs[0].seconds_until_mbps(0, RISE_S..END_S, 8.0)
        }),
        Asked::new("P95 of latency, ms", "52", Bound::NONE, |runs| runs[0].latency_p95_ms()),
        Asked::new("P95 of latency without ECN, ms", "74", Bound::NONE, |runs| runs[2].latency_p95_ms()),
    ]
}

pub(super) fn lines() -> Vec<Line> {
    let mut lines = vec![line("b", parts("scream+l4s", "scream"), asked())];
    for scheme in ["gcc", "copa", "vidaptive", "bbr", "camel"] {
        lines.push(line("b under a cap (3.8)", parts(&format!("{scheme}+l4s"), scheme), asked()));
    }
    let classic = part(scenario(), named("scream+l4s+classic", 10));
    lines.push(line("e3 in b", vec![classic], vec![never_classic("never")]));
    lines
}
