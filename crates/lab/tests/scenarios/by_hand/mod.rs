//! One sender and one receiver, driven manually. A test has access to what `simulate` does not expose, the pictures on
//! both sides and the kept states, and it can replace the receiver's reports.

mod ends;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use ends::{Decoded, Ends, Modelled, Real};
use thalweg_control::Acknowledgement;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, Link, LossModel, Path, PathConfig, QueueConfig, Trace};
use thalweg_receiver::{Message, MessageReader, Receiver};
use thalweg_sender::frames::EncodedFrame;
use thalweg_sender::{Camera, Engine, Event, Output, Packet, Scheme};
use thalweg_types::feedback::{DecoderReport, RtcpFeedback};
use thalweg_units::{Bytes, Rate, Seed, Size, Span, Time};

use crate::scenarios::support::delay;

/// Encoding time of every picture.
const ENCODE_TIME: Span = Span::from_millis(2);
/// Offset of the receiver's clock.
const AHEAD: Span = Span::from_millis(1234);

/// A call over one link of 25 ms each way, at 30 fps.
pub struct Call {
    pub scheme: &'static str,
    pub size: Size,
    pub duration: Span,
    pub rate: Rate,
    /// Loss of packets to the receiver.
    pub loss: Vec<LossModel>,
    /// Loss of the receiver's reports.
    pub report_loss: Vec<LossModel>,
    pub seed: Seed,
}

/// A frame that was sent.
#[derive(Debug)]
pub struct Sent {
    pub at: Time,
    pub keyframe: bool,
    pub quantizer: u8,
}

/// Observations of a call.
#[derive(Debug, Default)]
pub struct Seen {
    pub frames: Vec<Sent>,
    /// Time, frame number and result of each decoding.
    pub decoded: Vec<(Time, u64, Decoded)>,
    pub recoveries: usize,
    /// Max number of kept states: in the encoder, in the decoder.
    pub max_kept: (usize, usize),
}

impl Seen {
    pub fn keyframes(&self) -> usize {
        self.frames.iter().filter(|frame| frame.keyframe).count()
    }

    /// Keyframes after one has arrived and its sender has had 300 ms to receive the report.
    pub fn needless_keyframes(&self) -> usize {
        let known = Time::ZERO + self.next_exact(Time::ZERO) + Span::from_millis(300);
        self.frames.iter().filter(|frame| frame.keyframe && frame.at > known).count()
    }

    pub fn count(&self, what: Decoded) -> usize {
        self.decoded.iter().filter(|decoded| decoded.2 == what).count()
    }

    /// Time from `from` until the next frame was decoded exactly.
    pub fn next_exact(&self, from: Time) -> Span {
        let exact = |decoded: &&(Time, u64, Decoded)| decoded.0 >= from && decoded.2 == Decoded::Exact;
        self.decoded.iter().find(exact).map_or(Span::from_secs(3600), |decoded| decoded.0 - from)
    }

    /// Mean quantiser of the frames.
    pub fn coarseness(&self) -> f64 {
        self.frames.iter().map(|frame| f64::from(frame.quantizer)).sum::<f64>() / self.frames.len() as f64
    }
}

/// A report as parsed by the sender.
#[derive(Debug, Clone)]
pub struct Report {
    pub acknowledgements: Vec<Acknowledgement>,
    pub hold: Option<Span>,
    /// From a stateful receiver.
    pub decoder: Option<DecoderReport>,
}

/// Passes the receiver's reports to its sender unchanged.
pub fn truth(report: Report) -> Vec<Report> {
    vec![report]
}

impl Default for Call {
    fn default() -> Call {
        Call {
            scheme: "salsify",
            size: Size::new(160, 90),
            duration: Span::from_secs(60),
            rate: Rate::from_kbps(1000),
            loss: Vec::new(),
            report_loss: Vec::new(),
            seed: Seed::new(1),
        }
    }
}

impl Call {
    fn path<P: 'static + Send>(&self, name: &str, bottleneck: bool, losses: &[LossModel]) -> Path<(P, ())> {
        let link = Arc::new(Trace::constant(self.rate).unwrap());
        let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
        let mut hops: Vec<HopConfig> = losses.iter().copied().map(HopConfig::Loss).collect();
        hops.extend(bottleneck.then(|| HopConfig::Bottleneck { trace: "link".into(), queue, once: false }));
        hops.push(delay());
        let mut find = |_: &str| Ok::<_, String>(link.clone());
        PathConfig { hops }.build(self.seed.child(name), &mut find).unwrap()
    }

    /// Runs the call; `say` maps each report to those that the sender gets: the same, a different one, several or none.
    pub fn play(&self, ends: &mut dyn Ends, say: &mut dyn FnMut(Report) -> Vec<Report>) -> Seen {
        let scheme: Scheme = self.scheme.parse().unwrap();
        let interval = Span::from_nanos(33_333_333);
        let camera = Camera { size: self.size, interval };
        let mut far = Far {
            receiver: Receiver::new(scheme.receiver, scheme.feedback, AHEAD).unwrap(),
            reverse: self.path("down", false, &self.report_loss),
        };
        let mut near = Near {
            engine: Engine::new(&scheme, camera, Time::ZERO).unwrap(),
            forward: self.path("up", true, &self.loss),
            reader: MessageReader::default(),
            made: Vec::new(),
            kept: BTreeSet::new(),
            encoded_at: Time::NEVER,
            wake: Time::ZERO,
        };
        let mut seen = Seen::default();
        let (mut picture, mut camera_at) = (0, Time::ZERO);
        loop {
            let now = camera_at.min(near.next_event()).min(far.next_event());
            if now >= Time::ZERO + self.duration {
                return seen;
            }
            while let Some(departure) = near.forward.poll(now) {
                far.on_packet(now, &departure.packet.0, ends, &mut seen);
            }
            while near.forward.poll_drop().is_some() {}
            far.answer(now);
            while let Some(message) = far.reverse.poll(now) {
                near.on_message(now, message.packet.0, say);
                near.pump(now, ends, &mut seen);
            }
            while far.reverse.poll_drop().is_some() {}
            if near.encoded_at <= now {
                near.encoded_at = Time::NEVER;
                let made = std::mem::take(&mut near.made);
                near.engine.on_encoded(now, &made);
            }
            if camera_at <= now {
                near.engine.on_picture(now, picture);
                picture += 1;
                camera_at = Time::ZERO + interval * picture as i64;
            }
            near.engine.on_timeout(now);
            near.pump(now, ends, &mut seen);
        }
    }
}

struct Near {
    engine: Engine,
    forward: Path<(Packet, ())>,
    reader: MessageReader,
    made: Vec<EncodedFrame>,
    /// Frames whose states the encoder keeps.
    kept: BTreeSet<u64>,
    encoded_at: Time,
    wake: Time,
}

impl Near {
    fn next_event(&self) -> Time {
        self.wake.min(self.encoded_at).min(self.forward.next_event())
    }

    fn on_message(&mut self, now: Time, message: Message, say: &mut dyn FnMut(Report) -> Vec<Report>) {
        let mut decoder = None;
        for feedback in self.reader.read(message) {
            match feedback {
                RtcpFeedback::Decoder(report) => decoder = Some(report),
                RtcpFeedback::Arrivals { acknowledgements, hold } => {
                    for report in say(Report { acknowledgements, hold, decoder: decoder.take() }) {
                        if let Some(decoder) = &report.decoder {
                            self.engine.on_decoder(now, decoder);
                        }
                        self.engine.on_feedback(now, &report.acknowledgements, report.hold);
                    }
                }
                RtcpFeedback::Missing(sequences) => self.engine.on_missing(now, &sequences),
                RtcpFeedback::KeyframeNeeded => self.engine.on_keyframe_request(now),
                RtcpFeedback::Path(report) => self.engine.on_path_report(now, &report),
                _ => {}
            }
        }
    }

    fn pump(&mut self, now: Time, ends: &mut dyn Ends, seen: &mut Seen) {
        loop {
            match self.engine.poll() {
                Output::Transmit(packet) => {
                    self.reader.on_sent(&packet);
                    self.forward.offer(now, packet.sent.size, (packet, ()));
                }
                Output::Encode { picture, plan } => {
                    self.made = ends.offer(picture, &plan);
                    self.encoded_at = now + ENCODE_TIME;
                }
                Output::Commit { choice } => {
                    self.kept.extend(ends.commit(choice));
                    seen.max_kept.0 = seen.max_kept.0.max(self.kept.len());
                }
                Output::Forget { frame } => {
                    assert!(self.kept.remove(&frame), "frame {frame} is forgotten, which was not kept");
                    ends.forget(frame);
                }
                Output::Wait { until, .. } => {
                    self.wake = until;
                    break;
                }
                _ => {}
            }
        }
        for timed in self.engine.drain_events() {
            match timed.event {
                Event::FrameQueued { keyframe, quantizer, .. } => {
                    seen.frames.push(Sent { at: timed.at, keyframe, quantizer });
                }
                Event::RecoveryBegan => seen.recoveries += 1,
                _ => {}
            }
        }
    }
}

struct Far {
    receiver: Receiver,
    reverse: Path<(Message, ())>,
}

impl Far {
    fn next_event(&self) -> Time {
        self.receiver.next_event().min(self.reverse.next_event())
    }

    fn on_packet(&mut self, now: Time, packet: &Packet, ends: &mut dyn Ends, seen: &mut Seen) {
        for ready in self.receiver.on_packet(now, packet) {
            let (decoded, kept) = ends.decode(&ready);
            if let (Decoded::Wrong, Some(target)) = (decoded, ready.moves.and_then(|moves| moves.target)) {
                self.receiver.on_disagreement(target);
            }
            seen.decoded.push((now, ready.info.frame, decoded));
            seen.max_kept.1 = seen.max_kept.1.max(kept);
        }
        while self.receiver.poll_abandoned().is_some() {}
    }

    fn answer(&mut self, now: Time) {
        while let Some(report) = self.receiver.poll_report(now) {
            self.reverse.offer(now, report.size, (report, ()));
        }
        for request in self.receiver.poll_requests(now) {
            self.reverse.offer(now, request.size, (request, ()));
        }
    }
}
