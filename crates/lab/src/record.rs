//! Every event of a run, in order: the source of figures, charts, files and `explain`.

mod cells;
pub mod columns;
mod row;
#[cfg(feature = "parquet")]
mod table;
mod tally;

use thalweg_control::Payload;
use thalweg_netsim::{DropReason, MarkReason};
use thalweg_sender::Event;
use thalweg_units::{Bytes, Span, Time};

pub use cells::{Cells, Values, cells};
pub use row::Row;
#[cfg(feature = "parquet")]
pub use table::{TableError, read_table, write_table};
#[cfg(feature = "parquet")]
pub(crate) use table::{optional, required, write_column};
pub(crate) use tally::{BIN_S, Bins, Tally};

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When it happened.
    pub at: Time,
    /// Its flow, numbered from 0.
    pub flow: u16,
    /// The event.
    pub what: What,
}

/// The kind of an event, and where it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// At the sender.
    Sender(Event),
    /// A packet arrived over the forward path.
    Arrived {
        /// Its index in sending order.
        id: u64,
        /// Its content.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
        /// Its waiting time in queues.
        queued: Span,
        /// Why a queue marked it (ECN CE).
        marked: Option<MarkReason>,
    },
    /// A copy that the path made of a packet arrived, after the packet or another copy.
    CopyArrived {
        /// Its index in sending order.
        id: u64,
        /// Its content.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
    },
    /// A packet was dropped on the forward path.
    Dropped {
        /// Its index in sending order.
        id: u64,
        /// Its content.
        payload: Payload,
        /// Its wire size.
        size: Bytes,
        /// The reason.
        why: DropReason,
    },
    /// A datagram of cross traffic arrived over the forward path.
    DatagramArrived {
        /// Its wire size.
        size: Bytes,
        /// Its waiting time in queues.
        queued: Span,
    },
    /// A datagram of cross traffic was dropped on the forward path.
    DatagramDropped {
        /// Its wire size.
        size: Bytes,
        /// The reason.
        why: DropReason,
    },
    /// A segment of a competing TCP flow entered the path.
    SegmentSent {
        /// Its wire size.
        size: Bytes,
        /// The congestion window of its sender, in segments.
        window: f64,
    },
    /// A segment arrived over the forward path.
    SegmentArrived {
        /// Its wire size.
        size: Bytes,
        /// Its waiting time in queues.
        queued: Span,
        /// Why a queue marked it (ECN CE).
        marked: Option<MarkReason>,
    },
    /// A segment was dropped on the forward path.
    SegmentDropped {
        /// Its wire size.
        size: Bytes,
        /// The reason.
        why: DropReason,
    },
    /// A competing TCP flow has transferred a complete page.
    PageRead {
        /// Its size.
        size: Bytes,
        /// How long it took, including connection setup.
        took: Span,
    },
    /// The receiver sent a report.
    ReportSent {
        /// Number of packets it covers.
        packets: u32,
        /// Its wire size.
        size: Bytes,
    },
    /// The receiver recovered a media packet by FEC.
    Recovered {
        /// Its sequence number in the media stream.
        sequence: u64,
        /// The frame it belongs to.
        frame: u64,
    },
    /// The receiver requested missing packets.
    RetransmissionRequested {
        /// Number of packets.
        packets: u32,
    },
    /// The receiver requested a keyframe.
    KeyframeRequested,
    /// The receiver abandoned a frame.
    FrameAbandoned {
        /// The frame.
        frame: u64,
    },
    /// A frame was too late to be shown: it is decoded, because later ones refer to it.
    FrameDiscarded {
        /// The frame.
        frame: u64,
        /// Time since its picture was captured.
        age: Span,
    },
    /// A frame did not lead the receiver's decoder to the state that its sender predicted: a bug in this program, never
    /// an effect of the path.
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
        /// Time since the picture was captured.
        latency: Span,
        /// Luma PSNR in dB; NaN when not measured.
        psnr: f64,
    },
}

/// Records per block: large enough for few blocks, small enough for short runs (4 MB).
const BLOCK: usize = 1 << 16;

/// How much is kept of the events of a run. Their fingerprint is always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Keep {
    /// Nothing else: no packet figures and no series.
    Nothing,
    /// The data for figures and series: 16 bytes a packet, and variables sampled ten times a second.
    Summary,
    /// Every event, 56 bytes each.
    #[default]
    All,
}

/// Stores the events of a run and their fingerprint.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    keep: Keep,
    /// Tallies by flow.
    tallies: Vec<Tally>,
    /// Blocks instead of one growing list, which would be copied as it grows.
    blocks: Vec<Vec<Record>>,
    fingerprint: Fingerprint,
}

impl Recorder {
    /// A recorder that keeps this much.
    pub fn new(keep: Keep) -> Recorder {
        Recorder { keep, ..Recorder::default() }
    }

    /// Records an event.
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

    /// The data for a flow's figures; `None` if there were no events or nothing is kept.
    pub(crate) fn tally(&self, flow: u16) -> Option<&Tally> {
        self.tallies.get(usize::from(flow))
    }

    /// All stored records, in order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.blocks.iter().flatten()
    }

    /// Number of stored records.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// Returns true if no records are stored.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All stored records in order, in blocks.
    #[cfg(feature = "parquet")]
    fn blocks(&self) -> impl Iterator<Item = &[Record]> {
        self.blocks.iter().map(Vec::as_slice)
    }

    /// A hash of all events, stored or not: equal for equal runs, on every machine.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint.value()
    }
}

/// A running, non-cryptographic hash over rows: two lanes, each with a multiplication and a rotation per word (the
/// multiplier of SplitMix64's finaliser). A single lane would wait for its own multiplications.
#[derive(Debug, Clone, Copy)]
struct Fingerprint([u64; 2]);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint([0x9e37_79b9_7f4a_7c15, 0x94d0_49bb_1331_11eb])
    }
}

impl Fingerprint {
    fn add(&mut self, row: &Row<'_>) {
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

    /// Allocating memory is a quarter of the cost of a run with an encoder model, and nearly all of it is for records.
    #[test]
    fn a_record_takes_seven_words() {
        assert_eq!(size_of::<Record>(), 56);
    }
}
