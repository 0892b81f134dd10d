//! One viewer: a sender of its own, an encoder of its own.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;

use thalweg_codecs::Codec;
use thalweg_sender::frames::EncodePlan;
use thalweg_sender::{Scheme, Wake};
use thalweg_session::outgoing::Notice;
use thalweg_session::{Encoded, Outgoing, Output, Sound};
use thalweg_transport::{Datagram, Remote};
use thalweg_units::{ConfigError, Seed, Size, Time};

use super::camera::{Seen, Taken};
use super::encoder::EncoderThread;
use super::gauges::Gauges;
use super::messages::{Key, Message, Outbox};
use super::passthrough::Passthrough;
use super::records::Trace;
use crate::clock::Clock;
use crate::reactor::Lateness;

/// What a viewer's connection is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Connecting,
    Connected,
    Disconnected,
    Closed,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            State::Connecting => "connecting",
            State::Connected => "connected",
            State::Disconnected => "disconnected",
            State::Closed => "closed",
        }
    }
}

/// Pictures that an encoder may yet be asked for: it is asked for the newest, or for the one before while a new one comes.
#[derive(Debug, Default)]
pub(super) struct Album(VecDeque<Taken>);

impl Album {
    const KEPT: usize = 8;

    pub(super) fn put(&mut self, taken: Taken) {
        self.0.push_back(taken);
        if self.0.len() > Album::KEPT {
            self.0.pop_front();
        }
    }

    fn find(&self, number: u64) -> Option<&Taken> {
        self.0.iter().rev().find(|taken| taken.number == number)
    }
}

/// What a viewer's encoder is started with.
#[derive(Debug, Clone)]
pub(super) struct Encoding {
    /// Which codec; `None` for frames that are encoded already.
    pub(super) codec: Option<Codec>,
    pub(super) size: Size,
    pub(super) seed: Seed,
}

/// What makes frames for a viewer.
enum Coder {
    Thread(EncoderThread),
    Passthrough(Passthrough),
}

impl Coder {
    fn commit(&mut self, choice: Option<usize>) {
        match self {
            Coder::Thread(encoder) => encoder.commit(choice),
            Coder::Passthrough(frames) => frames.commit(choice.is_some()),
        }
    }

    fn forget(&mut self, frame: u64) {
        if let Coder::Thread(encoder) = self {
            encoder.forget(frame);
        }
    }
}

impl Encoding {
    /// What can follow the plans of `scheme`.
    fn start(&self, scheme: &Scheme, viewer: Key, number: u64, outbox: &Outbox) -> Result<Coder, String> {
        let codec = match &self.codec {
            None if scheme.needs_candidates() => {
                let name = &scheme.name;
                return Err(format!(
                    "{name} chooses among frames: it needs an encoder, not frames that are encoded already"
                ));
            }
            None => return Ok(Coder::Passthrough(Passthrough::default())),
            Some(codec) if scheme.needs_candidates() => codec.functional(),
            Some(codec) => codec.clone(),
        };
        let outbox = outbox.clone();
        let made = move |made| {
            outbox.send(Message::Encoded { viewer, encoder: number, made });
        };
        EncoderThread::start(&codec, self.size, self.seed, made).map(Coder::Thread).map_err(|error| error.to_string())
    }
}

/// A viewer.
pub(super) struct Viewer {
    pub(super) key: Key,
    /// Its name, which nobody can guess.
    pub(super) id: String,
    /// Of its ICE session.
    pub(super) etag: u64,
    pub(super) channel: usize,
    pub(super) joined: Time,
    pub(super) state: State,
    pub(super) outgoing: Outgoing,
    pub(super) gauges: Gauges,
    /// How late packets left.
    pub(super) lateness: Lateness,
    /// What signalling said of the other end.
    pub(super) remote: Option<Remote>,
    /// Who wants to know what becomes of the connection.
    pub(super) states: Option<Sender<State>>,
    /// Addresses whose datagrams are this viewer's.
    pub(super) addresses: VecDeque<SocketAddr>,
    encoding: Encoding,
    encoder: Coder,
    /// Which encoder it is, of those this viewer has had.
    encoder_number: u64,
    wake: (Time, Wake),
    /// The address of ours that packets left from last.
    here: Option<SocketAddr>,
    trace: Option<Trace>,
}

impl Viewer {
    pub(super) fn new(
        (key, id, channel): (Key, String, usize),
        outgoing: Outgoing,
        encoding: Encoding,
        outbox: &Outbox,
        now: Time,
    ) -> Result<Viewer, String> {
        let encoder = encoding.start(outgoing.scheme(), key, 0, outbox)?;
        Ok(Viewer {
            key,
            id,
            etag: 0,
            channel,
            joined: now,
            state: State::Connecting,
            outgoing,
            gauges: Gauges::default(),
            lateness: Lateness::default(),
            remote: None,
            states: None,
            addresses: VecDeque::new(),
            encoding,
            encoder,
            encoder_number: 0,
            wake: (now, Wake::Nothing),
            here: None,
            trace: None,
        })
    }

    /// When it is to be pumped although nothing happens.
    pub(super) fn wake(&self) -> Time {
        self.wake.0
    }

    /// Writes down what happens from now on.
    pub(super) fn record(&mut self, trace: Option<Trace>, captures: bool) {
        self.trace = trace;
        if captures {
            self.outgoing.capture();
        }
    }

    /// From where to where packets go.
    pub(super) fn path(&self) -> Option<(SocketAddr, SocketAddr)> {
        self.here.zip(self.outgoing.remote_address())
    }

    /// It is gone.
    pub(super) fn finish(self) {
        if let Some(Err(error)) = self.trace.map(Trace::finish) {
            tracing::warn!(viewer = self.key, %error, "the end of the qlog is lost");
        }
    }

    /// Something has changed: there may be something to do.
    pub(super) fn due(&mut self, now: Time) {
        self.wake.0 = now;
    }

    /// Says goodbye, which leaves when it is pumped next.
    pub(super) fn close(&mut self, now: Time) {
        self.outgoing.close(now);
        self.wake.0 = now;
    }

    /// A picture was taken.
    pub(super) fn on_picture(&mut self, now: Time, number: u64) {
        self.outgoing.on_picture(now, number);
        self.wake.0 = now;
    }

    /// A packet of sound was made.
    pub(super) fn on_sound(&mut self, now: Time, sound: Sound) {
        self.outgoing.on_sound(now, sound);
        self.wake.0 = now;
    }

    /// What an encoder made; of one that was replaced nothing is wanted.
    pub(super) fn on_encoded(&mut self, now: Time, encoder: u64, made: Vec<Encoded>) {
        if encoder == self.encoder_number {
            self.outgoing.on_encoded(now, made);
            self.wake.0 = now;
        }
    }

    /// A datagram came.
    pub(super) fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.outgoing.on_datagram(now, from, to, bytes);
        self.wake.0 = now;
    }

    /// Messages of STUN that were signed by who they claim to be of.
    pub(super) fn authentic_checks(&mut self) -> u64 {
        self.outgoing.connection().statistics().stun
    }

    /// Where acknowledgements come from.
    pub(super) fn feedback_kind(&self) -> &'static str {
        let video = self.outgoing.video();
        match (video.feedback.congestion, video.extensions.transport_sequence, video.extensions.transport_on_request) {
            (true, ..) => "rfc8888",
            (false, Some(_), true) => "twcc-02",
            (false, Some(_), false) => "twcc-01",
            (false, None, _) => "receiver-reports",
        }
    }

    /// From now on it is sent to by another scheme.
    pub(super) fn switch(&mut self, now: Time, scheme: &Scheme, outbox: &Outbox) -> Result<(), String> {
        let next = self.encoder_number + 1;
        let encoder = self.encoding.start(scheme, self.key, next, outbox)?;
        self.outgoing.change_scheme(now, scheme).map_err(|error: ConfigError| error.to_string())?;
        // What the old encoder is at work on will not come: the engine need not wait for it.
        self.outgoing.on_encoded(now, Vec::new());
        (self.encoder, self.encoder_number) = (encoder, next);
        self.wake.0 = now;
        Ok(())
    }

    /// Does what is due, until there is something to wait for; datagrams go to `send`.
    pub(super) fn pump(&mut self, clock: &Clock, album: &Album, mut send: impl FnMut(&Datagram)) {
        let now = clock.now();
        let (wanted, why) = self.wake;
        if wanted > now {
            return;
        }
        if matches!(why, Wake::Pacer | Wake::Filler | Wake::Probe | Wake::Repair) {
            self.lateness.record(wanted, now);
        }
        self.outgoing.on_timeout(now);
        loop {
            match self.outgoing.poll() {
                Output::Transmit(datagram) => {
                    self.here = Some(datagram.from);
                    send(&datagram);
                }
                Output::Encode { picture, plan } => self.encode(now, album, picture, plan),
                Output::Commit { choice } => self.encoder.commit(choice.map(|(index, _)| index)),
                Output::Forget { frame } => self.encoder.forget(frame),
                Output::News(notice) => self.on_notice(notice),
                Output::Wait { until, why } => {
                    self.wake = (until, why);
                    break;
                }
            }
        }
        for event in self.outgoing.drain_events() {
            self.gauges.on_event(&event);
            if let Some(Err(error)) = self.trace.as_mut().map(|trace| trace.add(&event)) {
                tracing::warn!(viewer = self.key, %error, "the qlog ends here");
                self.trace = None;
            }
            tracing::trace!(viewer = self.key, at = %event.at, event = ?event.event);
        }
    }

    fn encode(&mut self, now: Time, album: &Album, picture: u64, plan: EncodePlan) {
        let seen = album.find(picture).map(|taken| &taken.seen);
        match (&mut self.encoder, seen) {
            (Coder::Thread(encoder), Some(Seen::Picture(picture))) => encoder.encode(Some(picture.clone()), plan),
            (Coder::Thread(encoder), Some(Seen::Nothing)) => encoder.encode(None, plan),
            (Coder::Passthrough(frames), Some(Seen::Frame(frame))) => {
                let offered = frames.offer(picture, frame, &plan);
                self.outgoing.on_encoded(now, offered);
            }
            // Too old to be worth it, or nothing this makes frames of: as if the encoder had dropped it.
            _ => self.outgoing.on_encoded(now, Vec::new()),
        }
    }

    fn on_notice(&mut self, notice: Notice) {
        let viewer = self.key;
        self.state = match notice {
            Notice::Connected => {
                tracing::info!(viewer, scheme = self.outgoing.scheme().name, "connected");
                State::Connected
            }
            Notice::Disconnected => {
                tracing::info!(viewer, "nothing is heard of it");
                State::Disconnected
            }
            Notice::Reconnected => {
                tracing::info!(viewer, "it is heard again");
                State::Connected
            }
            Notice::Closed => {
                tracing::info!(viewer, "left");
                State::Closed
            }
            Notice::Failed(error) => {
                tracing::warn!(viewer, %error, "the connection failed");
                State::Closed
            }
        };
        if let Some(states) = &self.states {
            // Who wanted to know may have gone.
            let _ = states.send(self.state);
        }
    }
}
