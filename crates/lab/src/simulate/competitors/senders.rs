//! Competing video senders.

use thalweg_units::Time;

use crate::scenario::{Competitor, Scenario};
use crate::simulate::SimulateError;
use crate::simulate::flow::Session;

/// The competing senders of a scenario, as flows from 1 on, each with the name of its scheme.
pub(in crate::simulate) fn senders(scenario: &Scenario, end: Time) -> Result<Vec<(Session<'_>, &str)>, SimulateError> {
    let mut senders = Vec::new();
    for competitor in &scenario.competitors {
        let Competitor::Sender(sender) = competitor else { continue };
        let begin = Time::ZERO + sender.from;
        let end = sender.until.map_or(end, |until| end.min(Time::ZERO + until));
        if begin >= end {
            let (from, until) = (sender.from, end.since_start());
            let problem = format!("a competing {} would begin at {from} and stop at {until}", sender.scheme);
            return Err(SimulateError::Scenario(format!("{problem}: it must begin before it stops and the run ends")));
        }
        let number = senders.len() as u16 + 1;
        let video = sender.video.as_ref().unwrap_or(&scenario.video);
        senders.push((Session { number, video, begin, end }, sender.scheme.as_str()));
    }
    Ok(senders)
}
