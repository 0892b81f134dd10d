//! Contents of extended reports for one stream.

use std::collections::BTreeSet;

use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::{BytesDiscarded, ReceiptTimes, RunLengths, XrBlock};

use crate::reports::arrivals::{Arrivals, Memory};

/// How long arrivals are remembered: two of the longest intervals, plus late packets.
const MEMORY: Memory = Memory::Lasting(Span::from_secs(5));
/// A packet is considered lost when one sent this many packets later has arrived (RFC 9002 section 6.1.1, as the sender
/// does).
const LATER: u64 = 3;
/// Max discarded bytes the field can hold (RFC 7243 section 4.1 reserves the two values above).
const MAX_BYTES: Bytes = Bytes::new(0xffff_fffd);

/// Packets by unwrapped number, with the arrival time of those received.
pub(super) type Reported = [(u64, Option<Time>)];

/// Effect of a packet on the stream's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learned {
    /// Nothing: a duplicate.
    Nothing,
    /// It is to be reported.
    Arrival,
    /// It is to be reported, and reveals a loss that was not known before.
    Loss,
}

/// Arrivals and discards of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) ssrc: u32,
    /// Rate of its RTP clock in Hz, the unit of receipt times.
    clock: u32,
    arrivals: Arrivals,
    newest: Option<u64>,
    /// The remembered packets that arrived too late, and the total payload bytes ever discarded.
    discarded: BTreeSet<u64>,
    bytes_discarded: Bytes,
    /// First packet that was new in the last report; `None` before the first report.
    before: Option<u64>,
}

impl Stream {
    pub(super) fn new(ssrc: u32, clock: u32) -> Stream {
        let (newest, before, discarded) = (None, None, BTreeSet::new());
        Stream { ssrc, clock, arrivals: Arrivals::new(MEMORY), newest, discarded, bytes_discarded: Bytes::ZERO, before }
    }

    /// Packet `number`, unwrapped, arrived when the receiver's clock showed `here`.
    pub(super) fn on_packet(&mut self, here: Time, number: u64) -> Learned {
        if !self.arrivals.on_packet(here, number) {
            return Learned::Nothing;
        }
        let before = self.newest.unwrap_or(number);
        self.newest = Some(before.max(number));
        let lost = self.arrivals.misses((before + 1).saturating_sub(LATER), (number + 1).saturating_sub(LATER));
        if lost { Learned::Loss } else { Learned::Arrival }
    }

    /// The packet, with this much payload, arrived too late to be played; returns whether that is new.
    pub(super) fn on_discarded(&mut self, number: u64, payload: Bytes) -> bool {
        let is_new = self.discarded.insert(number);
        self.bytes_discarded += if is_new { payload } else { Bytes::ZERO };
        is_new
    }

    /// The contents of a report now: what is new, which is marked as reported, and what was new in the last report.
    pub(super) fn take(&mut self) -> Vec<(u64, Option<Time>)> {
        let Some(first) = self.arrivals.begin() else { return Vec::new() };
        let begin = self.before.map_or(first, |before| before.min(first));
        self.before = Some(first);
        self.discarded = self.discarded.split_off(&self.arrivals.first());
        self.arrivals.take_range(begin, u64::MAX)
    }

    /// The XR blocks that report it.
    pub(super) fn blocks(&self, reported: &Reported) -> Vec<XrBlock> {
        let ssrc = self.ssrc;
        let begin = reported.first().map_or(0, |(number, _)| *number as u16);
        let runs = |bits: &mut dyn Iterator<Item = bool>| {
            let runs = RunLengths::of(ssrc, begin, bits);
            debug_assert!(runs.is_ok(), "no more is remembered than a block may report on");
            runs.ok()
        };
        let mut blocks = Vec::new();
        blocks.extend(runs(&mut reported.iter().map(|(_, at)| at.is_some())).map(XrBlock::Losses));
        if reported.iter().any(|(number, _)| self.discarded.contains(number)) {
            let late = runs(&mut reported.iter().map(|(number, _)| self.discarded.contains(number)));
            blocks.extend(late.map(|packets| XrBlock::Discards { early: false, packets }));
        }
        if self.bytes_discarded > Bytes::ZERO {
            let bytes = self.bytes_discarded.min(MAX_BYTES);
            let discarded = BytesDiscarded { ssrc, early: false, cumulative: true, bytes };
            blocks.push(XrBlock::BytesDiscarded(discarded));
        }
        let times = ReceiptTimes::of(ssrc, begin, reported.iter().map(|(_, at)| at.map(|at| ticks(at, self.clock))));
        blocks.extend(times.into_iter().map(XrBlock::ReceiptTimes));
        blocks
    }
}

/// A time in ticks of an RTP clock.
pub(super) fn ticks(at: Time, clock: u32) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(clock) / 1_000_000_000) as u32
}
