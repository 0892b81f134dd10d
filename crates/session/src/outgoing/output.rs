//! The inputs, outputs and statistics of an [`Outgoing`](super::Outgoing).

use std::sync::Arc;

use thalweg_sender::Wake;
use thalweg_sender::frames::{EncodePlan, EncodedFrame};
use thalweg_transport::Datagram;
use thalweg_units::Time;

use crate::peer::ConnectionEvent;

/// One candidate encoding of a picture, with its bytes.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// Description of the frame for the engine.
    pub frame: EncodedFrame,
    /// The frame's bytes. Those of an encoder model may be fewer than `frame.size`; they are then zeros.
    pub data: Arc<[u8]>,
}

/// Request of an [`Outgoing`](super::Outgoing) to its caller.
#[derive(Debug)]
pub enum Output {
    /// Send this datagram.
    Transmit(Datagram),
    /// Encode this picture; answer with [`Outgoing::on_encoded`](super::Outgoing::on_encoded).
    Encode {
        /// The picture's number.
        picture: u64,
        /// How to encode it.
        plan: EncodePlan,
    },
    /// Selects the candidate, of those just given, that is sent as this frame; or none is sent.
    Commit {
        /// The index of the candidate and the frame's number.
        choice: Option<(usize, u64)>,
    },
    /// No later frame is encoded from the state after this frame: the encoder may drop it.
    Forget {
        /// The frame's number.
        frame: u64,
    },
    /// The connection's state changed.
    Event(ConnectionEvent),
    /// Nothing to do before this time, unless something happens.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
        /// The reason to wake.
        why: Wake,
    },
}

/// An unprotected packet, for captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// When it was sent or arrived.
    pub at: Time,
    /// True if it was sent; otherwise it was received.
    pub leaves: bool,
    /// The bytes of an RTP or RTCP packet.
    pub bytes: Vec<u8>,
}

/// Statistics of the conversation that the engine does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Retransmission requests received.
    pub nacks: u64,
    /// Keyframe requests received.
    pub keyframe_requests: u64,
    /// RTCP packets that could not be parsed.
    pub malformed: u64,
    /// Reports of arrivals received.
    pub reports: u64,
    /// How often transport-wide feedback came that the peer had held back for more than 400 ms.
    pub held_reports: u64,
    /// Reports of the path's capacity received that are plausible.
    pub path_reports: u64,
    /// Packets that the peer acknowledged and that were never sent: sequence numbers are skipped now and then to find out
    /// who acknowledges what it has not received.
    pub never_sent: u64,
    /// RTP packets sent with each ECN field, in the order of [`Ecn::ALL`](thalweg_units::Ecn::ALL).
    pub sent_by_ecn: [u64; 4],
    /// Packets that reports say arrived with each; without RFC 8888 all count as Not-ECT.
    pub arrived_by_ecn: [u64; 4],
    /// RTP packets that the engine accounted for, and RTCP, that could not be written or protected; 0 unless something
    /// is wrong.
    pub unsent: u64,
}
