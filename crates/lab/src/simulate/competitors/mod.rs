//! Competitors on the path.

mod figures;
mod traffic;

use thalweg_units::{Span, Time};

use super::SimulateError;
use super::flow::Session;
use crate::scenario::{Competitor, Pause, Paused, Scenario, Video};
pub(super) use figures::others;
pub(super) use traffic::CrossTraffic;

/// The session of the sender under test.
pub(super) fn tested(scenario: &Scenario, end: Time) -> Result<Session<'_>, SimulateError> {
    session(scenario, (0, "sender under test"), &scenario.video, (scenario.from, scenario.until), end)
}

/// The session of video sender `number`, which is there during `times` and not after `end`.
fn session<'a>(
    scenario: &Scenario,
    (number, name): (u16, &str),
    video: &'a Video,
    times: (Span, Option<Span>),
    end: Time,
) -> Result<Session<'a>, SimulateError> {
    let (begin, end) = (Time::ZERO + times.0, times.1.map_or(end, |until| end.min(Time::ZERO + until)));
    if begin >= end {
        let (from, until) = (times.0, end.since_start());
        let problem = format!("a {name} would begin at {from} and stop at {until}");
        return Err(SimulateError::Scenario(format!("{problem}: it must begin before it stops and the run ends")));
    }
    let off = |source| pauses(scenario, number, source);
    Ok(Session {
        number,
        video,
        begin,
        end,
        camera_off: off(Paused::Camera)?,
        microphone_off: off(Paused::Microphone)?,
    })
}

/// When `source`, the camera or the microphone of a video sender, is off, in order.
fn pauses(scenario: &Scenario, number: u16, source: Paused) -> Result<Vec<(Time, Time)>, SimulateError> {
    let mut pauses: Vec<(Time, Time)> = Vec::new();
    let of = |pause: &&Pause| pause.flow == number && (pause.what == source || pause.what == Paused::Both);
    for pause in scenario.pauses.iter().filter(of) {
        let (from, until) = (Time::ZERO + pause.from, Time::ZERO + pause.until);
        if from >= until || pauses.last().is_some_and(|last| last.1 >= from) {
            let problem = format!("flow {number} would pause from {} until {}", pause.from, pause.until);
            return Err(SimulateError::Scenario(format!(
                "{problem}: a pause ends after it begins and before the next"
            )));
        }
        pauses.push((from, until));
    }
    Ok(pauses)
}

/// The competing senders of a scenario, as flows from 1 on, each with the name of its scheme.
pub(super) fn senders(scenario: &Scenario, end: Time) -> Result<Vec<(Session<'_>, &str)>, SimulateError> {
    let mut senders = Vec::new();
    for competitor in &scenario.competitors {
        let Competitor::Sender(sender) = competitor else { continue };
        let number = senders.len() as u16 + 1;
        let video = sender.video.as_ref().unwrap_or(&scenario.video);
        let name = format!("competing {}", sender.scheme);
        let session = session(scenario, (number, &name), video, (sender.from, sender.until), end)?;
        senders.push((session, sender.scheme.as_str()));
    }
    Ok(senders)
}
