//! Packets and their reports, as a foreign program describes them.

use thalweg_control::{FramePlace, Payload};
use thalweg_units::{Bytes, Time};

/// A packet that leaves. Make one with [`Departure::new`] and set what else is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Departure {
    /// The foreign program's name of the packet, one for each packet. Holes are fine. Where reports are transport-wide
    /// feedback ([`Driver::on_rtcp`](crate::Driver::on_rtcp)), its low 16 bits are the transport-wide sequence number.
    pub key: u64,
    /// Its size as the foreign program counts ([`Config::overhead`](crate::Config::overhead)).
    pub size: Bytes,
    /// The purpose of its payload.
    pub payload: Payload,
    /// The probe cluster that it belongs to.
    pub probe: Option<u32>,
    /// Its position in a frame, if known.
    pub place: Option<FramePlace>,
    /// Its RTP stream (SSRC) and sequence number, by which RFC 8888 and receiver reports name it.
    pub stream: Option<(u32, u16)>,
    /// True if the application, not the window, limited sending right after it.
    pub app_limited: bool,
}

impl Departure {
    /// A media packet of which nothing else is known.
    pub const fn new(key: u64, size: Bytes) -> Departure {
        Departure { key, size, payload: Payload::Media, probe: None, place: None, stream: None, app_limited: false }
    }
}

/// Report on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acked {
    /// Which packet.
    pub key: u64,
    /// When it arrived, by the receiver's clock; `None` if it had not arrived by the time of the report. That is no
    /// verdict: it is lost once a packet sent three places later has arrived.
    pub arrival: Option<Time>,
    /// True if a queue on the path marked it (ECN CE).
    pub ce: bool,
}

impl Acked {
    /// A report on this packet.
    pub const fn new(key: u64, arrival: Option<Time>, ce: bool) -> Acked {
        Acked { key, arrival, ce }
    }
}

/// A packet whose departure becomes known together with its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Joined {
    /// The packet.
    pub departure: Departure,
    /// When it left, by the same clock as `now`.
    pub departed: Time,
    /// The fate of the packet.
    pub outcome: Outcome,
}

impl Joined {
    /// A media packet of which nothing else is known.
    pub const fn new(key: u64, size: Bytes, departed: Time, outcome: Outcome) -> Joined {
        Joined { departure: Departure::new(key, size), departed, outcome }
    }
}

/// Fate of a packet, as far as a foreign program knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Arrived {
        /// When, by the receiver's clock.
        at: Time,
        /// True if a queue on the path marked it (ECN CE).
        ce: bool,
    },
    /// It had not arrived by the time of the report, whatever the foreign program concludes from that: it is lost once a
    /// packet sent three places later has arrived, and may still be reported as arrived under the same key.
    Missing,
    /// It is lost, by a verdict that is final (QUIC's).
    Lost,
}
