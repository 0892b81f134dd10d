//! The receiver in a conversation.
//!
//! A thin layer: a [`Connection`] around [`thalweg_receiver::rtp::Reception`], which is made when the connection is
//! established. The contract is theirs: mutate, then drain [`Incoming::poll`] until it answers [`Output::Wait`].

mod setup;

use std::collections::VecDeque;
use std::net::SocketAddr;

use thalweg_receiver::rtp::{self, AudioPacket, Reception, Statistics, VideoFrame};
use thalweg_sender::frames::StateHash;
use thalweg_transport::{self as transport, Connection, Credentials, Datagram, Received, TransportError};
use thalweg_units::{ConfigError, Span, Time};
use thalweg_wire::rtcp::{self, Bye};

pub use crate::outgoing::ConnectionEvent;
pub use setup::Setup;

/// What an [`Incoming`] asks its caller to do.
#[derive(Debug)]
pub enum Output {
    /// Send this datagram.
    Transmit(Datagram),
    /// Decode this frame.
    Frame(VideoFrame),
    /// Decode this audio.
    Audio(AudioPacket),
    /// This many frames of which something arrived were abandoned.
    Abandoned(u64),
    /// The connection's state changed.
    Event(ConnectionEvent),
    /// Nothing to do before this time, unless something arrives.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
    },
}

/// A receiver of one video, with audio, from one peer.
pub struct Incoming {
    setup: Setup,
    connection: Connection,
    reception: Option<Reception>,
    connection_events: VecDeque<ConnectionEvent>,
    round_trip: Option<Span>,
    closed: bool,
    now: Time,
}

impl Incoming {
    /// A receiver over `connection`, which knows the peer.
    ///
    /// # Errors
    /// What [`Reception::new`] rejects of what was negotiated.
    pub fn new(setup: Setup, connection: Connection, now: Time) -> Result<Incoming, ConfigError> {
        // Reports errors of the configuration now and not when the connection is established.
        Reception::new(setup.config(&connection)?)?;
        let (reception, connection_events, round_trip) = (None, VecDeque::new(), None);
        Ok(Incoming { setup, connection, reception, connection_events, round_trip, closed: false, now })
    }

    /// A datagram arrived; returns what it was.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Received {
        self.now = now;
        self.connection.on_datagram(now, from, to, datagram)
    }

    /// The time of the last [`Output::Wait`] has come. Early and late calls do no harm.
    pub fn on_timeout(&mut self, now: Time) {
        self.now = now;
        self.connection.on_timeout(now);
        if let Some(reception) = &mut self.reception {
            reception.on_timeout(now);
        }
    }

    /// Sets the round trip: the interval at which missing packets are requested again; until then 100 ms (libwebrtc).
    /// Not needed if the sender reports it
    /// ([`sdp::Feedback::round_trip`](thalweg_transport::sdp::Feedback::round_trip)).
    pub fn learn(&mut self, round_trip: Span) {
        self.round_trip = Some(round_trip);
        if let Some(reception) = &mut self.reception {
            reception.learn(round_trip);
        }
    }

    /// The decoder could not decode the frame with this [`VideoFrame::number`]: requests a keyframe
    /// ([`Reception::on_undecodable`]).
    pub fn on_undecodable(&mut self, now: Time, number: u64) {
        self.now = now;
        if let Some(reception) = &mut self.reception {
            reception.on_undecodable(now, number);
        }
    }

    /// The decoder did not reach the state that a frame claimed to lead to.
    pub fn on_disagreement(&mut self, claimed: StateHash) {
        if let Some(reception) = &mut self.reception {
            reception.on_disagreement(claimed);
        }
    }

    /// New credentials for an ICE restart; keys and media continue.
    ///
    /// # Errors
    /// When the system provides no random numbers; then nothing has changed.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        self.now = now;
        self.connection.restart(now)
    }

    /// The connection, for later signalling.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Ends the call. What [`Incoming::poll`] returns after this is the last output.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        if self.reception.is_some() {
            let mut goodbye = Vec::new();
            let packet = rtcp::Packet::Bye(Bye { sources: vec![self.setup.media.local.video], reason: None });
            if rtcp::write(&[packet], &mut goodbye).is_ok() {
                // Without keys there is no peer to say goodbye to.
                let _ = self.connection.send_rtcp(&goodbye);
            }
        }
        self.connection.close(now);
        self.closed = true;
    }

    /// The statistics so far; zeros before the connection is established.
    pub fn statistics(&self) -> Statistics {
        self.reception.as_ref().map(Reception::statistics).unwrap_or_default()
    }

    /// How much later than the audio of the same instant the picture is ([`Reception::skew`]).
    pub fn skew(&self) -> Option<Span> {
        self.reception.as_ref()?.skew()
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        loop {
            let until = match self.connection.poll() {
                transport::Output::Transmit(datagram) => return Output::Transmit(datagram),
                transport::Output::Event(event) => {
                    self.on_event(event);
                    continue;
                }
                transport::Output::Wait { until } => until,
            };
            if let Some(event) = self.connection_events.pop_front() {
                return Output::Event(event);
            }
            let Some(reception) = self.reception.as_mut().filter(|_| !self.closed) else {
                return Output::Wait { until };
            };
            match reception.poll() {
                // A packet that cannot be sent now is lost, as on any path.
                rtp::Output::Rtcp(compound) => drop(self.connection.send_rtcp(&compound)),
                rtp::Output::Frame(frame) => return Output::Frame(frame),
                rtp::Output::Audio(packet) => return Output::Audio(packet),
                rtp::Output::Abandoned(frames) => return Output::Abandoned(frames),
                rtp::Output::Wait { until: reception } => return Output::Wait { until: until.min(reception) },
            }
        }
    }

    fn on_event(&mut self, event: transport::Event) {
        match event {
            transport::Event::Connected => self.begin(),
            transport::Event::Rtp(packet) => {
                if let Some(reception) = &mut self.reception {
                    reception.on_rtp(self.now, &packet);
                }
            }
            transport::Event::Rtcp(datagram) => {
                if let Some(reception) = &mut self.reception {
                    reception.on_rtcp(self.now, &datagram);
                }
            }
            transport::Event::Disconnected => self.connection_events.push_back(ConnectionEvent::Disconnected),
            transport::Event::Reconnected => self.connection_events.push_back(ConnectionEvent::Reconnected),
            transport::Event::Closed => self.end(ConnectionEvent::Closed),
            transport::Event::Failed(error) => self.end(ConnectionEvent::Failed(error)),
        }
    }

    fn begin(&mut self) {
        if self.reception.is_some() || self.closed {
            return;
        }
        match self.setup.config(&self.connection).and_then(Reception::new) {
            Ok(mut reception) => {
                if let Some(round_trip) = self.round_trip {
                    reception.learn(round_trip);
                }
                self.reception = Some(reception);
                self.connection_events.push_back(ConnectionEvent::Connected);
            }
            Err(error) => self.end(ConnectionEvent::Unusable(error)),
        }
    }

    fn end(&mut self, event: ConnectionEvent) {
        self.closed = true;
        self.connection_events.push_back(event);
    }
}
