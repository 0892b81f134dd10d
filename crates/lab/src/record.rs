//! Every event of a run, in order: the raw material of figures, charts, files and `explain`.

mod row;
#[cfg(feature = "parquet")]
mod table;
mod tally;

use thalweg_control::Payload;
use thalweg_link::DropReason;
use thalweg_sender::Event;
use thalweg_units::{Bytes, Span, Time};

pub use row::Row;
#[cfg(feature = "parquet")]
pub use table::{TableError, write_table};
pub(crate) use tally::{BIN_S, Bins, Tally};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When.
    pub at: Time,
    /// To which flow; flows count from 0.
    pub flow: u16,
    /// What.
    pub what: What,
}

/// What happened, and where.
#[derive(Debug, Clone, PartialEq)]
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
    /// A segment of a competing TCP flow entered the path.
    SegmentSent {
        /// Its wire size.
        size: Bytes,
        /// The congestion window of its sender, in segments.
        window: f64,
    },
    /// It came out of the forward path.
    SegmentArrived {
        /// Its wire size.
        size: Bytes,
        /// How long it waited in queues on the way.
        queued: Span,
    },
    /// It was dropped on the forward path.
    SegmentDropped {
        /// Its wire size.
        size: Bytes,
        /// Why.
        why: DropReason,
    },
    /// A competing TCP flow has transferred a page whole.
    PageRead {
        /// Its size.
        size: Bytes,
        /// How long it took, with the opening of its connection.
        took: Span,
    },
    /// The receiver sent a report.
    ReportSent {
        /// How many packets it covers.
        packets: u32,
        /// Its wire size.
        size: Bytes,
    },
    /// The receiver recovered a media packet by FEC.
    Recovered {
        /// Its number in the media stream.
        sequence: u64,
        /// The frame it belongs to.
        frame: u64,
    },
    /// The receiver asked for packets it misses.
    RetransmissionRequested {
        /// How many.
        packets: u32,
    },
    /// The receiver asked for a keyframe.
    KeyframeRequested,
    /// The receiver gave a frame up.
    FrameAbandoned {
        /// The frame.
        frame: u64,
    },
    /// A frame came too late to be shown: it is decoded, since later ones refer to it.
    FrameDiscarded {
        /// The frame.
        frame: u64,
        /// Since its picture was read.
        age: Span,
    },
    /// A frame did not lead the receiver's decoder to the state its sender said it would: a fault of this program, never of a path.
    StatesDisagree {
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
    },
}

/// Records in a block: enough that blocks are few, so little that a short run wastes nothing (4 MB).
const BLOCK: usize = 1 << 16;

/// What is kept of the events of a run. Their fingerprint always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Keep {
    /// Nothing more: there are no figures of packets and no series.
    Nothing,
    /// What figures and series are made of: 16 bytes a packet and what is inspected ten times a second.
    Summary,
    /// Every event, 56 bytes each.
    #[default]
    All,
}

/// Keeps the events of a run and their fingerprint.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    keep: Keep,
    /// By flow.
    tallies: Vec<Tally>,
    /// Blocks rather than one growing list, which would be copied as it grows.
    blocks: Vec<Vec<Record>>,
    fingerprint: Fingerprint,
}

impl Recorder {
    /// One that keeps this much.
    pub fn new(keep: Keep) -> Recorder {
        Recorder { keep, ..Recorder::default() }
    }

    /// Notes one.
    pub fn push(&mut self, record: Record) {
        self.fingerprint.add(&Row::of(&record));
        if self.keep >= Keep::Summary {
            let flow = usize::from(record.flow);
            if self.tallies.len() <= flow {
                self.tallies.resize_with(flow + 1, Tally::default);
            }
            self.tallies[flow].add(&record);
        }
        if self.keep < Keep::All {
            return;
        }
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(record),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(record);
                self.blocks.push(block);
            }
        }
    }

    /// What a flow's figures are made of; `None` where nothing happened or nothing is kept.
    pub(crate) fn tally(&self, flow: u16) -> Option<&Tally> {
        self.tallies.get(usize::from(flow))
    }

    /// All that were kept, in order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.blocks.iter().flatten()
    }

    /// How many were kept.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// Whether none were.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All of them in order, in blocks of many.
    #[cfg(feature = "parquet")]
    fn blocks(&self) -> impl Iterator<Item = &[Record]> {
        self.blocks.iter().map(Vec::as_slice)
    }

    /// A hash of all that happened, kept or not: equal for equal runs, on every machine.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
}

/// A running hash over rows: in each of two lanes a multiply and a rotation for each word (the multiplier of SplitMix64's
/// finaliser), not cryptographic; two lanes, because one would wait for its own multiplications.
#[derive(Debug, Clone, Copy)]
struct Fingerprint([u64; 2]);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint([0x9e37_79b9_7f4a_7c15, 0x94d0_49bb_1331_11eb])
    }
}

impl Fingerprint {
    fn add(&mut self, row: &Row) {
        for pair in row.words().as_chunks::<2>().0 {
            for (lane, word) in self.0.iter_mut().zip(pair) {
                *lane = (*lane ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29);
            }
        }
    }

    fn value(self) -> u64 {
        self.0[0] ^ self.0[1].rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fresh memory is a quarter of what a run with an encoder model costs, and nearly all of it is records.
    #[test]
    fn a_record_takes_seven_words() {
        assert_eq!(size_of::<Record>(), 56);
    }
}
