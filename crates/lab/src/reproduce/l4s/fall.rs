//! b: the link falls to a third and comes back.

use super::{Asked, Bound, Frames, Line, Observed, Scenario, dual, line, named, never_classic, over, part};

pub(super) const BECAUSE: &[&str] = &[];

const FALL_S: f64 = 15.0;
const RISE_S: f64 = 30.0;
const END_S: f64 = 45.0;

fn scenario() -> Scenario {
    over("10Mbps@15s/3Mbps@15s/10Mbps", 20, dual(0), Frames::Even, END_S as i64)
}

fn longest(run: &Observed) -> f64 {
    run.wait_ms(0, FALL_S..RISE_S, 1.0)
}

/// With marks in the first run, and without in the second.
fn asked() -> Vec<Asked> {
    vec![
        Asked::new("longest wait, ms", "123", Bound::at_most(200.0), |runs| longest(&runs[0])),
        Asked::new("over that without ECN", "0.39", Bound::at_most(0.6), |runs| longest(&runs[0]) / longest(&runs[1])),
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
        Asked::new("P95 of latency without ECN, ms", "74", Bound::NONE, |runs| runs[1].latency_p95_ms()),
    ]
}

pub(super) fn lines() -> Vec<Line> {
    let mut lines =
        vec![line("b", ["scream+l4s", "scream"].map(|scheme| part(scenario(), named(scheme, 10))).into(), asked())];
    for scheme in ["gcc", "copa", "vidaptive", "bbr", "camel"] {
        let capped = format!("{scheme}+l4s");
        let parts = [capped.as_str(), scheme].map(|scheme| part(scenario(), named(scheme, 10)));
        lines.push(line("b under a cap (3.8)", parts.into(), asked()));
    }
    let classic = part(scenario(), named("scream+l4s+classic", 10));
    lines.push(line("e3 in b", vec![classic], vec![never_classic("never")]));
    lines
}
