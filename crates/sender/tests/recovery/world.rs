//! A sender, a lossy and reordering path, and a receiver.

use std::collections::BTreeMap;

use thalweg_control::Acknowledgement;
use thalweg_media::feedback::DecoderReport;
use thalweg_sender::frames::EncodedFrame;
use thalweg_sender::{Camera, Content, Engine, Event, Output, Packet, Scheme};
use thalweg_units::{Random, Rate, Seed, Size, Span, Time};

use crate::encoder::ModelEncoder;
use crate::receivers::Receiver;

/// What the path does to packets and reports while it is bad; afterwards it loses and reorders nothing.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    pub loss: f64,
    pub report_loss: f64,
    pub duplicates: f64,
    /// Max extra delay of a packet, by which others may overtake it.
    pub jitter: Span,
    pub report_jitter: Span,
    /// No packet arrives between these times.
    pub outage: (Time, Time),
    /// The path is good from here on.
    pub bad_until: Time,
}

enum Happening {
    Picture(u64),
    Encoded(Vec<EncodedFrame>),
    Packet(Packet),
    Report(Acknowledgement, Option<DecoderReport>),
}

/// What happened in a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// When each frame was queued.
    pub queued: Vec<Time>,
    /// Frames decoded exactly.
    pub exact: Vec<u64>,
    /// Keyframes.
    pub keyframes: Vec<u64>,
    /// When the sender first learned of a state to go back to.
    pub acknowledged: Option<Time>,
    pub events: Vec<Event>,
}

impl Outcome {
    pub fn frames(&self, from: Time, until: Time) -> Vec<u64> {
        (0..self.queued.len()).filter(|frame| (from..until).contains(&self.queued[*frame])).map(|f| f as u64).collect()
    }
}

const INTERVAL: Span = Span::from_millis(33);
const DELAY: Span = Span::from_millis(20);
const RATE: Rate = Rate::from_kbps(3000);
/// While the path is bad, packets that would wait longer than this for the bottleneck are dropped.
const QUEUE: Span = Span::from_millis(800);

pub struct World<R, L> {
    engine: Engine,
    encoder: ModelEncoder,
    receiver: R,
    /// Alters reports on the way: the lies of a hostile receiver.
    lies: L,
    path: Path,
    random: Random,
    happenings: BTreeMap<(Time, u64), Happening>,
    count: u64,
    free: Time,
    outcome: Outcome,
}

impl<R: Receiver, L: FnMut(Option<DecoderReport>, u64) -> Option<DecoderReport>> World<R, L> {
    pub fn new(scheme: &Scheme, receiver: R, path: Path, seed: u64, lies: L) -> World<R, L> {
        let camera = Camera { size: Size::HD, interval: INTERVAL };
        let seed = Seed::new(seed);
        World {
            engine: Engine::new(scheme, camera, Time::ZERO).unwrap(),
            encoder: ModelEncoder::new(seed.child("encoder").random(), 64),
            receiver,
            lies,
            path,
            random: seed.child("path").random(),
            happenings: BTreeMap::new(),
            count: 0,
            free: Time::ZERO,
            outcome: Outcome::default(),
        }
    }

    pub fn run(mut self, until: Time) -> Outcome {
        let mut picture = 0;
        while Time::ZERO + INTERVAL * picture < until {
            self.at(Time::ZERO + INTERVAL * picture, Happening::Picture(picture as u64));
            picture += 1;
        }
        let mut wake = self.settle(Time::ZERO);
        loop {
            let next = self.happenings.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let now = wake.min(next);
            if now >= until {
                return self.outcome;
            }
            if next <= now {
                let (_, happening) = self.happenings.pop_first().expect("it was seen");
                self.happen(now, happening);
            } else {
                self.engine.on_timeout(now);
            }
            wake = self.settle(now);
        }
    }

    fn at(&mut self, time: Time, happening: Happening) {
        self.count += 1;
        self.happenings.insert((time, self.count), happening);
    }

    fn happen(&mut self, now: Time, happening: Happening) {
        match happening {
            Happening::Picture(picture) => self.engine.on_picture(now, picture),
            Happening::Encoded(candidates) => self.engine.on_encoded(now, &candidates),
            Happening::Packet(packet) => self.receive(now, &packet),
            Happening::Report(acknowledgement, decoder) => {
                if let Some(report) = &decoder {
                    if self.encoder.keeps_any(&report.complete) {
                        self.outcome.acknowledged.get_or_insert(now);
                    }
                    self.engine.on_decoder(now, report);
                }
                self.engine.on_feedback(now, &[acknowledgement], None);
            }
        }
    }

    /// Carries out the engine's outputs; returns when it wants to be woken.
    fn settle(&mut self, now: Time) -> Time {
        let wake = loop {
            match self.engine.poll() {
                Output::Encode { plan, .. } => {
                    let candidates = self.encoder.offer(plan);
                    let takes = Span::from_micros(self.random.between(1000.0, 60_000.0) as i64);
                    self.at(now + takes, Happening::Encoded(candidates));
                }
                Output::Commit { choice } => {
                    self.encoder.commit(choice);
                    if let Some((_, frame)) = choice {
                        self.outcome.queued.push(now);
                        if self.encoder.made[frame as usize].keyframe {
                            self.outcome.keyframes.push(frame);
                        }
                    }
                }
                Output::Forget { frame } => self.encoder.forget(frame),
                Output::Transmit(packet) => self.transmit(now, packet),
                Output::Wait { until, .. } => break until,
            }
        };
        self.outcome.events.extend(self.engine.drain_events().map(|timed| timed.event));
        wake
    }

    fn transmit(&mut self, now: Time, packet: Packet) {
        if let Content::Media { fragment, .. } = packet.content {
            let meant = &self.encoder.made[fragment.frame as usize];
            assert_eq!(fragment.transition, Some(meant.transition));
            assert_eq!((fragment.keyframe, fragment.depends_on), (meant.keyframe, meant.needs(fragment.frame)));
        }
        let begins = self.free.max(now);
        if begins - now > QUEUE && now < self.path.bad_until {
            return;
        }
        self.free = begins + RATE.time_for(packet.sent.size);
        let there = self.free + DELAY;
        let Path { loss, jitter, .. } = self.path;
        for delay in self.fates(now, loss, jitter) {
            self.at(there + delay, Happening::Packet(packet));
        }
    }

    /// The delays of all copies of a packet sent now; empty if it is lost.
    fn fates(&mut self, now: Time, loss: f64, jitter: Span) -> Vec<Span> {
        if now >= self.path.bad_until {
            return vec![Span::ZERO];
        }
        if (self.path.outage.0..self.path.outage.1).contains(&now) {
            return Vec::new();
        }
        let copies = if self.random.chance(self.path.duplicates) { 2 } else { 1 };
        let mut fates = Vec::new();
        for _ in 0..copies {
            let late = self.random.chance(0.2);
            let delay = if late { jitter.scale(self.random.unit()) } else { Span::ZERO };
            fates.extend((!self.random.chance(loss)).then_some(delay));
        }
        fates
    }

    fn receive(&mut self, now: Time, packet: &Packet) {
        if let Content::Media { fragment, .. } = packet.content {
            self.outcome.exact.extend(self.receiver.on_fragment(fragment, &self.encoder.made));
        }
        let acknowledgement = Acknowledgement { id: packet.sent.id, arrival: Some(now), ce: false };
        let Path { report_loss, report_jitter, .. } = self.path;
        for delay in self.fates(now, report_loss, report_jitter) {
            let lie = self.random.bits();
            let report = (self.lies)(self.receiver.report(), lie);
            self.at(now + DELAY + delay, Happening::Report(acknowledgement, report));
        }
    }
}

/// Passes reports on unchanged.
pub fn truth(report: Option<DecoderReport>, _: u64) -> Option<DecoderReport> {
    report
}
