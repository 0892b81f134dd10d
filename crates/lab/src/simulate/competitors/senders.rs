//! Other senders of video.

use thalweg_sender::Scheme;
use thalweg_units::Time;

use crate::scenario::{Competitor, Scenario};
use crate::simulate::SimulateError;
use crate::simulate::flow::Session;

/// The competing senders of a scenario, as flows from 1 on, each with its scheme. One of the name of the scheme under test is that very
/// scheme, with whatever was changed in it.
pub(in crate::simulate) fn senders<'a>(
    scenario: &'a Scenario,
    tested: &Scheme,
    end: Time,
) -> Result<Vec<(Session<'a>, Scheme)>, SimulateError> {
    let mut senders = Vec::new();
    for competitor in &scenario.competitors {
        let Competitor::Sender(sender) = competitor else { continue };
        let scheme = if sender.scheme == tested.name {
            tested.clone()
        } else {
            let unknown = |unknown| SimulateError::Scenario(format!("competitors.sender.scheme: {unknown}"));
            sender.scheme.parse::<Scheme>().map_err(unknown)?
        };
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
