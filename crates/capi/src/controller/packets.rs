//! Packets and reports on them, as C has them.

use thalweg_control::{FramePlace, FrameQueued, Payload};
use thalweg_driver::{Acked, Departure, Joined, Outcome};
use thalweg_units::{Bytes, Span, Time};

use crate::clock::{Clock, THALWEG_NEVER};
use crate::error::Error;
use crate::sized::Structure;

/// `payload`: part of a frame, sent for the first time.
pub const THALWEG_MEDIA: i32 = 0;
/// `payload`: nothing that the receiver needs; it keeps the path full or measures it.
pub const THALWEG_PADDING: i32 = 1;
/// `payload`: a retransmission or redundancy.
pub const THALWEG_REPAIR: i32 = 2;
/// `payload`: audio.
pub const THALWEG_AUDIO: i32 = 3;

/// `thalweg_sent.flags`: the first packet of its frame.
pub const THALWEG_SENT_FIRST: u32 = 1;
/// `thalweg_sent.flags`: the last packet of its frame.
pub const THALWEG_SENT_LAST: u32 = 2;
/// `thalweg_sent.flags`: its frame refers to no other.
pub const THALWEG_SENT_KEYFRAME: u32 = 4;
/// `thalweg_sent.flags`: the application, not the window, limits sending right after it.
pub const THALWEG_SENT_APP_LIMITED: u32 = 8;
/// `thalweg_sent.flags`: `ssrc` and `sequence` hold.
pub const THALWEG_SENT_STREAM: u32 = 16;

/// `thalweg_joined.flags`: it is lost, by a verdict that is final (QUIC's).
pub const THALWEG_JOINED_LOST: u32 = 1;
/// `thalweg_joined.flags`: a queue on the path marked it (ECN CE).
pub const THALWEG_JOINED_CE: u32 = 2;

/// The largest datagram.
const LARGEST: u64 = 65_535;

/// A packet that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Sent {
    /// sizeof(thalweg_sent).
    pub size: u32,
    /// Purpose of its payload: THALWEG_MEDIA, ...
    pub payload: i32,
    /// When it leaves: the present, ns.
    pub at: u64,
    /// Its size as the program counts (`thalweg_controller_config.overhead`), 1 to 65535.
    pub bytes: u64,
    /// The program's name of it, one for each packet; holes are fine. Where reports are transport-wide feedback, its
    /// low 16 bits are the transport-wide sequence number.
    pub key: u64,
    /// The number of the probe that it belongs to, or -1.
    pub probe: i64,
    /// The number of the frame that it is part of, from 0, or -1: then what is said of a frame does not count.
    pub frame: i64,
    /// THALWEG_SENT_...
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes of the frame that were sent before it.
    pub offset: u64,
    /// When the frame's picture was captured, ns.
    pub captured: u64,
    /// The RTP stream, by which RFC 8888 and receiver reports name it.
    pub ssrc: u32,
    /// Its RTP sequence number, 0 to 65535.
    pub sequence: u32,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for Sent {
    const NAME: &'static str = "thalweg_sent";
    const DEFAULT: Sent = Sent {
        size: size_of::<Sent>() as u32,
        payload: THALWEG_MEDIA,
        at: 0,
        bytes: 0,
        key: 0,
        probe: -1,
        frame: -1,
        flags: 0,
        reserved: 0,
        offset: 0,
        captured: 0,
        ssrc: 0,
        sequence: 0,
    };
}

impl Sent {
    pub(crate) fn departure(&self, clock: &Clock) -> Result<Departure, Error> {
        let has = |flag| self.flags & flag != 0;
        let mut departure = Departure::new(self.key, checked_size(self.bytes)?);
        departure.payload = match self.payload {
            THALWEG_MEDIA => Payload::Media,
            THALWEG_PADDING => Payload::Padding,
            THALWEG_REPAIR => Payload::Repair,
            THALWEG_AUDIO => Payload::Audio,
            other => return Err(Error::range("payload", other, "0 to 3, such as THALWEG_MEDIA")),
        };
        if self.probe != -1 {
            let refused = |_| Error::range("probe", self.probe, "-1, or a thalweg_limits.probe_cluster");
            departure.probe = Some(u32::try_from(self.probe).map_err(refused)?);
        }
        if self.frame != -1 {
            let refused = |_| Error::range("frame", self.frame, "-1, or a number from 0");
            departure.place = Some(FramePlace {
                frame: u64::try_from(self.frame).map_err(refused)?,
                first: has(THALWEG_SENT_FIRST),
                last: has(THALWEG_SENT_LAST),
                offset: Bytes::new(self.offset.min(u64::from(u32::MAX))),
                captured: clock.time(self.captured).min(clock.last()),
                keyframe: has(THALWEG_SENT_KEYFRAME),
            });
        }
        if has(THALWEG_SENT_STREAM) {
            let refused = |_| Error::range("sequence", self.sequence, "0 to 65535");
            departure.stream = Some((self.ssrc, u16::try_from(self.sequence).map_err(refused)?));
        }
        departure.app_limited = has(THALWEG_SENT_APP_LIMITED);
        Ok(departure)
    }
}

fn checked_size(bytes: u64) -> Result<Bytes, Error> {
    if (1..=LARGEST).contains(&bytes) {
        return Ok(Bytes::new(bytes));
    }
    Err(Error::range("bytes", bytes, "1 to 65535, such as 1200"))
}

/// Report on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Ack {
    /// sizeof(thalweg_ack).
    pub size: u32,
    /// 1 if a queue on the path marked it (ECN CE), else 0.
    pub ce: u32,
    /// Which packet.
    pub key: u64,
    /// When it arrived by the receiver's clock, ns; THALWEG_NEVER if it had not arrived by the time of the report. That
    /// is no verdict: it is lost once a packet sent three places later has arrived.
    pub arrival: u64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for Ack {
    const NAME: &'static str = "thalweg_ack";
    const DEFAULT: Ack = Ack { size: size_of::<Ack>() as u32, ce: 0, key: 0, arrival: THALWEG_NEVER };
}

impl Ack {
    pub(crate) fn arrival(&self) -> Result<Option<Time>, Error> {
        arrival(self.arrival)
    }

    pub(crate) fn acked(&self) -> Result<Acked, Error> {
        Ok(Acked::new(self.key, self.arrival()?, self.ce != 0))
    }
}

/// A time of the receiver's clock.
fn arrival(at: u64) -> Result<Option<Time>, Error> {
    const LAST: u64 = 1 << 62;
    match at {
        THALWEG_NEVER => Ok(None),
        0..=LAST => Ok(Some(Time::from_nanos(at))),
        _ => Err(Error::range("arrival", at, format_args!("nanoseconds, at most {LAST}, or THALWEG_NEVER"))),
    }
}

/// A packet whose departure becomes known together with its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct JoinedPacket {
    /// sizeof(thalweg_joined).
    pub size: u32,
    /// THALWEG_JOINED_...
    pub flags: u32,
    /// The program's name of it. One that was missing may come again under its key when it arrives late.
    pub key: u64,
    /// When it left, ns.
    pub departed: u64,
    /// Its size as the program counts, 1 to 65535.
    pub bytes: u64,
    /// When it arrived by the receiver's clock, ns; THALWEG_NEVER if it had not arrived by the time of the report.
    pub arrival: u64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for JoinedPacket {
    const NAME: &'static str = "thalweg_joined";
    const DEFAULT: JoinedPacket = JoinedPacket {
        size: size_of::<JoinedPacket>() as u32,
        flags: 0,
        key: 0,
        departed: 0,
        bytes: 0,
        arrival: THALWEG_NEVER,
    };
}

impl JoinedPacket {
    pub(crate) fn joined(&self, clock: &Clock) -> Result<Joined, Error> {
        let outcome = match arrival(self.arrival)? {
            _ if self.flags & THALWEG_JOINED_LOST != 0 => Outcome::Lost,
            Some(at) => Outcome::Arrived { at, ce: self.flags & THALWEG_JOINED_CE != 0 },
            None => Outcome::Missing,
        };
        Ok(Joined::new(self.key, checked_size(self.bytes)?, clock.time(self.departed), outcome))
    }
}

/// A frame as it joins the program's queue, for controllers that set the encoder's target by how well it empties
/// (SCReAM, NADA).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Queued {
    /// sizeof(thalweg_frame_queued).
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its size from the IP header up, in all its packets.
    pub bytes: u64,
    /// The time between two frames, ns.
    pub interval: i64,
    /// Bytes queued ahead of it.
    pub ahead: u64,
    /// How long the oldest of these has waited, ns; 0 for an empty queue.
    pub age: i64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for Queued {
    const NAME: &'static str = "thalweg_frame_queued";
    const DEFAULT: Queued =
        Queued { size: size_of::<Queued>() as u32, reserved: 0, bytes: 0, interval: 33_333_333, ahead: 0, age: 0 };
}

impl Queued {
    pub(crate) fn queued(&self) -> Result<FrameQueued, Error> {
        const LARGEST: u64 = 1 << 32;
        const LONGEST: i64 = 10_000_000_000;
        for (name, bytes) in [("bytes", self.bytes), ("ahead", self.ahead)] {
            if bytes > LARGEST {
                return Err(Error::range(name, bytes, format_args!("at most {LARGEST}")));
            }
        }
        if !(1..=LONGEST).contains(&self.interval) {
            return Err(Error::range("interval", self.interval, format_args!("1 to {LONGEST} ns, such as 33333333")));
        }
        if !(0..=1000 * LONGEST).contains(&self.age) {
            return Err(Error::range("age", self.age, "at least 0 ns"));
        }
        let [interval, age] = [self.interval, self.age].map(Span::from_nanos);
        Ok(FrameQueued::new(Bytes::new(self.bytes), interval, Bytes::new(self.ahead), age))
    }
}
