//! A running simulation of a scenario.
//!
//! No clock is read: time advances to the next event. Events at the same time are processed in this order: cross
//! traffic enters; packets arrive over the forward path; receivers answer; reports and acknowledgements arrive over the
//! reverse path; decoded frames are shown; encoded frames are queued; cameras capture pictures; senders' timers fire.

use thalweg_link::{Link, PathError};
use thalweg_sender::{Engine, Registry, SenderFactory};
use thalweg_units::Time;

use super::competitors::{self, CrossTraffic};
use super::flow::{Flow, Session};
use super::network::{Answer, Cargo, Content, Network, Parcel};
use super::{FindTrace, Run, SimulateError, sharing, summarize};
use crate::outcome::Outcome;
use crate::record::{Keep, Record, Recorder, What};
use crate::scenario::Scenario;

/// A running simulation. The events do not depend on how it is divided into steps.
pub struct Simulation {
    scenario: Scenario,
    now: Time,
    end: Time,
    network: Network,
    flows: Vec<Flow>,
    cross: CrossTraffic,
    recorder: Recorder,
}

impl Simulation {
    /// Prepares `scenario` for the sender under test. Competitors are looked up in `registry`; one with the name of the
    /// sender under test is that same sender. `find` looks up traces by name.
    ///
    /// # Errors
    /// When something that the scenario names cannot be found, read or built; the error suggests a fix.
    pub fn new(
        scenario: &Scenario,
        sender: &dyn SenderFactory,
        registry: &Registry,
        find: &mut FindTrace<'_>,
    ) -> Result<Simulation, SimulateError> {
        let end = Time::ZERO + scenario.duration;
        if end == Time::ZERO {
            return Err(SimulateError::Scenario(format!(
                "duration is {}, must be longer than 0, such as 60s",
                scenario.duration
            )));
        }
        let path_error = |error: PathError<String>| SimulateError::Path(error.to_string());
        let forward = scenario.forward.build(scenario.seed.child("up"), find).map_err(path_error)?;
        let reverse = scenario.reverse.build(scenario.seed.child("down"), find).map_err(path_error)?;
        let whole = Session { number: 0, video: &scenario.video, begin: Time::ZERO, end };
        let mut flows = vec![Flow::new(whole, scenario, sender)?];
        for (session, name) in competitors::senders(scenario, end)? {
            flows.push(if name == sender.name() {
                Flow::new(session, scenario, sender)?
            } else {
                let unknown = |unknown| SimulateError::Scenario(format!("competitors.sender.scheme: {unknown}"));
                Flow::new(session, scenario, &*registry.find(name).map_err(unknown)?)?
            });
        }
        let cross = CrossTraffic::new(scenario, flows.len())?;
        Ok(Simulation {
            scenario: scenario.clone(),
            now: Time::ZERO,
            end,
            network: Network { forward, reverse },
            flows,
            cross,
            recorder: Recorder::default(),
        })
    }

    /// Sets how much of the events is kept; call it before the first step.
    pub fn keeping(self, keep: Keep) -> Simulation {
        Simulation { recorder: Recorder::new(keep), ..self }
    }

    /// Processes everything that happens before `until` and before the scenario's end.
    ///
    /// # Errors
    /// When the video can no longer be read, or a codec, VMAF or a controller fails.
    pub fn run_until(&mut self, until: Time) -> Result<(), SimulateError> {
        let until = until.min(self.end);
        loop {
            let next = self.next_event();
            if next >= until {
                break;
            }
            self.step(next)?;
        }
        self.now = self.now.max(until);
        for flow in &self.flows {
            if let Some(why) = flow.engine.failure() {
                return Err(SimulateError::Controller { sender: flow.scheme.clone(), why: why.into() });
            }
        }
        if self.has_ended() {
            self.flows.iter_mut().try_for_each(Flow::finish_comparisons)?;
        }
        Ok(())
    }

    /// The time up to which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Time of the next event; [`Time::NEVER`] if there is none.
    pub fn next_event(&self) -> Time {
        let next = self.flows.iter().map(Flow::next_event).min().unwrap_or(Time::NEVER);
        next.min(self.network.forward.next_event()).min(self.network.reverse.next_event()).min(self.cross.next_event())
    }

    /// Whether the scenario's end was reached.
    pub fn has_ended(&self) -> bool {
        self.now >= self.end
    }

    /// The engine of a video sender: flow 0 is the sender under test, followed by the scenario's competing senders in
    /// order. Its state is available from [`Engine::limits`] and [`Engine::view`].
    pub fn engine(&self, flow: usize) -> Option<&Engine> {
        self.flows.get(flow).map(|flow| &flow.engine)
    }

    /// The events so far, as far as they are kept.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Figures and series of the run. They assume the scenario's whole duration, so run it to the end first.
    pub fn finish(self) -> Run {
        let Simulation { scenario, end, network, flows, cross, recorder, .. } = self;
        let capacity = network.forward.bottlenecks().first().cloned();
        let mut outcomes = flows.into_iter().map(|flow| {
            let scheme = flow.scheme.clone();
            let (played, ledger, stills) = flow.into_played();
            let there = (played.begin.as_secs_f64(), played.end.as_secs_f64());
            let mut outcome = summarize(&scenario, &scheme, played, &recorder, capacity.as_ref());
            let (delivery, redundancy) = ledger.figures(&outcome.series, there);
            (outcome.summary.delivery, outcome.summary.redundancy) = (Some(delivery), redundancy);
            outcome.stills = stills;
            outcome
        });
        let Some(mut outcome) = outcomes.next() else { unreachable!("the sender under test is a flow") };
        let competitors: Vec<Outcome> = outcomes.collect();
        competitors::others(&mut outcome, &competitors, &cross, &recorder, end);
        outcome.summary.sharing = sharing::sharing(&scenario, &outcome);
        outcome.summary.tcp = sharing::tcp(&outcome);
        Run { outcome, competitors, recorder }
    }

    /// Processes everything that is due at `now`.
    fn step(&mut self, now: Time) -> Result<(), SimulateError> {
        let Simulation { network, flows, cross, recorder, .. } = self;
        cross.offer(now, network, recorder);
        while let Some(left) = network.forward.poll(now) {
            let (Parcel { flow, cargo }, size, queued) = (left.packet, left.size, left.queued);
            match cargo {
                Cargo::Packet(number) => flows[usize::from(flow)].on_arrival(now, number, (size, queued), recorder)?,
                Cargo::Segment(number) => {
                    cross.on_arrival(now, (flow, number), (size, queued), &mut network.reverse, recorder);
                }
                Cargo::Datagram => {
                    recorder.push(Record { at: now, flow, what: What::DatagramArrived { size, queued } })
                }
            }
        }
        while let Some(dropped) = network.forward.poll_drop() {
            let (Parcel { flow, cargo }, at, size, why) = (dropped.packet, dropped.at, dropped.size, dropped.why);
            match cargo {
                Cargo::Packet(number) => flows[usize::from(flow)].on_drop(at, number, (size, why), recorder),
                Cargo::Segment(number) => cross.on_drop(at, (flow, number), (size, why), recorder),
                Cargo::Datagram => recorder.push(Record { at, flow, what: What::DatagramDropped { size, why } }),
            }
        }
        for flow in flows.iter_mut() {
            flow.answer(now, &mut network.reverse, recorder);
        }
        while let Some(left) = network.reverse.poll(now) {
            let Answer { flow, content } = left.packet;
            match content {
                Content::Acknowledgement(said) => {
                    cross.on_acknowledgement(now, flow, &said, &mut network.forward, recorder)
                }
                Content::Feedback(message) => {
                    flows[usize::from(flow)].on_message(now, message, &mut network.forward, recorder)?;
                }
            }
        }
        while network.reverse.poll_drop().is_some() {}
        for flow in flows.iter_mut().filter(|flow| flow.next_event() <= now) {
            flow.show(now, recorder)?;
            flow.finish_encoding(now);
            flow.read_camera(now)?;
            flow.wake(now, &mut network.forward, recorder)?;
        }
        Ok(())
    }
}
