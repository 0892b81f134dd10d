//! The receiver in a conversation.
//!
//! A thin layer: a [`Connection`] around [`thalweg_receiver::rtp::Reception`], which is made when the connection is
//! established. The contract is theirs: mutate, then drain [`Incoming::poll`] until it answers [`Output::Wait`].

mod setup;

use std::net::SocketAddr;

use thalweg_receiver::rtp::{self, AudioPacket, Reception, Statistics, VideoFrame};
use thalweg_sender::frames::StateHash;
use thalweg_transport::{Connection, Credentials, Datagram, Received, TransportError};
use thalweg_units::{ConfigError, Ecn, Span, Time};

pub use crate::peer::ConnectionEvent;
use crate::peer::{Next, Peer};
pub use setup::Setup;

/// Request of an [`Incoming`] to its caller.
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
    peer: Peer,
    reception: Option<Reception>,
    round_trip: Option<Span>,
    now: Time,
}

impl Incoming {
    /// A receiver over `connection`, which knows the peer.
    ///
    /// # Errors
    /// Negotiated media that [`Reception::new`] rejects.
    pub fn new(setup: Setup, connection: Connection, now: Time) -> Result<Incoming, ConfigError> {
        // Reports errors of the configuration now and not when the connection is established.
        Reception::new(setup.config(&connection)?)?;
        Ok(Incoming { setup, peer: Peer::new(connection), reception: None, round_trip: None, now })
    }

    /// A datagram arrived, with the ECN field of its IP packet, which RFC 8888 reports; returns what it was.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, ecn: Ecn, datagram: &[u8]) -> Received {
        self.now = now;
        self.peer.connection.on_datagram(now, from, to, ecn, datagram)
    }

    /// The time of the last [`Output::Wait`] has come. Early and late calls do no harm.
    pub fn on_timeout(&mut self, now: Time) {
        self.now = now;
        self.peer.connection.on_timeout(now);
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

    /// Somebody to whom the frames are passed on needs a keyframe ([`Reception::request_keyframe`]).
    pub fn request_keyframe(&mut self, now: Time) {
        self.now = now;
        if let Some(reception) = &mut self.reception {
            reception.request_keyframe(now);
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
        self.peer.connection.restart(now)
    }

    /// The connection, for later signalling.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.peer.connection
    }

    /// Ends the call. What [`Incoming::poll`] returns after this is the last output.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        if let Some(reception) = &mut self.reception {
            match reception.goodbye(now) {
                Ok(goodbye) => drop(self.peer.send_rtcp(&goodbye)),
                Err(error) => self.peer.on_unsent(error.to_string()),
            }
        }
        self.peer.connection.close(now);
        self.peer.is_over = true;
    }

    /// The statistics so far; zeros before the connection is established.
    pub fn statistics(&self) -> Statistics {
        let statistics = self.reception.as_ref().map(Reception::statistics).unwrap_or_default();
        Statistics { rtcp_unsent: statistics.rtcp_unsent + self.peer.unsent, ..statistics }
    }

    /// How much later than the audio of the same instant the picture is ([`Reception::skew`]).
    pub fn skew(&self) -> Option<Span> {
        self.reception.as_ref()?.skew()
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        loop {
            let until = match self.peer.poll() {
                Next::Transmit(datagram) => return Output::Transmit(datagram),
                Next::Event(event) => return Output::Event(event),
                Next::Wait(until) => until,
                Next::Connected => {
                    self.begin();
                    continue;
                }
                Next::Rtp(packet, ecn) => {
                    let now = self.now;
                    self.reception.iter_mut().for_each(|reception| reception.on_rtp(now, ecn, &packet));
                    continue;
                }
                Next::Rtcp(datagram) => {
                    self.reception.iter_mut().for_each(|reception| reception.on_rtcp(self.now, &datagram));
                    continue;
                }
            };
            let Some(reception) = self.reception.as_mut().filter(|_| !self.peer.is_over) else {
                return Output::Wait { until };
            };
            match reception.poll() {
                rtp::Output::Rtcp(compound) => drop(self.peer.send_rtcp(&compound)),
                rtp::Output::Frame(frame) => return Output::Frame(frame),
                rtp::Output::Audio(packet) => return Output::Audio(packet),
                rtp::Output::Abandoned(frames) => return Output::Abandoned(frames),
                rtp::Output::Wait { until: reception } => return Output::Wait { until: until.min(reception) },
            }
        }
    }

    fn begin(&mut self) {
        if self.reception.is_some() || self.peer.is_over {
            return;
        }
        match self.setup.config(&self.peer.connection).and_then(Reception::new) {
            Ok(mut reception) => {
                if let Some(round_trip) = self.round_trip {
                    reception.learn(round_trip);
                }
                self.reception = Some(reception);
                self.peer.say(ConnectionEvent::Connected);
            }
            Err(error) => self.peer.end(ConnectionEvent::Unusable(error)),
        }
    }
}
