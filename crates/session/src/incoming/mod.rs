//! The receiver's end of a conversation.
//!
//! A thin layer: a [`Connection`] around [`thalweg_receiver::rtp::Reception`], which is made when the connection stands. The
//! contract is theirs: mutate, then drain [`Incoming::poll`] until it answers [`Output::Wait`].

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

/// What an [`Incoming`] wants its driver to do.
#[derive(Debug)]
pub enum Output {
    /// Put this on the network.
    Transmit(Datagram),
    /// Decode this frame.
    Frame(VideoFrame),
    /// Decode this audio.
    Audio(AudioPacket),
    /// As many frames, of which something came, will not come out any more.
    Abandoned(u64),
    /// The connection's state changed.
    Event(ConnectionEvent),
    /// Nothing more to do before this time, unless something comes.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
    },
}

/// A receiver of one video, and audio along with it, from one peer.
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
    /// What [`Reception::new`] refuses of what was agreed on.
    pub fn new(setup: Setup, connection: Connection, now: Time) -> Result<Incoming, ConfigError> {
        // What is wrong is to be known now and not when the connection stands.
        Reception::new(setup.config(&connection)?)?;
        let (reception, connection_events, round_trip) = (None, VecDeque::new(), None);
        Ok(Incoming { setup, connection, reception, connection_events, round_trip, closed: false, now })
    }

    /// A datagram came; returns what it was.
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

    /// The round trip is known: what is missing is asked for again after as long; until then after 100 ms (libwebrtc). Where the sender
    /// tells ([`sdp::Feedback::round_trip`](thalweg_transport::sdp::Feedback::round_trip)), this is known without.
    pub fn learn(&mut self, round_trip: Span) {
        self.round_trip = Some(round_trip);
        if let Some(reception) = &mut self.reception {
            reception.learn(round_trip);
        }
    }

    /// The decoder made nothing of the frame with this [`VideoFrame::number`]: a keyframe is asked for ([`Reception::on_undecodable`]).
    pub fn on_undecodable(&mut self, now: Time, number: u64) {
        self.now = now;
        if let Some(reception) = &mut self.reception {
            reception.on_undecodable(now, number);
        }
    }

    /// The decoder did not get to the state that a frame was to lead to.
    pub fn on_disagreement(&mut self, claimed: StateHash) {
        if let Some(reception) = &mut self.reception {
            reception.on_disagreement(claimed);
        }
    }

    /// New credentials for an ICE restart; keys and media stay.
    ///
    /// # Errors
    /// When the system has no random numbers; then nothing has changed.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        self.now = now;
        self.connection.restart(now)
    }

    /// The connection, for what signalling brings later.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Says goodbye. What [`Incoming::poll`] then gives is the last.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        if self.reception.is_some() {
            let mut goodbye = Vec::new();
            let packet = rtcp::Packet::Bye(Bye { sources: vec![self.setup.media.local.video], reason: None });
            if rtcp::write(&[packet], &mut goodbye).is_ok() {
                // Before there are keys there is nobody to take leave of.
                let _ = self.connection.send_rtcp(&goodbye);
            }
        }
        self.connection.close(now);
        self.closed = true;
    }

    /// What was counted so far; zeros before the connection stands.
    pub fn statistics(&self) -> Statistics {
        self.reception.as_ref().map(Reception::statistics).unwrap_or_default()
    }

    /// How much later than the audio of the same instant the picture comes ([`Reception::skew`]).
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
                // What cannot be sent now is lost as on any path.
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
