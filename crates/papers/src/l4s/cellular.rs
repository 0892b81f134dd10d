//! f: recorded cellular links, whose queues mark at their exits by a ramp, or at their entrances by what is predicted.

use thalweg_netsim::queue::{Limits, Marker};
use thalweg_netsim::{HopConfig, QueueConfig};
use thalweg_units::Bytes;

use super::super::links::RECORDED;
use super::{Asked, Bound, Frames, LENGTH, Line, Observed, Scenario, line, named, over, part};

pub(super) const BECAUSE: &[&str] =
    &["a fade marks all that waits, and the draft's average takes a hundred round trips to forget it (docs/l4s.md)"];

const LIMITS: Limits = Limits::bytes(Bytes::new(10_000_000));

fn behind(trace: &str, queue: QueueConfig) -> Scenario {
    let mut scenario = over("10Mbps", 50, QueueConfig::Infinite, Frames::Modelled, LENGTH);
    scenario.forward.hops[0] = HopConfig::Bottleneck { trace: trace.into(), queue, once: false };
    scenario
}

/// How many runs there are over a link: with the ramp, without ECN, with the prediction.
const EACH: usize = 3;
const RAMPED: usize = 0;
const PLAIN: usize = 1;
const PREDICTED: usize = 2;

/// P95 of latency of one of a link's runs over that without ECN.
fn latency(runs: &[Observed], link: usize, run: usize) -> f64 {
    runs[EACH * link + run].latency_p95_ms() / runs[EACH * link + PLAIN].latency_p95_ms()
}

fn rate(runs: &[Observed], link: usize, run: usize) -> f64 {
    let of = |run: &Observed| run.mbps(0, run.whole());
    of(&runs[EACH * link + run]) / of(&runs[EACH * link + PLAIN])
}

pub(super) fn lines() -> Vec<Line> {
    let lines =
        [("scream", "scream+l4s"), ("gcc", "gcc+l4s"), ("vidaptive", "vidaptive+l4s")].map(|(plain, marked)| {
            let ramp =
                || QueueConfig::Marking { limits: LIMITS, marker: Marker::RADIO, only_ect1: false, least_packets: 0 };
            let predictive = || QueueConfig::Predictive { limits: LIMITS, marker: Marker::RADIO };
            let over = |trace: &&str| {
                [
                    part(behind(trace, ramp()), named(marked, 10)),
                    part(behind(trace, ramp()), named(plain, 10)),
                    part(behind(trace, predictive()), named(marked, 10)),
                ]
            };
            let parts: Vec<_> = RECORDED.iter().flat_map(over).collect();
            let links = RECORDED.len();
            let mean = move |of: fn(&[Observed], usize, usize) -> f64, run: usize| {
                move |runs: &[Observed]| (0..links).map(|link| of(runs, link, run)).sum::<f64>() / links as f64
            };
            let mut asked = vec![
                Asked::new("P95 of latency, ramp, mean", "0.65", Bound::at_most(0.8), mean(latency, RAMPED)),
                Asked::new("rate, ramp, mean", "0.75", Bound::at_least(0.7), mean(rate, RAMPED)),
                Asked::new("P95 of latency, predictive, mean", "", Bound::NONE, mean(latency, PREDICTED)),
                Asked::new("rate, predictive, mean", "", Bound::NONE, mean(rate, PREDICTED)),
            ];
            for (link, trace) in RECORDED.iter().enumerate() {
                let one = Bound::at_most(1.05);
                asked.push(Asked::new(format!("P95 of latency, {trace}"), "", one, move |runs| {
                    latency(runs, link, RAMPED)
                }));
                asked.push(Asked::new(format!("rate, {trace}"), "", Bound::NONE, move |runs| rate(runs, link, RAMPED)));
                asked.push(Asked::new(
                    format!("predictive over ramp, {trace}"),
                    "",
                    Bound::at_most(1.0),
                    move |runs| latency(runs, link, PREDICTED) / latency(runs, link, RAMPED),
                ));
            }
            line(format!("f {marked} over {plain}"), parts, asked)
        });
    lines.into()
}
