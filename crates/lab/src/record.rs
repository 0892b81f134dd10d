//! Every event of a run, in order: the raw material of figures, charts, files and `explain`.

mod row;
mod table;

use thalweg_control::Payload;
use thalweg_link::DropReason;
use thalweg_sender::Event;
use thalweg_units::{Bytes, Span, Time};

pub use row::Row;
pub use table::{TableError, write_table};

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// When.
    pub at: Time,
    /// To which flow; flows count from 0.
    pub flow: u16,
    /// What.
    pub what: What,
}

/// What happened, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What {
    /// At the sender.
    Sender(Event),
    /// A packet came out of the forward path.
    Arrived {
        /// Its place in the order of sending.
        id: u64,
        /// What it is for.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
        /// How long it waited in queues on the way.
        queued: Span,
    },
    /// A packet was dropped on the forward path.
    Dropped {
        /// Its place in the order of sending.
        id: u64,
        /// What it was for.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
        /// Why.
        why: DropReason,
    },
    /// A datagram of cross traffic came out of the forward path.
    DatagramArrived {
        /// Its wire size.
        size: Bytes,
        /// How long it waited in queues on the way.
        queued: Span,
    },
    /// A datagram of cross traffic was dropped on the forward path.
    DatagramDropped {
        /// Its wire size.
        size: Bytes,
        /// Why.
        why: DropReason,
    },
    /// The receiver sent a report.
    ReportSent {
        /// How many packets it covers.
        packets: u32,
        /// Its wire size.
        size: Bytes,
    },
    /// The receiver asked for packets it misses.
    RepeatAsked {
        /// How many.
        packets: u32,
    },
    /// The receiver asked for a keyframe.
    KeyframeAsked,
    /// The receiver gave a frame up.
    FrameAbandoned {
        /// The frame.
        frame: u64,
    },
    /// A frame was shown.
    Displayed {
        /// The frame.
        frame: u64,
        /// The picture in it.
        picture: u64,
        /// Since the picture was read.
        latency: Span,
        /// Luma PSNR in dB; NaN when not measured.
        psnr: f64,
        /// SSIM; NaN when not measured.
        ssim: f64,
    },
}

/// Keeps the events of a run and their fingerprint.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    records: Vec<Record>,
    fingerprint: Fingerprint,
}

impl Recorder {
    /// Notes one.
    pub fn push(&mut self, record: Record) {
        self.fingerprint.add(&Row::of(&record));
        self.records.push(record);
    }

    /// All of them, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// A hash of all of them: equal for equal runs, on every machine.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.0
    }
}

/// A running hash over rows: a multiply and a rotation for each word (the finaliser of SplitMix64's constant), not
/// cryptographic, but any difference anywhere changes it.
#[derive(Debug, Clone, Copy)]
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint(0x9e37_79b9_7f4a_7c15)
    }
}

impl Fingerprint {
    fn add(&mut self, row: &Row) {
        for word in row.words() {
            self.0 = (self.0 ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29);
        }
    }
}
