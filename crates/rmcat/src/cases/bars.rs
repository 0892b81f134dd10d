//! The bars that every network's flows have (specs/rmcat.md 3), from their phases.

use thalweg_units::Span;

use crate::bar::Bar;
use crate::measure::Figure;
use crate::network::{Event, Network, Phase};
use crate::range::range;

/// How long after a fall its loss is counted, in seconds (specs/rmcat.md 3).
const AFTER_FALL_S: f64 = 5.0;
/// From how long after the begin of the first flow the whole run counts, in seconds.
const USE_OF_RUN_FROM_S: f64 = 10.0;

/// The bars of section 3 for a network that is played until `end`. `slack` widens those on times: 1.5 for a propagation
/// of 100 ms, 1 for 50.
pub(super) fn usual(network: &Network, end: Span, wire_bps: f64, slack: f64) -> Vec<Bar> {
    let mut bars = Vec::new();
    for flow in 0..network.flows.len() {
        let phases = network.phases(flow, end.as_secs_f64(), wire_bps);
        for phase in &phases {
            bars.extend(of_phase(phase, flow, wire_bps, slack));
        }
        let (from, until) = network.flows[flow].times;
        let whole = (from, until.min(end.as_secs_f64()));
        let mut bar = |figure, window, must, should| bars.push(Bar::new(figure, Some(flow), window, must, should));
        bar(Figure::Oscillation, whole, range(0.0, 8.0), range(0.0, 2.0));
        bar(Figure::Variation, whole, range(0.0, 0.30), range(0.0, 0.12));
        bar(Figure::Overhead, whole, range(0.1, 10.0), range(0.1, 5.0));
    }
    let end = end.as_secs_f64();
    let first = network.flows.iter().map(|flow| flow.times.0).fold(end, f64::min);
    let last = network.flows.iter().map(|flow| flow.times.1).fold(0.0, f64::max).min(end);
    let whole = (first + USE_OF_RUN_FROM_S, last);
    bars.push(Bar::new(Figure::UseOfRun, None, whole, range(0.65, 1.01), range(0.85, 1.01)));
    bars
}

fn of_phase(phase: &Phase, flow: usize, wire_bps: f64, slack: f64) -> Vec<Bar> {
    let (settled, whole) = (phase.settled(), (phase.from_s, phase.until_s));
    let bar = |figure, window, must, should| Bar::new(figure, Some(flow), window, must, should);
    let mut bars = match phase.begins {
        Event::Start => {
            vec![bar(Figure::Rise, whole, range(1.0, 30.0 * slack), range(1.0, 10.0 * slack))]
        }
        Event::Rise | Event::Resume => {
            vec![bar(Figure::Rise, whole, range(0.2, 14.0 * slack), range(0.2, 8.0 * slack))]
        }
        Event::Fall => {
            let after = (phase.from_s, phase.until_s.min(phase.from_s + AFTER_FALL_S));
            vec![
                bar(Figure::Fall, whole, range(0.1, 8.0 * slack), range(0.1, 3.0 * slack)),
                bar(Figure::LossAfterFall, after, range(0.0, 15.0), range(0.0, 5.0)),
            ]
        }
        Event::Other => Vec::new(),
    };
    bars.push(bar(Figure::Use, settled, range(0.70, 1.03), range(0.85, 1.01)));
    bars.push(
        if phase.capacity_bps > wire_bps * 1.2 * phase.flows as f64 && phase.attainable_bps >= wire_bps * 0.999 {
            // The link is not full (specs/rmcat.md 4, case 5.1 from 40 to 60 s).
            bar(Figure::QueueP95, settled, range(0.0, 60.0), range(0.0, 25.0))
        } else {
            bar(Figure::QueueP95, settled, range(0.0, 200.0), range(0.0, 60.0))
        },
    );
    bars.push(bar(Figure::QueueP05, settled, range(0.0, 100.0), range(0.0, 20.0)));
    bars.push(bar(Figure::Loss, settled, range(0.0, 1.0), range(0.0, 0.1)));
    bars
}

/// Equal shares within `window` (specs/rmcat.md 3).
pub(super) fn fairness(window: (f64, f64)) -> [Bar; 2] {
    [
        Bar::new(Figure::Ratio, None, window, range(1.0, 3.0), range(1.0, 1.5)),
        Bar::new(Figure::Jain, None, window, range(0.75, 1.0), range(0.95, 1.0)),
    ]
}

/// Gives the bars of these flows on `figure`, within the phase that begins at `from_s`, other ranges.
pub(super) fn replace(bars: &mut [Bar], figure: &Figure, flows: &[usize], from_s: f64, ranges: [(f64, f64); 2]) {
    let [must, should] = ranges.map(|(low, high)| range(low, high));
    let chosen = bars.iter_mut().filter(|bar| {
        bar.figure == *figure && bar.flow.is_some_and(|flow| flows.contains(&flow)) && bar.window.0 == from_s
    });
    let mut count = 0;
    for bar in chosen {
        (bar.must, bar.should) = (must, should);
        count += 1;
    }
    debug_assert!(count > 0, "no bar on {} begins at {from_s} s", figure.name());
}
