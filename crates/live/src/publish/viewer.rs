//! One viewer, with its own sender and its own encoder.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use thalweg_sender::frames::EncodePlan;
use thalweg_sender::{SenderFactory, Wake};
use thalweg_session::outgoing::ConnectionEvent;
use thalweg_session::{AudioFrame, Encoded, Outgoing, Output};
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{CongestionFeedback, Local, Offer};
use thalweg_transport::{Connection, Datagram, Received, Remote, TransportError};
use thalweg_units::{ConfigError, Seed, Span, Time};

use super::camera::Taken;
use super::coder::{Coder, Encoding};
use super::gauges::Gauges;
use super::messages::{Key, Outbox, State};
use super::overload::{LATE_PACKET, Tally};
use super::records::Records;
use crate::clock::Clock;
use crate::reactor::Lateness;

/// Pictures that the encoder may still request: the newest, or the one before while a new one arrives.
#[derive(Debug, Default)]
pub(super) struct FrameCache(VecDeque<Taken>);

impl FrameCache {
    const KEPT: usize = 8;

    pub(super) fn put(&mut self, taken: Taken) {
        self.0.push_back(taken);
        if self.0.len() > FrameCache::KEPT {
            self.0.pop_front();
        }
    }

    fn find(&self, number: u64) -> Option<&Taken> {
        self.0.iter().rev().find(|taken| taken.number == number)
    }
}

/// A connection that we offered.
pub(super) struct Ours {
    pub(super) offer: Offer,
    /// Receives changes of its state.
    pub(super) states: Sender<State>,
}

/// A connection whose peer is not known yet.
pub(super) struct Prepared {
    pub(super) key: Key,
    pub(super) seed: Seed,
    pub(super) channel: usize,
    pub(super) connection: Connection,
    pub(super) local: Local,
}

/// An offer of ours without an answer so far.
pub(super) struct Offered {
    pub(super) prepared: Prepared,
    pub(super) ours: Ours,
    pub(super) at: Time,
}

/// A viewer that is joining.
pub(super) struct PendingViewer {
    pub(super) key: Key,
    pub(super) id: String,
    pub(super) channel: usize,
    pub(super) remote: Remote,
    pub(super) ours: Option<Ours>,
}

/// A viewer.
pub(super) struct Viewer {
    pub(super) key: Key,
    /// Its unguessable id.
    pub(super) id: String,
    /// The tag of its ICE session.
    pub(super) etag: u64,
    pub(super) channel: usize,
    pub(super) joined: Time,
    pub(super) state: State,
    pub(super) outgoing: Outgoing,
    pub(super) gauges: Gauges,
    /// How late packets were sent.
    pub(super) lateness: Lateness,
    /// Frames whose encoding took longer than the interval between frames.
    pub(super) encode_times: Tally,
    /// Packets that left late.
    pub(super) pacer: Tally,
    /// Whether this machine was too slow when it was last judged.
    pub(super) too_slow: bool,
    /// When the frame that is being encoded was requested.
    encoding_since: Option<Time>,
    /// The peer's parameters from signalling.
    pub(super) remote: Remote,
    /// For a connection that we offered; `None` if the peer offered it.
    pub(super) ours: Option<Ours>,
    /// Addresses whose datagrams belong to this viewer.
    pub(super) addresses: VecDeque<SocketAddr>,
    encoding: Encoding,
    coder: Coder,
    /// The number of its encoder, counting replacements.
    coder_number: u64,
    wake: (Time, Wake),
    /// The local address that the last packet was sent from.
    here: Option<SocketAddr>,
}

impl Viewer {
    pub(super) fn new(
        pending: PendingViewer,
        outgoing: Outgoing,
        encoding: Encoding,
        outbox: &Outbox,
        now: Time,
    ) -> Result<Viewer, String> {
        let PendingViewer { key, id, channel, remote, ours } = pending;
        let coder = encoding.start(&**outgoing.scheme(), key, 0, outbox)?;
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
            encode_times: Tally::default(),
            pacer: Tally::default(),
            too_slow: false,
            encoding_since: None,
            remote,
            ours,
            addresses: VecDeque::new(),
            encoding,
            coder,
            coder_number: 0,
            wake: (now, Wake::Nothing),
            here: None,
        })
    }

    /// When it needs service even if nothing happens.
    pub(super) fn wake(&self) -> Time {
        self.wake.0
    }

    /// Something has changed: the viewer needs service now.
    pub(super) fn due(&mut self, now: Time) {
        // If it was already due before `now`, that time is kept, so that its lateness counts.
        if now < self.wake.0 {
            self.wake = (now, Wake::Nothing);
        }
    }

    /// Says goodbye; the packet is sent at the next call of `pump`.
    pub(super) fn close(&mut self, now: Time) {
        self.outgoing.close(now);
        self.due(now);
    }

    /// A picture was taken.
    pub(super) fn on_picture(&mut self, now: Time, number: u64) {
        self.outgoing.on_picture(now, number);
        self.due(now);
    }

    /// An audio packet was made.
    pub(super) fn on_audio(&mut self, now: Time, audio: AudioFrame) {
        self.outgoing.on_audio(now, audio);
        self.due(now);
    }

    /// An encoder's frames; those of a replaced encoder are ignored.
    pub(super) fn on_encoded(&mut self, now: Time, encoder: u64, made: Vec<Encoded>, interval: Span) {
        if encoder == self.coder_number {
            if let Some(since) = self.encoding_since.take() {
                self.encode_times.add(now, u64::from(now - since > interval), 1);
            }
            self.outgoing.on_encoded(now, made);
            self.due(now);
        }
    }

    /// A datagram came.
    pub(super) fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> Received {
        let received = self.outgoing.on_datagram(now, from, to, bytes);
        self.due(now);
        received
    }

    /// The kind of feedback that acknowledges packets.
    pub(super) fn feedback_kind(&self) -> &'static str {
        match self.outgoing.video().congestion() {
            Some(CongestionFeedback::PerStream) => "rfc8888",
            Some(CongestionFeedback::TransportOnRequest) => "twcc-02",
            Some(CongestionFeedback::Transport) => "twcc-01",
            Some(CongestionFeedback::Extended) => "extended-reports",
            None => "receiver-reports",
        }
    }

    /// Continues with another scheme.
    pub(super) fn switch(&mut self, now: Time, scheme: Arc<dyn SenderFactory>, outbox: &Outbox) -> Result<(), String> {
        let next = self.coder_number + 1;
        let coder = self.encoding.start(&*scheme, self.key, next, outbox)?;
        self.outgoing.change_scheme(now, scheme).map_err(|error: ConfigError| error.to_string())?;
        // The pending result of the old encoder is discarded: the engine must not wait for it.
        if self.encoding_since.take().is_some() {
            self.outgoing.on_encoded(now, Vec::new());
        }
        (self.coder, self.coder_number) = (coder, next);
        self.due(now);
        Ok(())
    }

    /// The peer's part of an ICE restart.
    ///
    /// # Errors
    /// When its credentials or candidates are unusable; nothing has changed then.
    pub(super) fn restarted(&mut self, now: Time, theirs: &Fragment) -> Result<(), TransportError> {
        let (credentials, candidates) = (theirs.credentials.clone(), theirs.candidates.clone());
        let remote = Remote { credentials, candidates, ..self.remote.clone() };
        self.outgoing.connection().set_remote(now, &remote)?;
        self.remote = remote;
        self.due(now);
        Ok(())
    }

    /// Does everything that is due; datagrams go to `send`.
    pub(super) fn pump(
        &mut self,
        clock: &Clock,
        frame_cache: &FrameCache,
        records: &mut Records,
        mut send: impl FnMut(&Datagram),
    ) {
        let now = clock.now();
        let (wanted, why) = self.wake;
        if wanted > now {
            return;
        }
        if matches!(why, Wake::Pacer | Wake::Padding | Wake::Probe | Wake::Repair) {
            self.lateness.record(wanted, now);
            self.pacer.add(now, u64::from(now - wanted > LATE_PACKET), 1);
        }
        self.outgoing.on_timeout(now);
        loop {
            match self.outgoing.poll() {
                Output::Transmit(datagram) => {
                    self.here = Some(datagram.from);
                    send(&datagram);
                }
                Output::Encode { picture, plan } => self.encode(now, frame_cache, picture, plan),
                Output::Commit { choice } => self.coder.commit(choice.map(|(index, _)| index)),
                Output::Forget { frame } => self.coder.forget(frame),
                Output::Event(event) => self.on_connection_event(event),
                Output::Wait { until, why } => {
                    self.wake = (until, why);
                    break;
                }
            }
        }
        for event in self.outgoing.drain_events() {
            self.gauges.on_event(&event);
            tracing::trace!(viewer = self.key, at = %event.at, event = ?event.event);
            records.happened(self.key, event);
        }
        // No packets are captured before the path is known.
        if let Some((here, there)) = self.here.zip(self.outgoing.remote_address()) {
            self.outgoing.take_plain().into_iter().for_each(|packet| records.passed(here, there, packet));
        }
    }

    fn encode(&mut self, now: Time, frame_cache: &FrameCache, number: u64, plan: EncodePlan) {
        let seen = frame_cache.find(number).map(|taken| &taken.seen);
        match self.coder.encode(number, seen, plan) {
            Some(made) => self.outgoing.on_encoded(now, made),
            None => self.encoding_since = Some(now),
        }
    }

    fn on_connection_event(&mut self, event: ConnectionEvent) {
        let viewer = self.key;
        self.state = match event {
            ConnectionEvent::Connected => {
                tracing::info!(viewer, scheme = self.outgoing.scheme().name(), "connected");
                State::Connected
            }
            ConnectionEvent::Disconnected => {
                tracing::info!(viewer, "disconnected: nothing is received from it");
                State::Disconnected
            }
            ConnectionEvent::Reconnected => {
                tracing::info!(viewer, "reconnected");
                State::Connected
            }
            ConnectionEvent::Closed => {
                tracing::info!(viewer, "left");
                State::Closed
            }
            ConnectionEvent::Failed(error) => {
                tracing::warn!(viewer, %error, "the connection failed");
                State::Closed
            }
            ConnectionEvent::Unusable(error) => {
                tracing::error!(viewer, %error, "no sender can be built for the connection");
                State::Closed
            }
            ConnectionEvent::Unsent(error) => {
                tracing::error!(viewer, %error, "a packet could not be sent; more of them are only counted");
                self.state
            }
        };
        if let Some(ours) = &self.ours {
            // The owner may no longer listen.
            let _ = ours.states.send(self.state);
        }
    }
}
