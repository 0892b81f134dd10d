//! A sender, a path, and a receiver that tells the sender only what arrives and which states its decoder has.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_control::Acknowledgement;
use thalweg_receiver::{MessageReader, Ready, Receiver};
use thalweg_sender::frames::{EncodedFrame, StateHash};
use thalweg_sender::{Camera, Content, Engine, Event, FeedbackStyle, Fragment, Output, Packet, Scheme};
use thalweg_types::ReceiverKind;
use thalweg_types::feedback::{DecoderReport, RtcpFeedback};
use thalweg_units::{Random, Rate, Seed, Size, Span, Time};

use crate::encoder::{ModelEncoder, NOTHING, Pictures};

/// Impairments of packets and reports on the path while it is bad; afterwards it loses and reorders nothing.
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

impl Path {
    /// 3 Mbps, which nothing is lost on and nothing waits in vain for.
    pub const GOOD: Path = Path {
        loss: 0.0,
        report_loss: 0.0,
        duplicates: 0.0,
        jitter: Span::ZERO,
        report_jitter: Span::ZERO,
        outage: (Time::ZERO, Time::ZERO),
        bad_until: Time::ZERO,
    };
}

enum Happening {
    Picture(u64),
    Audio(u64),
    Encoded(Vec<EncodedFrame>),
    Packet(Packet),
    Report(Vec<Acknowledgement>, Option<DecoderReport>),
}

/// Record of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub sent: Vec<(Time, Packet)>,
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

pub const INTERVAL: Span = Span::from_millis(33);
const AUDIO: Span = Span::from_millis(20);
const DELAY: Span = Span::from_millis(20);
const RATE: Rate = Rate::from_kbps(3000);
/// While the path is bad, packets that would wait longer than this for the bottleneck are dropped.
const QUEUE: Span = Span::from_millis(800);

/// A decoder by its pictures, or by its states.
#[derive(Default)]
struct Decoder {
    pictures: Pictures,
    current: Option<StateHash>,
    kept: BTreeSet<StateHash>,
    forgotten: BTreeSet<StateHash>,
}

pub struct World<L> {
    pub engine: Engine,
    encoder: ModelEncoder,
    /// `None` where only arrivals are reported.
    receiver: Option<Receiver>,
    reader: MessageReader,
    decoder: Decoder,
    /// Every media packet sent, by number, for those that the receiver recovers by FEC.
    media: BTreeMap<u64, Fragment>,
    /// True if the sender cannot know which states were dropped: because the receiver has no room for more of them, or
    /// because of false reports.
    pub unpredictable: bool,
    max_states: usize,
    /// Alters reports on the way: the lies of a hostile receiver.
    lies: L,
    path: Path,
    random: Random,
    pub now: Time,
    pictures: i64,
    audio_packets: i64,
    happenings: BTreeMap<(Time, u64), Happening>,
    count: u64,
    free: Time,
    pub outcome: Outcome,
}

impl<L: FnMut(Option<DecoderReport>, u64) -> Option<DecoderReport>> World<L> {
    pub fn new(scheme: &Scheme, kind: Option<ReceiverKind>, path: Path, seed: u64, lies: L) -> World<L> {
        let camera = Camera { size: Size::HD, interval: INTERVAL };
        let seed = Seed::new(seed);
        let receiver = |kind| Receiver::new(kind, FeedbackStyle::PerPacket, Span::ZERO).expect("a good receiver");
        World {
            engine: Engine::new(scheme, camera, Time::ZERO).expect("a good scheme"),
            encoder: ModelEncoder::new(seed.child("encoder").random(), 64),
            receiver: kind.map(receiver),
            reader: MessageReader::default(),
            decoder: Decoder::default(),
            media: BTreeMap::new(),
            unpredictable: false,
            max_states: if let Some(ReceiverKind::Stateful(config)) = kind { config.max_states } else { 0 },
            lies,
            path,
            random: seed.child("path").random(),
            now: Time::ZERO,
            pictures: 0,
            audio_packets: 0,
            happenings: BTreeMap::new(),
            count: 0,
            free: Time::ZERO,
            outcome: Outcome::default(),
        }
    }

    /// Changes the scheme, and with it the encoder, as `publish` does: what the encoder kept is gone.
    pub fn change(&mut self, scheme: &Scheme) {
        self.engine.change_scheme(self.now, scheme).expect("a good scheme");
        self.encoder.kept.clear();
    }

    /// Runs to the end.
    pub fn finished(mut self, until: Time) -> Outcome {
        self.run(until, false);
        self.outcome
    }

    /// Runs until `until`, with audio packets or without; their numbers are the times they are made at.
    pub fn run(&mut self, until: Time, audio: bool) {
        while Time::ZERO + INTERVAL * self.pictures < until {
            self.at(Time::ZERO + INTERVAL * self.pictures, Happening::Picture(self.pictures as u64));
            self.pictures += 1;
        }
        while audio && Time::ZERO + AUDIO * self.audio_packets < until {
            let at = Time::ZERO + AUDIO * self.audio_packets;
            self.at(at, Happening::Audio(at.as_nanos()));
            self.audio_packets += 1;
        }
        let mut wake = self.settle();
        loop {
            let next = self.happenings.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let report = self.receiver.as_ref().map_or(Time::NEVER, Receiver::next_event);
            let first = wake.min(next).min(report);
            if first >= until {
                self.now = until;
                return;
            }
            self.now = self.now.max(first);
            if next <= self.now {
                let (_, happening) = self.happenings.pop_first().expect("it was seen");
                self.happen(happening);
            } else if report <= self.now {
                self.report();
            } else {
                self.engine.on_timeout(self.now);
            }
            wake = self.settle();
        }
    }

    fn at(&mut self, time: Time, happening: Happening) {
        self.count += 1;
        self.happenings.insert((time, self.count), happening);
    }

    fn happen(&mut self, happening: Happening) {
        let now = self.now;
        match happening {
            Happening::Picture(picture) => self.engine.on_picture(now, picture),
            Happening::Audio(number) => self.engine.on_audio(now, number, 80),
            Happening::Encoded(candidates) => self.engine.on_encoded(now, &candidates),
            Happening::Packet(packet) => self.receive(&packet),
            Happening::Report(acknowledgements, decoder) => {
                if let Some(report) = &decoder {
                    if self.encoder.keeps_any(&report.complete) {
                        self.outcome.acknowledged.get_or_insert(now);
                    }
                    self.engine.on_decoder(now, report);
                }
                self.engine.on_feedback(now, &acknowledgements, None);
            }
        }
    }

    /// Carries out the engine's outputs; returns when it wants to be woken.
    fn settle(&mut self) -> Time {
        let now = self.now;
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
                Output::Transmit(packet) => self.transmit(packet),
                Output::Wait { until, .. } => break until,
                _ => {}
            }
        };
        self.outcome.events.extend(self.engine.drain_events().map(|timed| timed.event));
        wake
    }

    fn transmit(&mut self, packet: Packet) {
        let now = self.now;
        if let (Content::Media { fragment, .. }, Some(_)) = (packet.content, &self.receiver) {
            let meant = &self.encoder.made[fragment.frame as usize];
            assert_eq!(fragment.transition, Some(meant.transition));
            assert_eq!((fragment.keyframe, fragment.depends_on), (meant.keyframe, meant.needs(fragment.frame)));
        }
        if let Content::Media { sequence, fragment } = packet.content {
            self.media.insert(sequence, fragment);
        }
        self.reader.on_sent(&packet);
        self.outcome.sent.push((now, packet));
        let begins = self.free.max(now);
        if begins - now > QUEUE && now < self.path.bad_until {
            return;
        }
        self.free = begins + RATE.time_for(packet.sent.size);
        let there = self.free + DELAY;
        let Path { loss, jitter, .. } = self.path;
        for delay in self.fates(loss, jitter) {
            self.at(there + delay, Happening::Packet(packet));
        }
    }

    /// The delays of all copies of a packet sent now; empty if it is lost.
    fn fates(&mut self, loss: f64, jitter: Span) -> Vec<Span> {
        let now = self.now;
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

    fn receive(&mut self, packet: &Packet) {
        let now = self.now;
        let Some(receiver) = &mut self.receiver else {
            let acknowledgement = Acknowledgement::new(packet.sent.id, Some(now));
            return self.at(now + DELAY, Happening::Report(vec![acknowledgement], None));
        };
        let mut ready = receiver.on_packet(now, packet);
        while let Some(sequence) = receiver.poll_recovered() {
            ready.extend(receiver.on_recovered(now, sequence, self.media[&sequence]));
        }
        for ready in ready {
            self.decode(&ready);
        }
        self.report();
    }

    /// Sends the reports that are due; what the receiver requests besides is not sent.
    fn report(&mut self) {
        let now = self.now;
        let Some(receiver) = &mut self.receiver else { return };
        let reports: Vec<_> = std::iter::from_fn(|| receiver.poll_report(now)).collect();
        receiver.poll_requests(now);
        for message in reports {
            let (mut acknowledged, mut decoder) = (Vec::new(), None);
            for feedback in self.reader.read(message) {
                match feedback {
                    RtcpFeedback::Arrivals { acknowledgements, .. } => acknowledged = acknowledgements,
                    RtcpFeedback::Decoder(report) => decoder = Some(report),
                    other => panic!("{other:?}"),
                }
            }
            let Path { report_loss, report_jitter, .. } = self.path;
            for delay in self.fates(report_loss, report_jitter) {
                let lie = self.random.bits();
                let report = (self.lies)(decoder.clone(), lie);
                self.at(now + DELAY + delay, Happening::Report(acknowledged.clone(), report));
            }
        }
    }

    /// Does what the receiver says of a frame, as a decoder would.
    fn decode(&mut self, Ready { info, moves, .. }: &Ready) {
        let (frame, meant, decoder) = (info.frame, &self.encoder.made[info.frame as usize], &mut self.decoder);
        let Some(moves) = moves else {
            let picture = decoder.pictures.decode(meant);
            assert_eq!(picture, meant.picture, "frame {frame} could be decoded and is not what was meant: {meant:?}");
            self.outcome.exact.push(frame);
            return;
        };
        let source = meant.transition.source;
        assert!(
            self.unpredictable || meant.keyframe || !decoder.forgotten.contains(&source),
            "frame {frame} leads from a state the sender let go"
        );
        decoder.kept.retain(|state| !moves.forget.contains(state));
        decoder.forgotten.extend(&moves.forget);
        let current = moves.load.or(decoder.current).unwrap_or(NOTHING);
        assert!(moves.load.is_none() || current == NOTHING || decoder.kept.contains(&current), "{current} is not kept");
        let is_exact = moves.length.is_none() && (meant.keyframe || current == source);
        let reached = if is_exact { meant.transition.target } else { StateHash::UNKNOWN };
        decoder.current = Some(reached);
        if let Some(target) = moves.target {
            assert_eq!(target, reached, "frame {frame}");
            decoder.kept.insert(target);
            self.unpredictable |= decoder.kept.len() >= self.max_states;
            self.outcome.exact.push(frame);
        }
    }
}

/// Passes reports on unchanged.
pub fn truth(report: Option<DecoderReport>, _: u64) -> Option<DecoderReport> {
    report
}
