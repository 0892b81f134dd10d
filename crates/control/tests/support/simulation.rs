//! The simulation loop: events in order of time, ties in order of creation.

use std::collections::BTreeMap;

use thalweg_control::{Controller, PacketId};
use thalweg_units::{Bytes, Random, Rate, Seed, Span, Time};

use super::bottleneck::{Bottleneck, Schedule};
use super::feedback::{Clock, Message, Receiver, Style};
use super::record::Record;
use super::sender::{Pacing, Sender, Source};

/// All parameters of a run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub capacity: Schedule,
    /// The size of the queue in bytes.
    pub queue: Bytes,
    /// Propagation delay, each way.
    pub one_way: Span,
    pub style: Style,
    pub clock: Clock,
    pub source: Source,
    pub pacing: Pacing,
    /// The probability that a packet is lost, reported twice, or overtaken (delayed by up to 10 ms).
    pub loss: f64,
    pub duplicates: f64,
    pub reordering: f64,
    /// Reports made between these seconds are lost.
    pub silence: Option<(u64, u64)>,
    pub duration: Span,
}

impl Scenario {
    /// A backlogged sender on a constant link with an unlimited queue, with per-packet feedback.
    pub fn new(capacity: Rate, round_trip: Span, duration: Span) -> Scenario {
        Scenario {
            capacity: Schedule::constant(capacity),
            queue: Bytes::MAX,
            one_way: round_trip / 2,
            style: Style::PerPacket,
            clock: Clock::TRUE,
            source: Source::Backlog(Bytes::new(1200)),
            pacing: Pacing::Controller,
            loss: 0.0,
            duplicates: 0.0,
            reordering: 0.0,
            silence: None,
            duration,
        }
    }

    /// Runs the scenario.
    pub fn run(&self, controller: Box<dyn Controller>) -> Record {
        Simulation::new(self, controller).run()
    }
}

enum Event {
    Frame,
    Arrival(PacketId, Bytes),
    ReportDue,
    Message(Message),
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    sender: Sender,
    bottleneck: Bottleneck,
    receiver: Receiver,
    events: BTreeMap<(Time, u64), Event>,
    made: u64,
    random: Random,
    record: Record,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, controller: Box<dyn Controller>) -> Simulation<'a> {
        Simulation {
            sender: Sender::new(controller, scenario.source, scenario.pacing),
            bottleneck: Bottleneck::new(scenario.capacity.clone(), scenario.queue),
            receiver: Receiver::new(scenario.style, scenario.clock),
            events: BTreeMap::new(),
            made: 0,
            random: Seed::new(1).child("torture").random(),
            record: Record::new(scenario.duration),
            scenario,
        }
    }

    fn at(&mut self, time: Time, event: Event) {
        self.made += 1;
        self.events.insert((time, self.made), event);
    }

    fn run(mut self) -> Record {
        let end = Time::ZERO + self.scenario.duration;
        if self.scenario.source.frame_interval().is_some() {
            self.at(Time::ZERO, Event::Frame);
        }
        if let Some(interval) = self.scenario.style.interval() {
            self.at(Time::ZERO + interval, Event::ReportDue);
        }
        let mut wake = Time::ZERO;
        loop {
            let event = self.events.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let now = wake.min(event);
            if now >= end {
                return self.record;
            }
            if event <= now
                && let Some((_, event)) = self.events.pop_first()
            {
                self.on_event(now, event);
            }
            self.sender.on_timeouts(now);
            wake = self.send(now);
        }
    }

    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Frame => {
                self.sender.on_frame(now);
                self.at(now + Span::of_frame(30.0), Event::Frame);
            }
            Event::Arrival(id, size) => {
                self.record.bin(now).arrived += size;
                self.receiver.on_packet(now, id);
                if self.scenario.style == Style::PerPacket {
                    self.report(now);
                }
            }
            Event::ReportDue => {
                self.report(now);
                let interval = self.scenario.style.interval().unwrap_or(Span::MAX);
                self.at(now + interval, Event::ReportDue);
            }
            Event::Message(message) => {
                if let Some(rtt) = self.sender.on_message(now, &message) {
                    let bin = self.record.bin(now);
                    bin.round_trip += rtt;
                    bin.round_trips += 1;
                }
            }
        }
    }

    fn report(&mut self, now: Time) {
        let Some(message) = self.receiver.report(now) else { return };
        let second = now.as_secs_f64();
        if self.scenario.silence.is_some_and(|(from, to)| second >= from as f64 && second < to as f64) {
            return;
        }
        let mut delay = self.scenario.one_way;
        if self.random.chance(self.scenario.reordering) {
            delay += Span::from_millis_f64(self.random.between(0.0, 10.0));
        }
        if self.random.chance(self.scenario.duplicates) {
            self.at(now + delay, Event::Message(message.clone()));
        }
        self.at(now + delay, Event::Message(message));
    }

    fn send(&mut self, now: Time) -> Time {
        loop {
            match self.sender.send(now) {
                Ok(packet) => self.carry(now, packet.id, packet.size),
                Err(wake) => {
                    let limits = self.sender.controller.limits();
                    let bin = self.record.bin(now);
                    bin.target = limits.capacity;
                    bin.window = limits.window;
                    return wake;
                }
            }
        }
    }

    fn carry(&mut self, now: Time, id: PacketId, size: Bytes) {
        self.record.bin(now).sent += size;
        let Some(through) = self.bottleneck.offer(now, size) else { return };
        let bin = self.record.bin(now);
        bin.packets += 1;
        bin.queueing += (through - now).min(Span::from_secs(60));
        bin.worst = bin.worst.max((through - now).min(Span::from_secs(60)));
        if !through.is_set() || self.random.chance(self.scenario.loss) {
            return;
        }
        let mut delay = self.scenario.one_way;
        if self.random.chance(self.scenario.reordering) {
            delay += Span::from_millis_f64(self.random.between(0.0, 10.0));
        }
        self.at(through + delay, Event::Arrival(id, size));
        if self.random.chance(self.scenario.duplicates) {
            self.at(through + delay, Event::Arrival(id, Bytes::ZERO));
        }
    }
}
