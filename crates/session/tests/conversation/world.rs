//! A sender and a receiver with a negotiated session, and the paths between them.

#[path = "../../../transport/tests/world/ends.rs"]
mod ends;

use std::collections::BTreeMap;
use std::sync::Arc;

use ends::{Paths, addresses, connection, identities, local, negotiate, origin};
use thalweg_netsim::PathConfig;
use thalweg_receiver::rtp::{AudioPacket, VideoFrame};
use thalweg_sender::frames::{Basis, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_sender::{Camera, SenderFactory};
use thalweg_session::outgoing::{AudioFrame, ConnectionEvent};
use thalweg_session::{Encoded, Incoming, Outgoing, incoming, outgoing};
use thalweg_transport::sdp::{Capabilities, Direction, VideoCodec};
use thalweg_transport::{Config, Connection, Datagram};
use thalweg_units::{Bytes, Ecn, Seed, Size, Span, Time};
use thalweg_wire::rtcp::NtpTime;

/// The initial state of every decoder.
pub const INITIAL: StateHash = StateHash(7);

pub struct World {
    now: Time,
    /// The transition of each frame that the encoder made.
    pub transitions: Vec<Transition>,
    /// The number of the first candidate of the last picture, and the states after sent frames.
    candidates: usize,
    states: BTreeMap<u64, StateHash>,
    latest: StateHash,
    functional: bool,
    pub outgoing: Outgoing,
    pub incoming: Incoming,
    /// The encoder's output, in order.
    pub encoded: Vec<Arc<[u8]>>,
    pub shown: Vec<VideoFrame>,
    pub audio_received: Vec<AudioPacket>,
    paths: Paths,
    pictures: u64,
    /// The share of its target that the encoder makes.
    pub makes: f64,
    /// True once the camera gives no more pictures.
    pub silent: bool,
    audio_packets: u64,
    /// True if the receiver's feedback on media is withheld from the sender; the connection is kept alive.
    pub muted: bool,
    /// The first RTCP of the receiver's side, sent before it reports anything.
    pub greeting: Vec<u8>,
    /// The errors that the sender and the receiver reported.
    pub errors: [Vec<String>; 2],
    /// Datagrams and IP bytes that the sender sent.
    pub sent: (u64, Bytes),
    /// RTCP that the sender and the receiver sent, by ECN field.
    pub rtcp_by_ecn: [[u64; 4]; 2],
    /// Datagrams of ICE and DTLS, of either, that said ECT.
    pub capable_handshakes: u64,
}

/// More turns at one instant than any honest sender needs.
const MAX_TURNS: u32 = 5_000;

impl World {
    /// A world in which the receiver offers, as `thalweg watch` does.
    pub fn new(scheme: impl SenderFactory + 'static, path: &PathConfig, receiver: &Capabilities) -> World {
        World::with(scheme, path, receiver, str::to_owned, Config::default())
    }

    /// The same with the offer changed by `change` on its way, and this configuration of both connections.
    pub fn with(
        scheme: impl SenderFactory + 'static,
        path: &PathConfig,
        receiver: &Capabilities,
        change: impl Fn(&str) -> String,
        config: Config,
    ) -> World {
        let configs = [config.clone(), Config { controlling: true, ..config }];
        let connect = |end: usize| connection(configs[end].clone(), &identities()[end], origin(), addresses()[end]);
        let [mut publishing, mut watching] = [connect(0), connect(1)];
        let answers = local(&publishing, &identities()[0], addresses()[0], 100);
        let offers = local(&watching, &identities()[1], addresses()[1], 200);
        let mut sender = Capabilities::all(Direction::SendOnly);
        sender.video.push(VideoCodec::Av1);
        let parts = scheme.parts(Size::new(320, 180)).expect("a good scheme");
        sender.feedback.frames = parts.ecn.is_some();
        let functional = parts.frames.wants_candidates();
        let [receives, sends] =
            negotiate((&mut watching, &offers, receiver), change, (&mut publishing, &answers, &sender));
        let setup = outgoing::Setup {
            scheme: Arc::new(scheme),
            camera: Camera { size: Size::new(320, 180), interval: Span::from_millis(33) },
            media: sends,
            cname: "publisher".into(),
            seed: Seed::new(5),
            wall: NtpTime::at(Time::ZERO),
            ipv6: false,
        };
        let outgoing = Outgoing::new(setup, publishing, Time::ZERO).expect("a sender");
        let incoming = incoming::Setup::new(receives, "watcher".into());
        let incoming = Incoming::new(incoming, watching, Time::ZERO).expect("a receiver");
        let (encoded, shown, audio_received, greeting, errors) = Default::default();
        let (transitions, states) = Default::default();
        World {
            now: Time::ZERO,
            transitions,
            candidates: 0,
            states,
            latest: INITIAL,
            functional,
            outgoing,
            incoming,
            encoded,
            shown,
            audio_received,
            paths: Paths::new(path, 1),
            pictures: 0,
            makes: 1.0,
            silent: false,
            audio_packets: 0,
            muted: false,
            greeting,
            errors,
            sent: (0, Bytes::ZERO),
            rtcp_by_ecn: [[0; 4]; 2],
            capable_handshakes: 0,
        }
    }

    /// Runs for `span` with a picture every 33 ms and an audio packet every 20 ms.
    pub fn run(&mut self, span: Span) {
        let end = self.now + span;
        let mut turns = 0;
        loop {
            let due = self.drain();
            let picture = if self.silent { Time::NEVER } else { Time::from_millis(33 * self.pictures) };
            let audio = Time::from_millis(20 * self.audio_packets);
            let next = due.min(picture).min(audio).min(self.paths.next_event());
            if next > end {
                self.now = end;
                return;
            }
            turns = if next > self.now { 0 } else { turns + 1 };
            assert!(turns < MAX_TURNS, "no end at {}: the sender waits for {due}", self.now);
            self.now = next.max(self.now);
            while let Some(Datagram { from, to, ecn, bytes }) = self.paths.poll(self.now, 0) {
                self.incoming.on_datagram(self.now, from, to, ecn, &bytes);
                self.drain_incoming();
            }
            while let Some(Datagram { from, to, ecn, bytes }) = self.paths.poll(self.now, 1) {
                self.outgoing.on_datagram(self.now, from, to, ecn, &bytes);
                self.drain_outgoing();
            }
            if picture <= self.now {
                self.outgoing.on_picture(self.now, self.pictures);
                self.pictures += 1;
            }
            if audio <= self.now {
                let audio = AudioFrame {
                    data: vec![0xfc, 0xff, 0xfe].into(),
                    ticks: 960 * self.audio_packets,
                    captured: self.now,
                };
                self.outgoing.on_audio(self.now, audio);
                self.audio_packets += 1;
            }
            self.outgoing.on_timeout(self.now);
            self.incoming.on_timeout(self.now);
        }
    }

    /// The receiver's side sends something of its own, which the sender gets at once.
    pub fn say(&mut self, speak: impl FnOnce(&mut Connection)) {
        self.drain();
        speak(self.incoming.connection());
        while let incoming::Output::Transmit(Datagram { from, to, bytes, .. }) = self.incoming.poll() {
            self.outgoing.on_datagram(self.now, from, to, Ecn::NotCapable, &bytes);
            self.drain_outgoing();
        }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    fn drain(&mut self) -> Time {
        self.drain_outgoing().min(self.drain_incoming())
    }

    fn drain_outgoing(&mut self) -> Time {
        loop {
            match self.outgoing.poll() {
                outgoing::Output::Transmit(datagram) => {
                    self.note(0, &datagram);
                    let size = self.paths.offer(self.now, 0, datagram);
                    self.sent = (self.sent.0 + 1, self.sent.1 + size);
                }
                outgoing::Output::Encode { plan, .. } => {
                    self.candidates = self.encoded.len();
                    let candidates = plan.targets.iter().map(|target| self.encode(&plan, *target)).collect();
                    self.outgoing.on_encoded(self.now, candidates);
                }
                outgoing::Output::Wait { until, .. } => return until,
                outgoing::Output::Commit { choice: Some((index, frame)) } => {
                    self.latest = self.transitions[self.candidates + index].target;
                    self.states.insert(frame, self.latest);
                }
                outgoing::Output::Event(event) => self.errors[0].extend(error(event)),
                outgoing::Output::Commit { .. } | outgoing::Output::Forget { .. } => {}
            }
        }
    }

    fn drain_incoming(&mut self) -> Time {
        loop {
            match self.incoming.poll() {
                // RTCP begins with a version of 2 in the highest bits, STUN and DTLS do not (RFC 7983).
                incoming::Output::Transmit(datagram) if self.muted && datagram.bytes[0] >= 128 => {}
                incoming::Output::Transmit(datagram) => {
                    self.note(1, &datagram);
                    self.paths.offer(self.now, 1, datagram);
                }
                incoming::Output::Frame(frame) => self.shown.push(frame),
                incoming::Output::Audio(packet) => self.audio_received.push(packet),
                incoming::Output::Wait { until } => return until,
                incoming::Output::Event(ConnectionEvent::Connected) if !self.greeting.is_empty() => {
                    self.incoming.connection().send_rtcp(&self.greeting).expect("connected");
                }
                incoming::Output::Event(event) => self.errors[1].extend(error(event)),
                incoming::Output::Abandoned(_) => {}
            }
        }
    }

    /// Counts a datagram that the sender (0) or the receiver (1) sends.
    fn note(&mut self, end: usize, datagram: &Datagram) {
        match datagram.bytes[..2] {
            [128..=255, 192..=223] => self.rtcp_by_ecn[end][usize::from(datagram.ecn.bits())] += 1,
            [128..=255, _] => {}
            _ => self.capable_handshakes += u64::from(datagram.ecn.is_capable()),
        }
    }

    /// A frame of the requested size; no two frames are alike.
    fn encode(&mut self, plan: &EncodePlan, target: Target) -> Encoded {
        let size = match target {
            Target::Rate(rate) => rate.scale(self.makes).over(plan.interval).get().clamp(20, 60_000),
            Target::Size(size) | Target::Guess(size) => size.get().clamp(20, 60_000),
            Target::Quantizer(_) => 1000,
        };
        let number = self.encoded.len() as u64;
        // The bits that mark a keyframe: RFC 6386 section 9.1, VP9 bitstream section 6.2, AV1 section 5.9.2.
        let mut data = match self.outgoing.video().codec {
            VideoCodec::Vp9 => vec![if plan.keyframe { 0x80 } else { 0x84 }],
            VideoCodec::Av1 => vec![if plan.keyframe { 0x10 } else { 0x30 }],
            VideoCodec::Vp8 | VideoCodec::H264 => vec![u8::from(!plan.keyframe)],
        };
        data.extend(number.to_be_bytes());
        data.resize(size as usize, number as u8);
        if self.outgoing.video().codec == VideoCodec::Av1 {
            data = temporal_unit(plan.keyframe, &data);
        }
        let (size, data): (u64, Arc<[u8]>) = (data.len() as u64, data.into());
        self.encoded.push(data.clone());
        let source = match plan.basis {
            _ if plan.keyframe => INITIAL,
            Basis::After(frame) => self.states[&frame],
            Basis::Latest | Basis::Buffers(_) => self.latest,
        };
        let transition = Transition { source, target: StateHash(1000 + number) };
        self.transitions.push(transition);
        let frame = EncodedFrame::new(Bytes::new(size), plan.size).with(|frame| {
            frame.keyframe = plan.keyframe;
            frame.layer = plan.layer.number;
            frame.transition = self.functional.then_some(transition);
        });
        Encoded { frame, data }
    }
}

/// A temporal unit of AV1 with this frame in it: a delimiter, a sequence header if it is a keyframe, and the frame behind its
/// size, seven bits a byte.
fn temporal_unit(keyframe: bool, frame: &[u8]) -> Vec<u8> {
    let sequence: &[u8] = if keyframe { &[0x0a, 1, 0] } else { &[] };
    let (mut unit, mut left) = ([&[0x12, 0], sequence, &[0x32]].concat(), frame.len());
    while left >= 0x80 {
        unit.push(left as u8 | 0x80);
        left >>= 7;
    }
    unit.push(left as u8);
    [&unit[..], frame].concat()
}

fn error(event: ConnectionEvent) -> Option<String> {
    match event {
        ConnectionEvent::Unusable(error) => Some(error.to_string()),
        ConnectionEvent::Unsent(why) => Some(why),
        _ => None,
    }
}
