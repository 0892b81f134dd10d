//! RFC 8867's cases over a dual queue that marks (RFC 9332) in place of one that drops: what a path with L4S changes.

use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};

use super::wired;
use crate::bar::Bar;
use crate::case::{Aqm, Case, Setting};
use crate::measure::Figure;
use crate::network::Traffic;
use crate::range::{Range, range};

/// Waiting in queues, in ms: at 1 Mbps two packets, below which nothing is marked, take 24.
const MUST_WAIT: Range = range(0.0, 100.0);
const SHOULD_WAIT: Range = range(0.0, 40.0);

/// Every case: the wired ones, but for those that are about drop-tail queues or weights, and one beside Prague.
pub(super) fn cases() -> Vec<Case> {
    let is_left_out = |case: &Case| case.id == "5.6-1000ms" || case.needs_weights;
    let cases = wired::cases().into_iter().filter(|case| !is_left_out(case));
    cases
        .flat_map(|case| {
            if case.id == "5.6" { vec![over_marks(&case), beside_prague(&case)] } else { vec![over_marks(&case)] }
        })
        .collect()
}

/// The same case, which asks for shorter queues where it asks for queues. Cubic and Reno have a queue of their own.
fn over_marks(case: &Case) -> Case {
    let waits = |bar: &Bar| bar.figure == Figure::QueueP95;
    let bars = case.bars.iter().map(|bar| match bar {
        bar if waits(bar) => Bar {
            must: range(bar.must.low, bar.must.high.min(MUST_WAIT.high)),
            should: range(bar.should.low, bar.should.high.min(SHOULD_WAIT.high)),
            ..bar.clone()
        },
        bar => bar.clone(),
    });
    Case {
        id: format!("l4s-{}", case.id),
        title: format!("{}, queues that mark", case.title),
        aqm: Aqm::DualPi2,
        bars: bars.collect(),
        ..case.clone()
    }
}

/// Beside a TCP that shares the queue for low latency.
fn beside_prague(case: &Case) -> Case {
    let mut prague = over_marks(case);
    (prague.id, prague.title) = ("l4s-5.6-prague".into(), "against a long TCP Prague, queues that mark".into());
    if let Setting::Network(network) = &mut prague.setting {
        for cross in &mut network.cross {
            if let Traffic::Tcp(config) = &mut cross.traffic {
                config.connection = ConnectionConfig { congestion: Congestion::Prague, ..ConnectionConfig::default() };
            }
        }
    }
    prague
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_the_wired_ones_with_shorter_queues_asked_for() {
        let cases = cases();
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "l4s-5.1",
                "l4s-5.1-100ms",
                "l4s-5.2",
                "l4s-5.3",
                "l4s-5.4",
                "l4s-5.5",
                "l4s-5.6",
                "l4s-5.6-prague",
                "l4s-5.7",
                "l4s-5.8",
                "l4s-6.3"
            ]
        );
        for case in &cases {
            assert_eq!(case.aqm, Aqm::DualPi2);
            let waits = case.bars.iter().filter(|bar| bar.figure == Figure::QueueP95);
            assert!(waits.into_iter().all(|bar| bar.must.high <= 100.0 && bar.should.high <= 40.0), "{}", case.id);
        }
    }
}
