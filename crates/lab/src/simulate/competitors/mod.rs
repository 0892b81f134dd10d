//! Competitors on the path.

mod figures;
mod traffic;

use thalweg_units::Time;

use super::SimulateError;
use super::flow::Session;
use crate::scenario::{Competitor, Scenario};
pub(super) use figures::others;
pub(super) use traffic::CrossTraffic;

/// The competing senders of a scenario, as flows from 1 on, each with the name of its scheme.
pub(super) fn senders(scenario: &Scenario, end: Time) -> Result<Vec<(Session<'_>, &str)>, SimulateError> {
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
