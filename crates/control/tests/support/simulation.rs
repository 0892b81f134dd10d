//! The simulation loop: events in order of time, ties in order of creation.

use std::collections::BTreeMap;

use thalweg_control::{Controller, Payload, SentPacket};
use thalweg_units::{Bytes, Random, Rate, Seed, Span, Time};

use super::bottleneck::{Bottleneck, Schedule};
use super::feedback::{Clock, Message, Receiver, Style};
use super::record::Record;
use super::sender::{Pacing, Sender, Source};

/// The capacity of the reference path.
pub const REFERENCE: Rate = Rate::from_kbps(3000);

/// All parameters of a run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub capacity: Schedule,
    /// The size of the queue in bytes.
    pub queue: Bytes,
    /// From this second on, the size of the queue.
    pub later_queue: Option<(u64, Bytes)>,
    /// Propagation delay, each way.
    pub one_way: Span,
    pub style: Style,
    pub clock: Clock,
    pub source: Source,
    /// Until this second, the encoder's frames are as large as they may be, whatever its share.
    pub full_until: u64,
    /// The variation of frame sizes (coefficient of variation).
    pub spread: f64,
    /// Leaves room in an encoder whose frames are cut into bursts: 5 % of the target, and enough to empty the queue.
    pub leaves_room: bool,
    pub pacing: Pacing,
    /// The probability that a packet is lost, reported twice, or overtaken (delayed by up to 10 ms).
    pub loss: f64,
    pub duplicates: f64,
    pub reordering: f64,
    /// Delay behind the bottleneck that keeps the order of packets.
    pub jitter: Jitter,
    /// The constant rate of another sender, and its start and end second.
    pub cross: Option<(Rate, u64, u64)>,
    /// Reports made between these seconds are lost.
    pub silence: Option<(u64, u64)>,
    pub duration: Span,
    pub seed: Seed,
}

/// A random delay of at most so much: the same for a frame's packets, or for each packet its own.
#[derive(Debug, Clone, Copy)]
pub enum Jitter {
    None,
    Frame(Span),
    Packet(Span),
}

impl Scenario {
    /// A backlogged sender on a constant link with an unlimited queue, with per-packet feedback.
    pub fn new(capacity: Rate, round_trip_ms: i64, seconds: i64) -> Scenario {
        Scenario {
            capacity: Schedule::constant(capacity),
            queue: Bytes::MAX,
            later_queue: None,
            one_way: Span::from_millis(round_trip_ms) / 2,
            style: Style::PerPacket,
            clock: Clock::TRUE,
            source: Source::Backlog(Bytes::new(1200)),
            full_until: 0,
            spread: 0.0,
            leaves_room: true,
            pacing: Pacing::Controller,
            loss: 0.0,
            duplicates: 0.0,
            reordering: 0.0,
            jitter: Jitter::None,
            cross: None,
            silence: None,
            duration: Span::from_secs(seconds),
            seed: Seed::new(1),
        }
    }

    /// The reference path: 3 Mbps, 60 ms, a queue of 1.5 MB.
    pub fn reference(style: Style, seconds: i64) -> Scenario {
        Scenario { style, queue: Bytes::new(1_500_000), ..Scenario::new(REFERENCE, 60, seconds) }
    }

    /// With an encoder whose frames are this share of the size they may have, never above `max`.
    pub fn encoded(self, share: f64, max: Rate) -> Scenario {
        Scenario { source: Source::Encoder { share, max }, ..self }
    }

    /// Runs the scenario.
    pub fn run(&self, controller: Box<dyn Controller>) -> Record {
        Simulation::new(self, controller).run()
    }
}

enum Event {
    Frame,
    /// A packet, and whether it asks for a report.
    Arrival(SentPacket, bool),
    Cross(Rate, Time),
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
    /// The jitter in force, and the latest arrival under jitter.
    jitter: Span,
    last_arrival: Time,
    record: Record,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, controller: Box<dyn Controller>) -> Simulation<'a> {
        Simulation {
            sender: Sender::new(controller, scenario),
            bottleneck: Bottleneck::new(scenario.capacity.clone(), scenario.queue),
            receiver: Receiver::new(scenario.style, scenario.clock),
            events: BTreeMap::new(),
            made: 0,
            random: scenario.seed.child("torture").random(),
            jitter: Span::ZERO,
            last_arrival: Time::ZERO,
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
        if matches!(self.scenario.source, Source::Encoder { .. }) {
            self.at(Time::ZERO, Event::Frame);
        }
        if let Some(interval) = self.scenario.style.interval() {
            self.at(Time::ZERO + interval, Event::ReportDue);
        }
        if let Some((rate, from, to)) = self.scenario.cross {
            self.at(Time::from_millis(1000 * from), Event::Cross(rate, Time::from_millis(1000 * to)));
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
            self.sender.on_timeouts(now, self.record.bin(now));
            self.record.decisions.extend(std::iter::from_fn(|| self.sender.controller.poll_decision()));
            wake = self.send(now);
        }
    }

    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Frame => {
                self.sender.on_frame(now);
                self.at(now + Span::of_frame(30.0), Event::Frame);
            }
            Event::Arrival(packet, asks) => {
                self.record.bin(now).arrived += packet.size;
                self.record.frames.extend(packet.place.filter(|at| at.last).map(|at| (at.captured, now - at.captured)));
                self.receiver.on_packet(now, packet.id);
                if self.scenario.style == Style::PerPacket || asks && self.scenario.style == Style::Asked {
                    self.report(now);
                }
            }
            Event::Cross(rate, end) => {
                self.bottleneck.offer(now, Bytes::new(1200));
                let next = now + rate.time_for(Bytes::new(1200));
                if next < end {
                    self.at(next, Event::Cross(rate, end));
                }
            }
            Event::ReportDue => {
                self.report(now);
                let interval = self.scenario.style.interval().unwrap_or(Span::MAX);
                self.at(now + interval, Event::ReportDue);
            }
            Event::Message(message) => self.sender.on_message(now, &message, self.record.bin(now)),
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
                Ok((packet, asks)) => self.carry(now, packet, asks),
                Err(wake) => {
                    let limits = self.sender.controller.limits();
                    let bin = self.record.bin(now);
                    bin.target = limits.capacity;
                    bin.window = limits.window;
                    bin.burst = limits.burst;
                    return wake;
                }
            }
        }
    }

    fn carry(&mut self, now: Time, packet: SentPacket, asks: bool) {
        let second = now.as_secs_f64();
        if let Some((_, limit)) = self.scenario.later_queue.filter(|(from, _)| second >= *from as f64) {
            self.bottleneck.limit = limit;
        }
        let through = self.bottleneck.offer(now, packet.size);
        let bin = self.record.bin(now);
        bin.sent += packet.size;
        bin.fec += if packet.payload == Payload::Repair { packet.size } else { Bytes::ZERO };
        let Some(through) = through else {
            bin.dropped += 1;
            return;
        };
        bin.packets += 1;
        bin.queueing += (through - now).min(Span::from_secs(60));
        bin.worst = bin.worst.max((through - now).min(Span::from_secs(60)));
        if !through.is_set() || self.random.chance(self.scenario.loss) {
            return;
        }
        let mut arrival = through + self.scenario.one_way;
        if self.random.chance(self.scenario.reordering) {
            arrival += Span::from_millis_f64(self.random.between(0.0, 10.0));
        }
        if let Jitter::Frame(max) | Jitter::Packet(max) = self.scenario.jitter {
            let same =
                matches!(self.scenario.jitter, Jitter::Frame(_)) && packet.place.is_none_or(|place| !place.first);
            self.jitter = if same { self.jitter } else { max.scale(self.random.between(0.0, 1.0)) };
            self.last_arrival = self.last_arrival.max(arrival + self.jitter);
            arrival = self.last_arrival;
        }
        self.at(arrival, Event::Arrival(packet, asks));
        if self.random.chance(self.scenario.duplicates) {
            let mut again = packet;
            (again.size, again.place) = (Bytes::ZERO, None);
            self.at(arrival, Event::Arrival(again, asks));
        }
    }
}
