//! Who else uses the path.

use thalweg_link::{Datagrams, Link, Path};
use thalweg_sender::Scheme;
use thalweg_units::Time;

use super::SimulateError;
use super::flow::Session;
use super::network::{Cargo, Parcel};
use crate::scenario::{Competitor, Scenario};

/// The competing senders of a scenario, as flows from 1 on, each with its scheme.
pub(super) fn senders(scenario: &Scenario, end: Time) -> Result<Vec<(Session<'_>, Scheme)>, SimulateError> {
    let mut senders = Vec::new();
    for competitor in &scenario.competitors {
        let Competitor::Sender(sender) = competitor else { continue };
        let scheme: Scheme = sender
            .scheme
            .parse()
            .map_err(|unknown| SimulateError::Scenario(format!("competitors.sender.scheme: {unknown}")))?;
        let begin = Time::ZERO + sender.from;
        let end = sender.until.map_or(end, |until| end.min(Time::ZERO + until));
        if begin >= end {
            let (from, until) = (sender.from, end.since_start());
            let problem = format!("a competing {} would begin at {from} and stop at {until}", sender.scheme);
            return Err(SimulateError::Scenario(format!("{problem}: it must begin before it stops and the run ends")));
        }
        let number = senders.len() as u16 + 1;
        let video = sender.video.as_ref().unwrap_or(&scenario.video);
        senders.push((Session { number, video, begin, end }, scheme));
    }
    Ok(senders)
}

/// The sources of datagrams, by the number of the flow that their records carry.
pub(super) struct CrossTraffic(Vec<(u16, Datagrams)>);

impl CrossTraffic {
    /// Those of the scenario; their flows count on from `first`.
    pub(super) fn new(scenario: &Scenario, first: usize) -> Result<CrossTraffic, SimulateError> {
        let configs = scenario.competitors.iter().filter_map(|competitor| match competitor {
            Competitor::Datagrams(config) => Some(config),
            Competitor::Sender(_) => None,
        });
        let sources = configs.zip(first..).map(|(config, number)| {
            Ok((number as u16, config.build(scenario.seed.child(&format!("cross traffic {number}")))?))
        });
        sources.collect::<Result<_, SimulateError>>().map(CrossTraffic)
    }

    pub(super) fn next_event(&self) -> Time {
        self.0.iter().map(|(_, source)| source.next_event()).min().unwrap_or(Time::NEVER)
    }

    /// What is due enters the path.
    pub(super) fn offer(&mut self, now: Time, up: &mut Path<Parcel>) {
        for (flow, source) in &mut self.0 {
            while let Some(size) = source.poll(now) {
                up.offer(now, size, Parcel { flow: *flow, cargo: Cargo::Datagram });
            }
        }
    }
}
