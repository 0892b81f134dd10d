//! Changes during a run, in order of time.

use std::collections::VecDeque;

use thalweg_control::{Demand, Signal};
use thalweg_netsim::Change as LinkChange;
use thalweg_units::{Rate, Span, Time};

use super::SimulateError;
use super::flow::Flow;
use super::network::Network;
use crate::record::Recorder;
use crate::scenario::{Change, Scenario, What};

/// The changes to come.
#[derive(Debug)]
pub(super) struct Changes(VecDeque<(Time, What)>);

impl Changes {
    /// The scenario's changes.
    ///
    /// # Errors
    /// When they are not in order, or name a link or a flow that does not exist.
    pub(super) fn new(scenario: &Scenario, network: &Network, senders: usize) -> Result<Changes, SimulateError> {
        let problem = |problem: String| Err(SimulateError::Scenario(problem));
        if !scenario.changes.is_sorted_by_key(|change| change.at) {
            return problem("changes are not in order of time: sort them".to_string());
        }
        for Change { at, what } in &scenario.changes {
            let flow = match what {
                What::Link { name, rate, delay, loss } => {
                    network.check_link(name)?;
                    if rate.is_none() && delay.is_none() && loss.is_none() {
                        return problem(format!(
                            "the change of link '{name}' at {at} changes nothing: give rate, delay or loss"
                        ));
                    }
                    if *rate == Some(Rate::ZERO) {
                        return problem(format!(
                            "the rate of link '{name}' at {at} is 0: write a halt into its rates, such as 1Mbps@10s/0bps@1s/1Mbps"
                        ));
                    }
                    if delay.is_some_and(|delay| delay < Span::ZERO) {
                        return problem(format!("the delay of link '{name}' at {at} is negative"));
                    }
                    if loss.is_some_and(|loss| !(0.0..=1.0).contains(&loss)) {
                        return problem(format!("the loss of link '{name}' at {at} is not within 0 to 1"));
                    }
                    continue;
                }
                What::Route { route, .. } => {
                    network.check_route(route)?;
                    route.flow
                }
                What::ReceiverLimit { rate: Some(Rate::ZERO), .. } => {
                    return problem(format!(
                        "the receiver's limit at {at} is 0: write one above 0, or none for no limit; a camera is off in pauses"
                    ));
                }
                What::ReceiverLimit { flow, .. } => *flow,
                What::Bounds { flow, min, max } => {
                    if min > max || *max == Rate::ZERO {
                        let why = if min > max { "min is above max" } else { "max must be above 0" };
                        return problem(format!("the bounds at {at} are {min} to {max}: {why}"));
                    }
                    *flow
                }
            };
            if usize::from(flow) >= senders {
                let last = senders - 1;
                return problem(format!("flow {flow} has a change at {at}, and video senders are flows 0 to {last}"));
            }
        }
        Ok(Changes(scenario.changes.iter().map(|change| (Time::ZERO + change.at, change.what.clone())).collect()))
    }

    /// When the next change comes.
    pub(super) fn next_event(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Makes the changes that are due.
    pub(super) fn apply(
        &mut self,
        now: Time,
        flows: &mut [Flow],
        network: &mut Network,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        while self.next_event() <= now {
            let Some((_, what)) = self.0.pop_front() else { break };
            let (flow, signal) = match what {
                What::Link { name, rate, delay, loss } => {
                    let parts = [
                        rate.map(|rate| LinkChange::Rate(Some(rate))),
                        delay.map(LinkChange::Delay),
                        loss.map(LinkChange::Loss),
                    ];
                    for part in parts.into_iter().flatten() {
                        network.change(now, &name, &part)?;
                    }
                    continue;
                }
                What::Route { route, adapter } => {
                    network.route(now, &route)?;
                    (route.flow, Signal::RouteChanged { adapter })
                }
                What::ReceiverLimit { flow, rate } => (flow, Signal::ReceiverLimit(rate)),
                What::Bounds { flow, min, max } => (flow, Signal::Bounds(Demand { min, max })),
            };
            flows[usize::from(flow)].on_signal(now, signal, network, recorder)?;
        }
        Ok(())
    }
}
