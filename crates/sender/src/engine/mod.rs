//! The engine: pictures and reports in, packets out, without clock, I/O or pixels.
//!
//! The contract is str0m's: mutate ([`Engine::on_picture`], [`Engine::on_encoded`], [`Engine::on_feedback`], ...), then
//! drain [`Engine::poll`] until it answers [`Output::Wait`], then mutate again, at the latest when the wait is over
//! ([`Engine::on_timeout`]). Every call that changes state carries the time, and times never go back.
//!
//! Every one of these calls is one `input`: time advances, the input makes its change and records what it changed, and
//! the engine settles once at its end (`settle.rs` says in which order). A new input has nothing else to call. A packet
//! that leaves is an input too: [`Engine::poll`] settles after it, when the packet is complete.
//!
//! The engine asks for frames ([`Output::Encode`]) and says which candidate it took ([`Output::Commit`]). The caller
//! owns the pictures, the encoder and the encoded bytes, and finds a packet's bytes by its fragment.

mod assembled;
mod audio;
mod camera;
mod ceiling;
mod change;
mod release;
mod settle;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_control::ecn::Ect1Policy;
use thalweg_control::{Acknowledgement, Fate, Feedback, History, PacketId, PathReport, SendLimits, Signal};
use thalweg_types::Packet;
use thalweg_types::feedback::DecoderReport;
use thalweg_units::{Bytes, ConfigError, Rate, Size, Span, Time, above, check};

use crate::event::{Event, Timed, Wake, Why};
use crate::frames::{EncodePlan, Occasion, QueueView, View};
use crate::parts::Parts;
use crate::repair::Repair;
use crate::scheme::SenderFactory;
use assembled::Assembled;
use audio::QueuedAudio;
use camera::{Encoding, Slot};
use ceiling::Ceiling;
use settle::Changed;

/// The smoothed round trip assumed before the first sample (specs/vidaptive.md C3).
const SRTT_BEFORE_SAMPLES: Span = Span::from_millis(100);
/// Interval at which the variables of controller and policy are sampled into the event stream.
const INSPECTION_INTERVAL: Span = Span::from_millis(100);
/// Keyframe requests closer together than this count as one (libwebrtc `EncoderRtcpFeedback`, 300 ms).
const KEYFRAME_REQUEST_INTERVAL: Span = Span::from_millis(300);

/// The video source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Camera {
    /// The size of its pictures, in pixels.
    pub size: Size,
    /// The time between pictures.
    pub interval: Span,
}

impl Camera {
    /// Checks that time passes between its pictures.
    ///
    /// # Errors
    /// When the interval is not above zero.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("camera.interval", self.interval).within(above(Span::ZERO), "33.3ms")?;
        Ok(())
    }
}

/// Request of the engine to its caller. One that the caller does not know may be left out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Encode this picture; answer with [`Engine::on_encoded`].
    Encode {
        /// The picture's number.
        picture: u64,
        /// How to encode it.
        plan: EncodePlan,
    },
    /// Selects the candidate, of those just given to [`Engine::on_encoded`], that becomes a frame; or none is sent.
    Commit {
        /// The index of the candidate and the frame's number.
        choice: Option<(usize, u64)>,
    },
    /// No later frame is encoded from the state after this frame: the encoder may drop it.
    Forget {
        /// The frame's number.
        frame: u64,
    },
    /// Send this packet.
    Transmit(Packet),
    /// Nothing to do before this time, unless one of the engine's other methods is called first.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
        /// The reason to wake.
        why: Wake,
    },
}

/// A sender of one video stream.
pub struct Engine {
    camera: Camera,
    parts: Assembled,
    history: History,
    limits: SendLimits,
    ceiling: Ceiling,
    reported: SendLimits,
    audio: VecDeque<QueuedAudio>,
    slot: Option<Slot>,
    encoding: Option<Encoding>,
    keyframe: Option<Why>,
    recovering: bool,
    last_keyframe_request: Option<Time>,
    last_read: Time,
    /// No pictures come from the source until told otherwise.
    silent: bool,
    last_size: Size,
    next_id: u64,
    next_sequence: u64,
    next_frame: u64,
    /// The newest frame that became the last frame ([`Buffers`](crate::frames::Buffers)).
    last_frame: Option<u64>,
    last_sent: Option<Time>,
    /// How many packets may still leave in spite of the window because of a probe timeout.
    probe_packets: u32,
    /// When the last packet left whose report may not wait.
    last_report_due: Time,
    /// Wire bytes sent so far: the next packet's `before`.
    sent_in_all: Bytes,
    sent_wire: f64,
    sent_payload: f64,
    sent_repair: f64,
    /// Packets reported as arrived, by ECN field.
    arrived_by_ecn: [u64; 4],
    /// The first packet of each of the last frames, for the frames that FEC stands for.
    first_packets: VecDeque<(u64, u64)>,
    now: Time,
    /// Changes since the last settling.
    changed: Changed,
    next_inspection: Time,
    outputs: VecDeque<Output>,
    events: Vec<Timed>,
}

impl Engine {
    /// A sender of the given scheme for one camera, before its first picture.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range.
    pub fn new(scheme: &dyn SenderFactory, camera: Camera, now: Time) -> Result<Engine, ConfigError> {
        Engine::with(scheme.parts(camera.size)?, camera, now)
    }

    /// A sender of these parts for one camera, before its first picture.
    ///
    /// # Errors
    /// When a parameter of a part is out of range.
    pub fn with(parts: Parts, camera: Camera, now: Time) -> Result<Engine, ConfigError> {
        camera.check()?;
        let loss_detection = parts.loss_detection;
        let parts = Assembled::new(parts, PacketId(0), now)?;
        let mut engine = Engine {
            camera,
            limits: parts.controller.limits(),
            parts,
            history: History::new(loss_detection),
            reported: SendLimits::of_rate(Rate::ZERO),
            audio: VecDeque::new(),
            ceiling: Ceiling::none(),
            slot: None,
            encoding: None,
            keyframe: Some(Why::FirstFrame),
            recovering: false,
            last_keyframe_request: None,
            last_read: now,
            silent: false,
            last_size: camera.size,
            next_id: 0,
            next_sequence: 0,
            next_frame: 0,
            last_frame: None,
            last_sent: None,
            probe_packets: 0,
            last_report_due: now,
            sent_in_all: Bytes::ZERO,
            sent_wire: 0.0,
            sent_payload: 0.0,
            sent_repair: 0.0,
            arrived_by_ecn: [0; 4],
            first_packets: VecDeque::new(),
            now,
            changed: Changed { controller: true, ..Changed::default() },
            next_inspection: now,
            outputs: VecDeque::new(),
            events: Vec::new(),
        };
        engine.settle();
        Ok(engine)
    }

    /// The candidates that the encoder made of the picture asked for; empty when its rate control dropped the picture.
    pub fn on_encoded(&mut self, now: Time, candidates: &[crate::frames::EncodedFrame]) {
        let mut queued = None;
        self.input(now, |engine| queued = engine.take_candidates(candidates));
        // What the controller makes of the frame is recorded before the frame.
        self.input(now, |engine| engine.free_encoder(queued));
    }

    /// The camera delivered a picture; `picture` is the caller's number for it, one higher each time.
    pub fn on_picture(&mut self, now: Time, picture: u64) {
        self.on_captured(now, now, picture);
    }

    /// The same of a picture that is delivered later than it was captured, at `captured`, which its packets carry.
    pub fn on_captured(&mut self, now: Time, captured: Time, picture: u64) {
        self.input(now, |engine| engine.read_camera(picture, captured));
    }

    /// The source has ended or pauses: until its next picture nothing is padded, whatever the scheme would fill, and only
    /// audio and repair are sent.
    pub fn on_source_silent(&mut self, now: Time) {
        self.input(now, |engine| engine.silent = true);
    }

    /// A receiver report arrived; `hold` is how long the receiver held it back, if it says so.
    pub fn on_feedback(&mut self, now: Time, acknowledgements: &[Acknowledgement], hold: Option<Span>) {
        self.input(now, |engine| {
            let feedback = engine.history.on_report(now, acknowledgements, hold);
            if feedback.has_arrivals() {
                engine.probe_packets = 0;
            }
            for report in feedback.reports {
                if let Fate::Arrived { ecn, .. } = report.fate {
                    engine.arrived_by_ecn[usize::from(ecn.bits())] += 1;
                }
            }
            deliver(&feedback, &mut engine.parts, &mut engine.events, &mut engine.changed);
        });
    }

    /// The receiver reported its decoder's state, in a message of its own or with a feedback report. If both come
    /// together, call this before [`Engine::on_feedback`].
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        self.input(now, |engine| {
            engine.signal(Signal::Interarrival(report.interarrival));
            engine.parts.policy.on_decoder(now, report);
            engine.changed.policy = true;
        });
    }

    /// The receiver reported its own measurement of the path.
    pub fn on_path_report(&mut self, now: Time, report: &PathReport) {
        self.on_signal(now, Signal::PathReport(*report));
    }

    /// Something happened that concerns the controller: another route, a limit that the receiver or the application sets.
    /// No scheme sends more than such a limit, all kinds of packets together, from the IP header on; one whose controller
    /// obeys it ([`Controller::obeys`](thalweg_control::Controller::obeys)) does so by its own rule.
    pub fn on_signal(&mut self, now: Time, signal: Signal) {
        self.input(now, |engine| {
            engine.signal(signal);
            match signal {
                Signal::RouteChanged { .. } => engine.parts.ecn.iter_mut().for_each(Ect1Policy::on_route_changed),
                Signal::ReceiverLimit(_) => engine.ceiling.told[0] = Some(signal),
                Signal::Bounds(_) => engine.ceiling.told[1] = Some(signal),
                _ => {}
            }
            engine.hold();
        });
    }

    /// The receiver reported these media packets missing.
    pub fn on_missing(&mut self, now: Time, sequences: &[u64]) {
        self.input(now, |engine| {
            let srtt = engine.srtt();
            let Some(repair) = &mut engine.parts.repair else { return };
            for &sequence in sequences {
                if let Err(why) = repair.request(now, sequence, srtt) {
                    engine.events.push(Timed { at: now, event: Event::RetransmissionRefused { sequence, why } });
                }
            }
        });
    }

    /// The receiver requested a keyframe.
    pub fn on_keyframe_request(&mut self, now: Time) {
        self.input(now, |engine| {
            if engine.last_keyframe_request.is_none_or(|last| now - last >= KEYFRAME_REQUEST_INTERVAL) {
                engine.last_keyframe_request = Some(now);
                engine.force_keyframe(Why::ReceiverRequest);
            }
        });
    }

    /// The time of the last [`Output::Wait`] has come. Early and late calls do no harm.
    pub fn on_timeout(&mut self, now: Time) {
        self.input(now, |engine| {
            if engine.parts.controller.next_timeout() <= now {
                engine.parts.controller.on_timeout(now);
                engine.changed.controller = true;
            }
        });
        self.input(now, |engine| {
            let probes = engine.history.on_probe_timeout(now);
            if probes > 0 {
                engine.probe_packets = probes;
                engine.emit(Event::ProbeTimeout { in_flight: engine.history.in_flight() });
            }
            if engine.history.next_timeout() <= now
                && let Some(feedback) = engine.history.on_timeout(now)
            {
                deliver(&feedback, &mut engine.parts, &mut engine.events, &mut engine.changed);
            }
            engine.changed.queue = true;
        });
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        if let Some(output) = self.outputs.pop_front() {
            return output;
        }
        if let Some(packet) = self.release() {
            self.settle();
            return Output::Transmit(packet);
        }
        let (until, why) = self.next_wake();
        Output::Wait { until, why }
    }

    /// Drains the events since the last call, oldest first.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Timed> + '_ {
        self.events.drain(..)
    }

    /// Smoothed round-trip time; 100 ms before the first sample.
    pub fn srtt(&self) -> Span {
        self.history.srtt().unwrap_or(SRTT_BEFORE_SAMPLES)
    }

    /// The newest round trip without the time that the receiver held back its report, as the peer measures it from RTCP
    /// (RFC 3550 section 6.4.1); 100 ms before the first sample.
    pub fn path_rtt(&self) -> Span {
        self.history.path_rtt().unwrap_or(SRTT_BEFORE_SAMPLES)
    }

    /// The number of the oldest media packet that may still be retransmitted on request: its payload is needed as long.
    /// `None` where nothing is retransmitted.
    pub fn retransmits_from(&self) -> Option<u64> {
        self.parts.repair.as_ref().map(Repair::retransmits_from)
    }

    /// Packets that reports say arrived, by the ECN field they arrived with, in the order of
    /// [`Ecn::ALL`](thalweg_units::Ecn::ALL); Not-ECT too where reports do not carry it.
    pub fn arrived_by_ecn(&self) -> [u64; 4] {
        self.arrived_by_ecn
    }

    /// Present limits of the controller.
    pub fn limits(&self) -> &SendLimits {
        &self.limits
    }

    /// Why the controller can decide no more ([`Controller::failure`](thalweg_control::Controller::failure)); until it
    /// is replaced, its last limits hold.
    pub fn failure(&self) -> Option<&str> {
        self.parts.controller.failure()
    }

    /// View of a frame policy if a picture had just been read.
    pub fn view(&self) -> View {
        self.seen(Occasion::CameraRead, Span::ZERO)
    }

    fn emit(&mut self, event: Event) {
        self.events.push(Timed { at: self.now, event });
    }

    fn advance(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time went back from {} to {now}", self.now);
        self.now = now;
        if now >= self.next_inspection {
            self.next_inspection = now + INSPECTION_INTERVAL;
            let events = &mut self.events;
            let mut see = |name, value| events.push(Timed { at: now, event: Event::Variable { name, value } });
            // First in every scheme: the controller's capacity estimate, by which it is judged.
            see("capacity_bps", self.limits.capacity.as_bps_f64());
            self.parts.controller.inspect(&mut see);
            self.parts.policy.inspect(&mut see);
            if let Some(ecn) = &self.parts.ecn {
                ecn.inspect(&mut see);
            }
            if let Some(repair) = &self.parts.repair {
                repair.inspect(&mut see);
            }
            if let Some(bucket) = &self.parts.bucket {
                bucket.inspect(&mut see);
            }
        }
    }

    fn queue_view(&self) -> QueueView {
        QueueView {
            bytes: self.parts.queue.wire_bytes(),
            packets: self.parts.queue.packets(),
            oldest: self.parts.queue.oldest(),
        }
    }

    /// Tells the controller what only it has a use for.
    fn signal(&mut self, signal: Signal) {
        self.parts.controller.on_signal(self.now, signal);
        self.changed.controller = true;
    }

    fn force_keyframe(&mut self, why: Why) {
        self.keyframe = Some(why);
        self.emit(Event::KeyframeForced { why });
    }
}

/// The one place that passes feedback on, from a report or from the history's feedback timeout, to every part that uses
/// it.
fn deliver(feedback: &Feedback<'_>, parts: &mut Assembled, events: &mut Vec<Timed>, changed: &mut Changed) {
    let feedback = feedback.since(parts.first);
    let arrived = feedback.reports.iter().filter(|report| report.arrival().is_some()).count() as u32;
    let lost = feedback.reports.len() as u32 - arrived;
    let event = Event::Feedback { arrived, lost, rtt: feedback.rtt, in_flight: feedback.in_flight };
    events.push(Timed { at: feedback.now, event });
    parts.controller.on_feedback(&feedback);
    if let Some(ecn) = &mut parts.ecn {
        ecn.on_feedback(&feedback);
    }
    if let Some(repair) = &mut parts.repair {
        repair.on_feedback(&feedback);
    }
    if let Some(redundant) = &mut parts.redundant {
        redundant.on_feedback(&feedback);
    }
    if let Some(bucket) = &mut parts.bucket {
        bucket.on_feedback(&feedback);
    }
    parts.policy.on_feedback(&feedback);
    *changed = Changed { queue: true, policy: true, controller: true, ..*changed };
}
