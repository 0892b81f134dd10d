//! A running simulation of a scenario.
//!
//! No clock is read: time advances to the next event. Events at the same time are processed in this order: the
//! scenario's changes are made; cross traffic enters; packets arrive over the forward path; receivers answer; reports and acknowledgements arrive over the
//! reverse path; decoded frames are shown; encoded frames are queued; cameras
//! capture pictures; microphones deliver audio; senders' timers fire.

use thalweg_sender::{Engine, Registry, SenderFactory};
use thalweg_units::{Span, Time};

use super::capacity::FlowCapacity;
use super::changes::Changes;
use super::competitors::{self, CrossTraffic};
use super::flow::Flow;
use super::network::{Answer, Arrived, Cargo, Dropped, Network, Transit};
use super::viewer::Viewer;
use super::{FindTrace, Progress, Run, SimulateError, sharing, summarize};
use crate::bound::{self, Bound};
use crate::named::named;
use crate::notes;
use crate::outcome::Outcome;
use crate::record::{Keep, Record, Recorder, What};
use crate::scenario::Scenario;

/// Interval of progress reports, in virtual time.
const PROGRESS_INTERVAL: Span = Span::from_millis(500);

/// A running simulation. The events do not depend on how it is divided into steps.
pub struct Simulation {
    scenario: Scenario,
    now: Time,
    end: Time,
    network: Network,
    flows: Vec<Flow>,
    /// When each flow next has something to do: kept, because it is asked for all flows at every event.
    due: Vec<Time>,
    cross: CrossTraffic,
    changes: Changes,
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
        let bound = sender.as_any().and_then(|sender| sender.downcast_ref::<Bound>());
        let placed = bound.map(|bound| bound::placed(bound, scenario, find)).transpose();
        let placed = placed.map_err(SimulateError::Scenario)?;
        let idle = bound.map(|_| notes::of_bound(scenario));
        let (scenario, sender): (&Scenario, &dyn SenderFactory) =
            placed.as_ref().map_or((scenario, sender), |(scenario, sender)| (scenario, sender));
        let end = Time::ZERO + scenario.duration;
        if end == Time::ZERO {
            return Err(SimulateError::Scenario(format!(
                "duration is {}, must be longer than 0, such as 60s",
                scenario.duration
            )));
        }
        let network = Network::new(scenario, find)?;
        let mut flows = vec![Flow::new(competitors::tested(scenario, end)?, scenario, sender)?];
        for (session, name) in competitors::senders(scenario, end)? {
            flows.push(if name == sender.name() {
                Flow::new(session, scenario, sender)?
            } else {
                let unknown = |unknown| SimulateError::Scenario(format!("competitors.sender.scheme: {unknown}"));
                Flow::new(session, scenario, &*named(registry, name).map_err(unknown)?)?
            });
        }
        flows[0].notes.extend(idle.into_iter().flatten());
        let cross = CrossTraffic::new(scenario, flows.len())?;
        let (count, routed) = (flows.len() + cross.count(), network.routed());
        if routed > count {
            let problem = format!("flow {} has a route, and there are flows 0 to {}", routed - 1, count - 1);
            return Err(SimulateError::Scenario(problem));
        }
        if let Some(pause) = scenario.pauses.iter().find(|pause| usize::from(pause.flow) >= flows.len()) {
            let problem = format!("flow {} pauses, and video senders are flows 0 to {}", pause.flow, flows.len() - 1);
            return Err(SimulateError::Scenario(problem));
        }
        let changes = Changes::new(scenario, &network, flows.len())?;
        Ok(Simulation {
            scenario: scenario.clone(),
            now: Time::ZERO,
            end,
            network,
            due: flows.iter().map(Flow::next_event).collect(),
            flows,
            cross,
            changes,
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

    /// Runs to the scenario's end, and says now and then how far it has come.
    ///
    /// # Errors
    /// As [`Simulation::run_until`], and when `progress` stops it.
    pub fn play(mut self, progress: &mut Progress<'_>) -> Result<Run, SimulateError> {
        while !self.has_ended() {
            self.run_until(self.now + PROGRESS_INTERVAL)?;
            if progress(self.now).is_break() {
                return Err(SimulateError::Interrupted);
            }
        }
        Ok(self.finish())
    }

    /// The time up to which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Time of the next event; [`Time::NEVER`] if there is none.
    pub fn next_event(&self) -> Time {
        let next = self.due.iter().copied().min().unwrap_or(Time::NEVER);
        next.min(self.network.next_event()).min(self.cross.next_event()).min(self.changes.next_event())
    }

    /// Returns true once the scenario's end was reached.
    pub fn has_ended(&self) -> bool {
        self.now >= self.end
    }

    /// The engine of a video sender: flow 0 is the sender under test, followed by the scenario's competing senders in
    /// order. Its state is available from [`Engine::limits`] and [`Engine::view`].
    pub fn engine(&self, flow: usize) -> Option<&Engine> {
        self.flows.get(flow).map(|flow| &flow.engine)
    }

    /// Experience of a video sender's viewer so far; senders are numbered as for [`Simulation::engine`].
    pub fn viewer(&self, flow: usize) -> Option<&Viewer> {
        self.flows.get(flow).map(|flow| &flow.viewer)
    }

    /// Capacity of a flow's way to its receiver, with the changes so far.
    pub fn capacity(&self, flow: u16) -> FlowCapacity<'_> {
        self.network.capacity(flow)
    }

    /// The events so far, as far as they are kept.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Figures and series of the run. They assume the scenario's whole duration, so run it to the end first.
    pub fn finish(self) -> Run {
        let Simulation { scenario, end, network, flows, cross, recorder, .. } = self;
        let mut outcomes = flows.into_iter().map(|flow| {
            let (scheme, capacity) = (flow.scheme.clone(), network.capacity(flow.number));
            let (played, ledger, stills) = flow.into_played();
            let there = (played.begin.as_secs_f64(), played.end.as_secs_f64());
            let mut outcome = summarize(&scenario, &scheme, played, &recorder, &capacity);
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
        Run { outcome, competitors, recorder, reports_dropped: network.into_reports_dropped() }
    }

    /// Processes everything that is due at `now`.
    fn step(&mut self, now: Time) -> Result<(), SimulateError> {
        let Simulation { network, flows, due, cross, changes, recorder, .. } = self;
        if changes.next_event() <= now {
            changes.apply(now, flows, network, recorder)?;
            due.iter_mut().zip(flows.iter()).for_each(|(due, flow)| *due = flow.next_event());
        }
        cross.offer(now, network, recorder);
        network.advance(now);
        while let Some(Arrived { flow, content, transit }) = network.poll_arrival() {
            match content {
                Cargo::Packet(number) => {
                    let place = usize::from(flow);
                    flows[place].on_arrival(now, number, transit, recorder)?;
                    due[place] = flows[place].next_event();
                }
                Cargo::Segment(number) => cross.on_arrival(now, (flow, number), transit, network, recorder),
                Cargo::Datagram => {
                    let Transit { size, queued, .. } = transit;
                    recorder.push(Record { at: now, flow, what: What::DatagramArrived { size, queued } })
                }
            }
        }
        while let Some(Dropped { flow, cargo, at, size, why, part }) = network.poll_drop() {
            match cargo {
                Cargo::Packet(number) => flows[usize::from(flow)].on_drop(at, (number, part), (size, why), recorder),
                Cargo::Segment(number) => cross.on_drop(at, (flow, number), (size, why, part), recorder),
                Cargo::Datagram => recorder.push(Record { at, flow, what: What::DatagramDropped { size, why } }),
            }
        }
        for (flow, due) in flows.iter_mut().zip(&mut *due).filter(|(_, due)| **due <= now) {
            flow.answer(now, network, recorder);
            *due = flow.next_event();
        }
        network.advance(now);
        while let Some(Arrived { flow, content, .. }) = network.poll_answer() {
            match content {
                Answer::Acknowledgement(said) => cross.on_acknowledgement(now, flow, &said, network, recorder),
                Answer::Feedback(message) => {
                    let place = usize::from(flow);
                    flows[place].on_message(now, message, network, recorder)?;
                    due[place] = flows[place].next_event();
                }
            }
        }
        for (flow, due) in flows.iter_mut().zip(due).filter(|(_, due)| **due <= now) {
            flow.show(now, recorder)?;
            flow.finish_encoding(now);
            flow.read_camera(now)?;
            flow.hear(now);
            flow.wake(now, network, recorder)?;
            *due = flow.next_event();
        }
        Ok(())
    }
}
