//! The axes that all charts of a case share.

use crate::network::{Network, Phase};
use crate::outcome::{Outcome, Trajectory};

/// Units of a plot's height.
pub(super) const UNITS: f64 = 200.0;
/// How many seeds are drawn at most.
pub(super) const DRAWN: usize = 10;

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axes {
    /// Length, in seconds.
    pub(super) seconds: f64,
    /// The greatest rate above the axis and below it, in Mbps; below there is the way back.
    pub(super) above: f64,
    pub(super) below: f64,
    /// From one tick of the rate to the next, in Mbps.
    pub(super) rate_tick: f64,
    /// The greatest delay, in ms, and from one tick to the next.
    pub(super) delay: f64,
    pub(super) delay_tick: f64,
    /// The first flow's delay without waiting and with full queues, in ms.
    pub(super) lines: Option<(f64, f64)>,
}

impl Axes {
    /// Those of the outcomes of one case.
    pub(super) fn of(outcomes: &[&Outcome]) -> Axes {
        let network = outcomes.iter().find_map(|outcome| outcome.network.as_ref());
        let seconds = outcomes.iter().map(|outcome| outcome.duration_s).fold(1.0, f64::max);
        let drawn = || outcomes.iter().flat_map(|outcome| outcome.trajectories.iter().take(DRAWN));
        let (mut above, mut below) = (0.0_f64, 0.0_f64);
        for trajectory in drawn() {
            for (flow, rates) in curves(trajectory, network) {
                let end = if network.is_some_and(|network| is_back(network, flow)) { &mut below } else { &mut above };
                *end = rates.iter().copied().filter(|rate| rate.is_finite()).fold(*end, f64::max);
            }
            above = trajectory.cross.iter().copied().fold(above, f64::max);
        }
        if let Some(network) = network {
            for (link, back) in shown_links(network, seconds) {
                let greatest = network.links[link].greatest().as_bps_f64() / 1e6;
                let end = if back { &mut below } else { &mut above };
                *end = end.max(greatest);
            }
        }
        let lines = network.and_then(|network| Some((network, network.flows.first()?))).map(|(network, flow)| {
            let queues: f64 = flow.forward.iter().map(|link| network.links[*link].queue.as_millis_f64()).sum();
            let base = flow.one_way.as_millis_f64();
            (base, base + queues)
        });
        let delays = drawn().flat_map(|trajectory| &trajectory.delays).map(|percentiles| percentiles[2]);
        let delay = delays.filter(|delay| delay.is_finite()).fold(lines.map_or(1.0, |lines| lines.1 * 1.02), f64::max);
        let rate_tick = nice((above + below).max(0.01) / 3.0);
        let delay_tick = nice(delay / 3.0);
        let up = |value: f64, tick: f64| (value / tick - 1e-9).ceil().max(0.0) * tick;
        Axes {
            seconds,
            above: up(above.max(0.01), rate_tick),
            below: up(below, rate_tick),
            rate_tick,
            delay: up(delay, delay_tick),
            delay_tick,
            lines,
        }
    }

    /// A rate's place in a plot, from its top; one of the way back is negative.
    pub(super) fn rate(&self, mbps: f64) -> f64 {
        (self.above - mbps) / (self.above + self.below) * UNITS
    }

    /// A delay's place in a plot.
    pub(super) fn late(&self, ms: f64) -> f64 {
        (1.0 - ms / self.delay) * UNITS
    }

    /// The rates with a tick, from the lowest.
    pub(super) fn rates(&self) -> Vec<f64> {
        let [low, high] = [-self.below, self.above].map(|end| (end / self.rate_tick).round() as i64);
        (low..=high).map(|tick| tick as f64 * self.rate_tick).collect()
    }

    /// The delays with a tick.
    pub(super) fn delays(&self) -> Vec<f64> {
        (0..=(self.delay / self.delay_tick).round() as i64).map(|tick| tick as f64 * self.delay_tick).collect()
    }

    /// The times with a tick.
    pub(super) fn times(&self) -> Vec<f64> {
        let tick = nice(self.seconds / 6.0);
        (0..=(self.seconds / tick + 1e-9) as i64).map(|number| number as f64 * tick).collect()
    }
}

/// Curves of the flows, in Mbps: the received rate, or in a scenario of its own, which has one flow under test, the
/// target.
pub(super) fn curves(trajectory: &Trajectory, network: Option<&Network>) -> Vec<(usize, Vec<f64>)> {
    match network {
        Some(_) => trajectory.rates.iter().cloned().enumerate().collect(),
        None => vec![(0, trajectory.target.iter().map(|kbps| kbps / 1e3).collect())],
    }
}

/// Returns true if a flow's media go the way back: over the laboratory's `reverse`, and not its `forward`.
pub(super) fn is_back(network: &Network, flow: usize) -> bool {
    let route = network.flows.get(flow).map_or(&[][..], |flow| &flow.forward);
    route.contains(&1) && !route.contains(&0)
}

/// The links whose capacity is drawn, those that are the narrowest of a flow's at some time, each with whether it is the
/// way back.
pub(super) fn shown_links(network: &Network, seconds: f64) -> Vec<(usize, bool)> {
    let mut links = Vec::new();
    for (number, flow) in network.flows.iter().enumerate() {
        for second in 0..seconds as u64 {
            let rate = |link: &&usize| network.links[**link].rate(second as f64 + 0.5);
            if let Some(link) = flow.forward.iter().min_by_key(rate) {
                let shown = (*link, is_back(network, number));
                if !links.contains(&shown) {
                    links.push(shown);
                }
            }
        }
    }
    links
}

/// When phases of any flow begin, but for the run's begin.
pub(super) fn events(phases: &[Vec<Phase>]) -> Vec<f64> {
    let mut times: Vec<f64> = phases.iter().flatten().map(|phase| phase.from_s).filter(|at| *at > 0.0).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// The least of 1, 2 and 5 times a power of ten that is no less than `value`.
pub(super) fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|nice| *nice >= value * 0.999_999)
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_one_two_or_five_of_a_power_of_ten() {
        assert_eq!([0.7, 1.0, 1.1, 3.0, 60.0].map(nice), [1.0, 1.0, 2.0, 5.0, 100.0]);
    }
}
