//! What an [`Outgoing`](super::Outgoing) is given, asks for and tells.

use std::sync::Arc;

use thalweg_sender::Wake;
use thalweg_sender::frames::{EncodePlan, EncodedFrame};
use thalweg_transport::{Datagram, TransportError};
use thalweg_units::{ConfigError, Time};

/// One way to encode a picture, with its bytes.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// What the engine needs to know of it.
    pub frame: EncodedFrame,
    /// The frame's bytes; an encoder model's may be fewer than `frame.size` says, and are zeros then.
    pub data: Arc<[u8]>,
}

/// What an [`Outgoing`](super::Outgoing) wants its driver to do.
#[derive(Debug)]
pub enum Output {
    /// Put this on the network.
    Transmit(Datagram),
    /// Encode this picture; answer with [`Outgoing::on_encoded`](super::Outgoing::on_encoded).
    Encode {
        /// The picture.
        picture: u64,
        /// How.
        plan: EncodePlan,
    },
    /// Of the candidates just given, this one is sent, as this frame; or none is.
    Commit {
        /// The index of the candidate and the frame's number.
        choice: Option<(usize, u64)>,
    },
    /// The encoder need keep the state after this frame no longer.
    Forget {
        /// The frame.
        frame: u64,
    },
    /// The connection's state changed.
    Event(ConnectionEvent),
    /// Nothing more to do before this time, unless something happens.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
        /// What for.
        why: Wake,
    },
}

/// A change of the connection's state.
#[derive(Debug)]
pub enum ConnectionEvent {
    /// Media may flow: pictures are taken from now on.
    Connected,
    /// Nothing is received from the peer; it may come back.
    Disconnected,
    /// It came back.
    Reconnected,
    /// The peer left, or was given up; nothing more will happen.
    Closed,
    /// The connection failed for good.
    Failed(TransportError),
    /// Sender or receiver could not be built for this connection, though its configuration was valid before: nothing more will happen.
    Unusable(ConfigError),
    /// A packet could not be written or protected, and why. Only the first is reported; [`Figures::unsent`] counts all.
    Unsent(String),
}

/// A packet before it was protected, or after protection was taken off: for captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// When it left or came.
    pub at: Time,
    /// Whether it left; otherwise it came.
    pub leaves: bool,
    /// RTP or RTCP.
    pub bytes: Vec<u8>,
}

/// Figures of the conversation that are not the engine's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests for retransmissions that came.
    pub nacks: u64,
    /// Requests for a keyframe that came.
    pub keyframe_requests: u64,
    /// RTCP that could not be read.
    pub malformed: u64,
    /// Reports of arrivals that came.
    pub reports: u64,
    /// Reports that came of what the path bears, and can be true.
    pub path_reports: u64,
    /// RTP packets that the engine accounted for and that could not be written or protected; 0 unless something is wrong.
    pub unsent: u64,
}
