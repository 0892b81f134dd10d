//! A sender and a receiver with a negotiated session, and the paths between them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use thalweg_link::{Link, Path, PathConfig, Trace};
use thalweg_receiver::rtp::{AudioPacket, VideoFrame};
use thalweg_sender::frames::{Basis, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_sender::{Camera, Scheme};
use thalweg_session::outgoing::{AudioFrame, ConnectionEvent};
use thalweg_session::{Encoded, Incoming, Outgoing, incoming, outgoing};
use thalweg_transport::sdp::{self, Capabilities, Direction, Local, StreamIds, VideoCodec};
use thalweg_transport::{Config, Connection, Datagram, DtlsRole, Identity};
use thalweg_units::{Bytes, Seed, Size, Span, Time};
use thalweg_wire::rtcp::NtpTime;

/// The start of the process's time; only differences from it matter.
#[allow(clippy::disallowed_methods)]
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

fn addresses() -> [SocketAddr; 2] {
    ["192.0.2.1:1000", "198.51.100.2:2000"].map(|text| text.parse().expect("an address"))
}

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
    there: Path<Datagram>,
    back: Path<Datagram>,
    pictures: u64,
    audio_packets: u64,
    /// Whether the receiver's feedback on media is withheld from the sender; the connection is kept alive.
    pub muted: bool,
    /// The error of the first packet that could not be sent.
    pub unsent: Option<String>,
    /// Datagrams and IP bytes that the sender sent.
    pub sent: (u64, Bytes),
}

/// More turns at one instant than any honest sender needs.
const MAX_TURNS: u32 = 5_000;

impl World {
    /// A world in which the receiver offers, as `thalweg watch` does.
    pub fn new(scheme: Scheme, path: &PathConfig, receiver: &Capabilities) -> World {
        World::with_offer(scheme, path, receiver, str::to_owned)
    }

    /// The same with the offer changed by `change` on its way.
    pub fn with_offer(
        scheme: Scheme,
        path: &PathConfig,
        receiver: &Capabilities,
        change: impl Fn(&str) -> String,
    ) -> World {
        World::with_config(scheme, path, receiver, change, Config::default())
    }

    /// The same with this configuration of the sender's connection.
    pub fn with_config(
        scheme: Scheme,
        path: &PathConfig,
        receiver: &Capabilities,
        change: impl Fn(&str) -> String,
        config: Config,
    ) -> World {
        let identities = [(); 2].map(|()| Identity::generate().expect("random numbers"));
        let [here, there] = addresses();
        let mut configs = [config, Config { controlling: true, ..Config::default() }];
        let connect = |config: &Config, identity: &Identity, address| {
            let mut connection = Connection::new(config.clone(), identity, origin()).expect("a connection");
            connection.add_local(address).expect("an address");
            connection
        };
        let local = |connection: &Connection, identity: &Identity, address, number: u32| Local {
            credentials: connection.credentials().clone(),
            fingerprint: identity.fingerprint(),
            candidates: vec![address],
            lite: false,
            setup: DtlsRole::Client,
            streams: StreamIds { video: number, retransmission: number + 1, fec: number + 2, audio: number + 3 },
            cname: format!("end-{number}"),
        };
        let mut watching = connect(&configs[1], &identities[1], there);
        let offer = sdp::offer(&local(&watching, &identities[1], there, 200), receiver);
        configs[0].dtls = DtlsRole::Client;
        let mut publishing = connect(&configs[0], &identities[0], here);
        let capabilities = Capabilities::all(Direction::SendOnly);
        let answering = local(&publishing, &identities[0], here, 100);
        let answer = sdp::answer(&change(&offer.text), &answering, &capabilities).expect("an answer");
        publishing.set_dtls_role(answer.dtls);
        publishing.set_remote(Time::ZERO, &answer.remote).expect("a good description");
        let accepted = offer.accept(&answer.text).expect("a good answer");
        watching.set_dtls_role(accepted.dtls);
        watching.set_remote(Time::ZERO, &accepted.remote).expect("a good description");
        let setup = outgoing::Setup {
            scheme: Arc::new(scheme),
            camera: Camera { size: Size::new(320, 180), interval: Span::from_millis(33) },
            media: answer.media,
            cname: "publisher".into(),
            seed: Seed::new(5),
            wall: NtpTime::at(Time::ZERO),
            ipv6: false,
        };
        let functional = setup.scheme.parts(setup.camera.size).expect("a good scheme").frames.wants_candidates();
        let outgoing = Outgoing::new(setup, publishing, Time::ZERO).expect("a sender");
        let incoming = incoming::Setup::new(accepted.media, "watcher".into());
        let incoming = Incoming::new(incoming, watching, Time::ZERO).expect("a receiver");
        let mut none = |_: &str| -> Result<Arc<Trace>, Infallible> { unreachable!("no hop has a trace") };
        let there = path.build(Seed::new(1).child("there"), &mut none).expect("a path");
        let back = path.build(Seed::new(1).child("back"), &mut none).expect("a path");
        let (encoded, shown, audio_received) = Default::default();
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
            there,
            back,
            pictures: 0,
            audio_packets: 0,
            muted: false,
            unsent: None,
            sent: (0, Bytes::ZERO),
        }
    }

    /// Runs for `span` with a picture every 33 ms and an audio packet every 20 ms.
    pub fn run(&mut self, span: Span) {
        let end = self.now + span;
        let mut turns = 0;
        loop {
            let due = self.drain();
            let (picture, audio) = (Time::from_millis(33 * self.pictures), Time::from_millis(20 * self.audio_packets));
            let next = due.min(picture).min(audio).min(self.there.next_event()).min(self.back.next_event());
            if next > end {
                self.now = end;
                return;
            }
            turns = if next > self.now { 0 } else { turns + 1 };
            assert!(turns < MAX_TURNS, "no end at {}: the sender waits for {due}", self.now);
            self.now = next.max(self.now);
            while let Some(departure) = self.there.poll(self.now) {
                let Datagram { from, to, bytes } = departure.packet;
                self.incoming.on_datagram(self.now, from, to, &bytes);
                self.drain_incoming();
            }
            while let Some(departure) = self.back.poll(self.now) {
                let Datagram { from, to, bytes } = departure.packet;
                self.outgoing.on_datagram(self.now, from, to, &bytes);
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
        while let incoming::Output::Transmit(Datagram { from, to, bytes }) = self.incoming.poll() {
            self.outgoing.on_datagram(self.now, from, to, &bytes);
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
                    let size = Bytes::new(28 + datagram.bytes.len() as u64);
                    self.sent = (self.sent.0 + 1, self.sent.1 + size);
                    self.there.offer(self.now, size, datagram);
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
                outgoing::Output::Event(ConnectionEvent::Unsent(why)) => self.unsent = Some(why),
                outgoing::Output::Commit { .. } | outgoing::Output::Forget { .. } | outgoing::Output::Event(_) => {}
            }
        }
    }

    fn drain_incoming(&mut self) -> Time {
        loop {
            match self.incoming.poll() {
                // RTCP begins with a version of 2 in the highest bits, STUN and DTLS do not (RFC 7983).
                incoming::Output::Transmit(datagram) if self.muted && datagram.bytes[0] >= 128 => {}
                incoming::Output::Transmit(datagram) => {
                    let size = Bytes::new(28 + datagram.bytes.len() as u64);
                    self.back.offer(self.now, size, datagram);
                }
                incoming::Output::Frame(frame) => self.shown.push(frame),
                incoming::Output::Audio(packet) => self.audio_received.push(packet),
                incoming::Output::Wait { until } => return until,
                incoming::Output::Abandoned(_) | incoming::Output::Event(_) => {}
            }
        }
    }

    /// A frame of the requested size; no two frames are alike.
    fn encode(&mut self, plan: &EncodePlan, target: Target) -> Encoded {
        let size = match target {
            Target::Rate(rate) => rate.over(plan.interval).get().clamp(20, 60_000),
            Target::Size(size) | Target::Guess(size) => size.get().clamp(20, 60_000),
            Target::Quantizer(_) => 1000,
        };
        let number = self.encoded.len() as u64;
        // The bits that mark a keyframe: RFC 6386 section 9.1, VP9 bitstream section 6.2.
        let mut data = match self.outgoing.video().codec {
            VideoCodec::Vp9 => vec![if plan.keyframe { 0x80 } else { 0x84 }],
            VideoCodec::Vp8 | VideoCodec::H264 => vec![u8::from(!plan.keyframe)],
        };
        data.extend(number.to_be_bytes());
        data.resize(size as usize, number as u8);
        let data: Arc<[u8]> = data.into();
        self.encoded.push(data.clone());
        let source = match plan.basis {
            _ if plan.keyframe => INITIAL,
            Basis::After(frame) => self.states[&frame],
            Basis::Latest | Basis::Buffers(_) => self.latest,
        };
        let transition = Transition { source, target: StateHash(1000 + number) };
        self.transitions.push(transition);
        let frame = EncodedFrame {
            size: Bytes::new(size),
            keyframe: plan.keyframe,
            layer: plan.layer.number,
            quantizer: None,
            picture: plan.size,
            transition: self.functional.then_some(transition),
        };
        Encoded { frame, data }
    }
}
