//! A sender as described in specs/camel.md 6, a bottleneck and a receiver, in virtual time: the minimal environment
//! that the controller needs.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use thalweg_units::{Bytes, Random, Rate, Seed, Span, Time};

use super::super::{Camel, Config};
use super::record::{Run, State};
use crate::controller::{Controller, Demand};
use crate::feedback::{self, Acknowledgement, History};
use crate::packet::{FramePlace, PacketId, SentPacket};

const FRAME: Span = Span::from_nanos(33_333_333);

/// When the receiver sends reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reports {
    /// When the sender asks for one: on the first packet of a burst (a full queue may drop the last), on the last, and
    /// on a packet after which the window blocks.
    Asked,
    /// For each packet.
    PerPacket,
}

/// All parameters of a run.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) config: Config,
    /// Whether the encoder's target leaves room as in the scheme: 5 % of the controller's target, and what empties the
    /// queue in 250 ms; the paper's encoder gets the whole target.
    pub(super) leaves_room: bool,
    /// Capacities and the seconds they begin at.
    pub(super) capacity: Vec<(u64, Rate)>,
    pub(super) queue: Bytes,
    /// From this second on, the size of the queue.
    pub(super) later_queue: Option<(u64, Bytes)>,
    pub(super) one_way: Span,
    pub(super) reports: Reports,
    /// Encoded-to-target ratio, and the seconds between which it applies; 1 otherwise.
    pub(super) encoded: (f64, f64, f64),
    /// The variation of frame sizes (coefficient of variation).
    pub(super) spread: f64,
    pub(super) max: Rate,
    pub(super) loss: f64,
    /// The max jitter behind the bottleneck, and whether it is per packet or per burst; order is kept.
    pub(super) jitter: (Span, bool),
    /// The constant rate of another sender and its start and end second.
    pub(super) cross: (Rate, f64, f64),
    /// The seconds between which no report arrives.
    pub(super) feedback_timeout: (f64, f64),
    pub(super) clock: (Span, f64),
    pub(super) seconds: u64,
    pub(super) seed: Seed,
}

impl World {
    /// 30 frames a second, 25 ms each way, 100 KB of queue, one report per frame (specs/camel.md 6.1 and 8).
    pub(super) fn new(capacity: Rate, seconds: u64) -> World {
        World {
            config: Config::default(),
            leaves_room: true,
            capacity: [(0, capacity)].into(),
            queue: Bytes::new(100_000),
            later_queue: None,
            one_way: Span::from_millis(25),
            reports: Reports::Asked,
            encoded: (1.0, 0.0, 0.0),
            spread: 0.2,
            max: Rate::from_kbps(400_000),
            loss: 0.0,
            jitter: (Span::ZERO, false),
            cross: (Rate::ZERO, 0.0, 0.0),
            feedback_timeout: (0.0, 0.0),
            clock: (Span::ZERO, 0.0),
            seconds,
            seed: Seed::new(7),
        }
    }

    pub(super) fn run(&self) -> Run {
        let mut controller = Camel::new(self.config.clone()).expect("in range");
        controller.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(50), max: self.max });
        Simulation {
            world: self,
            controller,
            history: History::new(feedback::Config::default()),
            queue: VecDeque::new(),
            next_start: Time::ZERO,
            burst: None,
            frame: 0,
            next_id: 0,
            delayed: Span::ZERO,
            last_arrival: Time::ZERO,
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
            unreported: Vec::new(),
            captured: BTreeMap::new(),
            events: BTreeMap::new(),
            made: 0,
            random: self.seed.child("camel").random(),
            jitter: self.seed.child("camel.jitter").random(),
            run: Run::default(),
        }
        .run()
    }
}

enum Event {
    Frame,
    /// A packet, and whether it asks for a report.
    Arrival(SentPacket, bool),
    Report(Vec<Acknowledgement>),
    Cross,
    Look,
}

/// A queued packet of a frame.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    frame: u64,
    offset: Bytes,
    size: Bytes,
    first: bool,
    last: bool,
    slice: u64,
}

struct Simulation<'a> {
    world: &'a World,
    controller: Camel,
    history: History,
    queue: VecDeque<Waiting>,
    next_start: Time,
    /// The slice being sent.
    burst: Option<(u64, u64)>,
    frame: u64,
    next_id: u64,
    delayed: Span,
    last_arrival: Time,
    free_at: Time,
    waiting: VecDeque<(Time, Bytes)>,
    unreported: Vec<(PacketId, Time)>,
    captured: BTreeMap<u64, Time>,
    events: BTreeMap<(Time, u64), Event>,
    made: u64,
    random: Random,
    jitter: Random,
    run: Run,
}

impl Simulation<'_> {
    fn at(&mut self, time: Time, event: Event) {
        self.made += 1;
        self.events.insert((time, self.made), event);
    }

    fn run(mut self) -> Run {
        self.at(Time::ZERO, Event::Frame);
        self.at(Time::ZERO, Event::Cross);
        self.at(Time::ZERO, Event::Look);
        let end = Time::from_millis(self.world.seconds * 1000);
        let mut wake = Time::NEVER;
        loop {
            let next = self.events.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let now = next.min(wake).min(self.controller.next_timeout()).min(self.history.next_timeout());
            if now >= end {
                while let Some(decision) = self.controller.poll_decision() {
                    self.run.decisions.push(decision);
                }
                return self.run;
            }
            if next <= now
                && let Some((_, event)) = self.events.pop_first()
            {
                self.on_event(now, event);
            }
            if let Some(feedback) = self.history.on_timeout(now) {
                self.controller.on_feedback(&feedback);
            }
            if self.controller.next_timeout() <= now {
                self.controller.on_timeout(now);
            }
            while let Some(decision) = self.controller.poll_decision() {
                self.run.decisions.push(decision);
            }
            wake = self.send(now);
        }
    }

    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Frame => {
                self.encode(now);
                self.at(now + FRAME, Event::Frame);
            }
            Event::Arrival(packet, asked) => self.arrive(now, &packet, asked),
            Event::Report(report) => {
                let feedback = self.history.on_report(now, &report, None);
                self.controller.on_feedback(&feedback);
            }
            Event::Cross => {
                let (rate, from, to) = self.world.cross;
                let second = now.as_secs_f64();
                if second >= from && second < to {
                    self.through(now, Bytes::new(1200));
                }
                if rate > Rate::ZERO {
                    self.at(now + rate.time_for(Bytes::new(1200)), Event::Cross);
                }
            }
            Event::Look => {
                self.run.states.push(State {
                    target: self.controller.target(),
                    max: self.controller.max(),
                    in_gcc: self.controller.fallback.is_some(),
                });
                self.at(now + Span::from_millis(100), Event::Look);
            }
        }
    }

    /// Encodes a frame of at least four equal packets per slice, each slice of at most M.
    fn encode(&mut self, now: Time) {
        let limits = self.controller.limits();
        let queued: Bytes = self.queue.iter().map(|packet| packet.size).sum();
        let room = limits.capacity.scale(0.95) - queued.per(Span::from_millis(250));
        let rate = if self.world.leaves_room { room } else { limits.capacity }.max(Rate::from_kbps(50));
        let (share, from, to) = self.world.encoded;
        let share = if now.as_secs_f64() >= from && now.as_secs_f64() < to { share } else { 1.0 };
        let spread = (1.0 + self.world.spread * self.random.normal()).clamp(0.3, 2.5);
        let size = rate.scale(share * spread).over(FRAME).max(Bytes::new(100));
        let max = limits.burst.unwrap_or(Bytes::MAX);
        let slices = size.get().div_ceil(max.get());
        let mut offset = Bytes::ZERO;
        for slice in 0..slices {
            let bytes = size.get() * (slice + 1) / slices - size.get() * slice / slices;
            let packets = bytes.div_ceil(1200).max(4);
            for index in 0..packets {
                let size = Bytes::new(bytes * (index + 1) / packets - bytes * index / packets);
                let (first, last) = (slice == 0 && index == 0, slice + 1 == slices && index + 1 == packets);
                self.queue.push_back(Waiting { frame: self.frame, offset, size, first, last, slice });
                offset += size;
            }
        }
        self.captured.insert(self.frame, now);
        self.frame += 1;
    }

    /// Sends the packets that may leave; returns when to call again.
    fn send(&mut self, now: Time) -> Time {
        while let Some(packet) = self.queue.front().copied() {
            let limits = self.controller.limits();
            let in_flight = self.history.in_flight();
            let window = limits.window.unwrap_or(Bytes::MAX);
            let begins = limits.burst.is_none() || self.burst != Some((packet.frame, packet.slice));
            if begins && now < self.next_start {
                return self.next_start;
            }
            // The first packet of a burst leaves as soon as the window is not full.
            let fits = if begins { in_flight < window } else { in_flight + packet.size <= window };
            if !fits {
                return Time::NEVER;
            }
            self.queue.pop_front();
            if begins {
                self.next_start = now;
            }
            self.burst = Some((packet.frame, packet.slice));
            self.next_start += limits.pacing.time_for(packet.size);
            let place = FramePlace {
                frame: packet.frame,
                first: packet.first,
                last: packet.last,
                offset: packet.offset,
                captured: Time::ZERO,
                keyframe: false,
            };
            let sent = self.history.on_sent(SentPacket {
                place: Some(place),
                app_limited: self.queue.is_empty(),
                ..SentPacket::new(PacketId(self.next_id), now, packet.size)
            });
            self.next_id += 1;
            self.run.sent += 1;
            self.controller.on_sent(&sent);
            let next = self.queue.front().filter(|next| (next.frame, next.slice) == (packet.frame, packet.slice));
            let asked = begins || next.is_none_or(|next| sent.in_flight + next.size > window);
            match self.through(now, packet.size).filter(|_| !self.random.chance(self.world.loss)) {
                Some(at) => {
                    if self.world.jitter.1 || begins {
                        self.delayed =
                            Span::from_millis_f64(self.jitter.between(0.0, self.world.jitter.0.as_millis_f64()));
                    }
                    self.last_arrival = self.last_arrival.max(at + self.world.one_way + self.delayed);
                    self.at(self.last_arrival, Event::Arrival(sent, asked));
                }
                None => self.run.lost += 1,
            }
        }
        Time::NEVER
    }

    /// When a packet has passed the bottleneck; `None` if its queue was full.
    fn through(&mut self, now: Time, size: Bytes) -> Option<Time> {
        while self.waiting.front().is_some_and(|(at, _)| *at <= now) {
            self.waiting.pop_front();
        }
        let queued: Bytes = self.waiting.iter().map(|(_, size)| *size).sum();
        let later = self.world.later_queue.filter(|(second, _)| now >= Time::from_millis(second * 1000));
        if queued + size > later.map_or(self.world.queue, |(_, queue)| queue) {
            return None;
        }
        let mut at = self.free_at.max(now);
        let mut left = size.bits() as f64;
        for (index, (_, rate)) in self.world.capacity.iter().enumerate() {
            let end = self.world.capacity.get(index + 1).map_or(Time::NEVER, |next| Time::from_millis(next.0 * 1000));
            if at >= end {
                continue;
            }
            let carried = rate.as_bps_f64() * (end - at).as_secs_f64();
            if carried >= left {
                self.free_at = at + Span::from_secs_f64(left / rate.as_bps_f64());
                self.waiting.push_back((self.free_at, size));
                return Some(self.free_at);
            }
            left -= carried;
            at = end;
        }
        None
    }

    fn arrive(&mut self, now: Time, packet: &SentPacket, asked: bool) {
        self.run.arrived.push((now, packet.size));
        let (offset, ppm) = self.world.clock;
        let read = now + offset + now.since_start().scale(ppm * 1e-6);
        self.unreported.push((packet.id, read));
        if let Some(place) = packet.place.filter(|place| place.last) {
            let captured = self.captured.remove(&place.frame).unwrap_or(now);
            self.run.frames.push((captured, now - captured));
        }
        match self.world.reports {
            Reports::PerPacket => self.report(now),
            Reports::Asked if asked => self.report(now),
            _ => {}
        }
    }

    fn report(&mut self, now: Time) {
        let report: Vec<Acknowledgement> =
            self.unreported.drain(..).map(|(id, at)| Acknowledgement { id, arrival: Some(at), ce: false }).collect();
        let (from, to) = self.world.feedback_timeout;
        let second = now.as_secs_f64();
        let reported = second < from || second >= to;
        if reported && !report.is_empty() {
            self.at(now + self.world.one_way, Event::Report(report));
        }
    }
}
