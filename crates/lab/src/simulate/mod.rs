//! Playing a scenario in virtual time.
//!
//! Nothing here reads a clock: time goes to the next instant at which anything happens. At one instant, things happen in this
//! order: cross traffic enters; packets come out of the forward path; receivers answer; reports and acknowledgements come out of the
//! backward path; decoded frames are shown; encoded frames are queued; cameras are read; senders' timers go off.

mod asking;
mod competitors;
mod flow;
mod frames;
mod ledger;
mod network;
mod on_the_way;
mod sharing;
mod summarize;

use std::sync::Arc;

use thalweg_codecs::{DecodeError, EncodeError};
use thalweg_link::{Link, PathError, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Span, Time};
use thalweg_video::source::SourceError;

use crate::outcome::Outcome;
use crate::record::{Record, Recorder, What};
use crate::scenario::Scenario;
use competitors::CrossTraffic;
use flow::{Flow, Session};
use network::{Answer, Cargo, Content, Network, Parcel};
use thalweg_receiver::Request;

pub use frames::{Encoded, Frames};
pub use summarize::{Played, summarize};

/// A run could not be played.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A parameter of a scheme or of cross traffic is out of range.
    #[error("{0}")]
    Config(#[from] thalweg_units::ConfigError),
    /// The path cannot be built.
    #[error("path: {0}")]
    Path(String),
    /// The video cannot be read.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The encoder refused.
    #[error("encoder: {0}")]
    Encode(#[from] EncodeError),
    /// The decoder refused a frame that came whole.
    #[error("decoder: {0}")]
    Decode(#[from] DecodeError),
    /// The scenario asks for something that makes no sense.
    #[error("{0}")]
    Scenario(String),
}

/// Finds a trace by the name a scenario gives it.
pub type FindTrace<'a> = dyn FnMut(&str) -> Result<Arc<Trace>, String> + 'a;

/// What a run gave.
pub struct Run {
    /// Figures and series of the sender under test.
    pub outcome: Outcome,
    /// The same of each competing sender, in the scenario's order.
    pub competitors: Vec<Outcome>,
    /// Every event.
    pub recorder: Recorder,
}

/// Plays `scenario` for one scheme. `find` gives traces by name; `progress` is told the virtual time now and then.
///
/// # Errors
/// When something the scenario names cannot be found, read or built, with what to do about it.
pub fn simulate(
    scenario: &Scenario,
    scheme: &Scheme,
    find: &mut FindTrace<'_>,
    progress: &mut dyn FnMut(Time),
) -> Result<Run, SimulateError> {
    let end = Time::ZERO + scenario.duration;
    if end == Time::ZERO {
        return Err(SimulateError::Scenario(format!(
            "duration is {}, must be longer than 0, such as 60s",
            scenario.duration
        )));
    }
    let path_error = |error: PathError<String>| SimulateError::Path(error.to_string());
    let up = scenario.up.build(scenario.seed.child("up"), find).map_err(path_error)?;
    let down = scenario.down.build(scenario.seed.child("down"), find).map_err(path_error)?;
    let mut network = Network { up, down };
    let mut recorder = Recorder::default();
    let whole = Session { number: 0, video: &scenario.video, begin: Time::ZERO, end };
    let mut flows = vec![Flow::new(whole, scenario, scheme)?];
    let mut schemes = vec![scheme.clone()];
    for (session, scheme) in competitors::senders(scenario, scheme, end)? {
        flows.push(Flow::new(session, scenario, &scheme)?);
        schemes.push(scheme);
    }
    let mut cross = CrossTraffic::new(scenario, flows.len())?;
    let mut told = Time::ZERO;
    loop {
        let next = flows.iter().map(Flow::next_event).min().unwrap_or(Time::NEVER);
        let now = next.min(network.up.next_event()).min(network.down.next_event()).min(cross.next_event());
        if now >= end {
            break;
        }
        if now - told >= Span::from_millis(500) {
            told = now;
            progress(now);
        }
        step(now, &mut network, &mut flows, &mut cross, &mut recorder)?;
    }
    progress(end);
    let capacity = network.up.bottlenecks().first().cloned();
    let mut outcomes = flows.into_iter().zip(&schemes).map(|(flow, scheme)| {
        let (played, ledger) = flow.into_played();
        let there = (played.begin.as_secs_f64(), played.end.as_secs_f64());
        let mut outcome = summarize(scenario, scheme, played, &recorder, capacity.as_ref());
        let (delivery, redundancy) = ledger.figures(&outcome.series, there);
        (outcome.summary.delivery, outcome.summary.redundancy) = (Some(delivery), redundancy);
        outcome
    });
    let Some(mut outcome) = outcomes.next() else { unreachable!("the sender under test is a flow") };
    let competitors: Vec<Outcome> = outcomes.collect();
    competitors::others(&mut outcome, &competitors, &cross, &recorder, end);
    outcome.summary.sharing = sharing::sharing(scenario, &outcome);
    outcome.summary.tcp = sharing::tcp(&outcome);
    Ok(Run { outcome, competitors, recorder })
}

fn step(
    now: Time,
    network: &mut Network,
    flows: &mut [Flow],
    cross: &mut CrossTraffic,
    recorder: &mut Recorder,
) -> Result<(), SimulateError> {
    cross.offer(now, network, recorder);
    while let Some(left) = network.up.poll(now) {
        let (Parcel { flow, cargo }, size, queued) = (left.packet, left.size, left.queued);
        match cargo {
            Cargo::Packet(number) => flows[usize::from(flow)].on_arrival(now, number, (size, queued), recorder)?,
            Cargo::Segment(number) => {
                cross.on_arrival(now, (flow, number), (size, queued), &mut network.down, recorder);
            }
            Cargo::Datagram => recorder.push(Record { at: now, flow, what: What::DatagramArrived { size, queued } }),
        }
    }
    while let Some(dropped) = network.up.poll_drop() {
        let (Parcel { flow, cargo }, at, size, why) = (dropped.packet, dropped.at, dropped.size, dropped.why);
        match cargo {
            Cargo::Packet(number) => flows[usize::from(flow)].on_drop(at, number, (size, why), recorder),
            Cargo::Segment(number) => cross.on_drop(at, (flow, number), (size, why), recorder),
            Cargo::Datagram => recorder.push(Record { at, flow, what: What::DatagramDropped { size, why } }),
        }
    }
    for flow in flows.iter_mut() {
        flow.answer(now, &mut network.down, recorder);
    }
    while let Some(left) = network.down.poll(now) {
        let Answer { flow, content } = left.packet;
        if let Content::Acknowledgement(said) = content {
            cross.on_acknowledgement(now, flow, &said, &mut network.up, recorder);
            continue;
        }
        let flow = &mut flows[usize::from(flow)];
        // What a sender that has stopped would still send stays where it is.
        if flow.has_stopped(now) {
            continue;
        }
        match content {
            Content::Report(report) => {
                if let Some(decoder) = &report.decoder {
                    flow.engine.on_decoder(now, decoder);
                }
                flow.engine.on_feedback(now, &report.acknowledgements, report.hold);
                flow.share_round_trip(now);
            }
            Content::Path(report) => flow.engine.on_path_report(now, &report),
            Content::Request(Request::Repeat(sequences)) => flow.engine.on_missing(now, &sequences),
            Content::Request(Request::Keyframe) => flow.engine.on_keyframe_request(now),
            Content::Acknowledgement(_) => {}
        }
        flow.pump(now, &mut network.up, recorder)?;
    }
    while network.down.poll_drop().is_some() {}
    for flow in flows.iter_mut().filter(|flow| flow.next_event() <= now) {
        flow.show(now, recorder)?;
        flow.finish_encoding(now);
        flow.read_camera(now)?;
        flow.wake(now, &mut network.up, recorder)?;
    }
    Ok(())
}
