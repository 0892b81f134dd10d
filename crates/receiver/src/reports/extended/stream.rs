//! What extended reports say of one stream.

use std::collections::BTreeSet;

use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::{BytesDiscarded, ReceiptTimes, RunLengths, XrBlock};

use crate::reports::arrivals::{Arrivals, Memory};

/// How long arrivals are remembered: two intervals of the longest kind, and what comes late besides.
const MEMORY: Memory = Memory::Lasting(Span::from_secs(5));
/// A packet is taken for lost when one sent so many places later has come (RFC 9002 section 6.1.1, as the sender does).
const LATER: u64 = 3;
/// The most bytes discarded that the field can say (RFC 7243 section 4.1: the two numbers above have meanings of their own).
const MAX_BYTES: Bytes = Bytes::new(0xffff_fffd);

/// Packets by number, without end, with the time of those that came.
pub(super) type Reported = [(u64, Option<Time>)];

/// What a packet changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learned {
    /// A copy: nothing.
    Nothing,
    /// It is to be reported.
    Arrival,
    /// And shows others to be lost that none showed to be before.
    Loss,
}

/// Arrivals and discards of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) ssrc: u32,
    /// Ticks in a second of its RTP clock, which receipt times are reported in.
    clock: u32,
    arrivals: Arrivals,
    newest: Option<u64>,
    /// Which of those that are remembered came too late, and how many bytes of payload ever did.
    discarded: BTreeSet<u64>,
    bytes_discarded: Bytes,
    /// What was new in the last report began here; `None` before one.
    before: Option<u64>,
}

impl Stream {
    pub(super) fn new(ssrc: u32, clock: u32) -> Stream {
        let (newest, before, discarded) = (None, None, BTreeSet::new());
        Stream { ssrc, clock, arrivals: Arrivals::new(MEMORY), newest, discarded, bytes_discarded: Bytes::ZERO, before }
    }

    /// Packet `number`, unwrapped, came when the receiver's clock showed `here`.
    pub(super) fn on_packet(&mut self, here: Time, number: u64) -> Learned {
        if !self.arrivals.on_packet(here, number) {
            return Learned::Nothing;
        }
        let before = self.newest.unwrap_or(number);
        self.newest = Some(before.max(number));
        let lost = self.arrivals.misses((before + 1).saturating_sub(LATER), (number + 1).saturating_sub(LATER));
        if lost { Learned::Loss } else { Learned::Arrival }
    }

    /// The packet, with so much payload, came too late to be played. Whether that is new.
    pub(super) fn on_discarded(&mut self, number: u64, payload: Bytes) -> bool {
        let is_new = self.discarded.insert(number);
        self.bytes_discarded += if is_new { payload } else { Bytes::ZERO };
        is_new
    }

    /// What a report reports now: what is new, which counts as reported then, and what was new in the last one.
    pub(super) fn take(&mut self) -> Vec<(u64, Option<Time>)> {
        let Some(rtcp_feedback) = self.arrivals.begin() else { return Vec::new() };
        let begin = self.before.map_or(rtcp_feedback, |before| before.min(rtcp_feedback));
        self.before = Some(rtcp_feedback);
        self.discarded = self.discarded.split_off(&self.arrivals.first());
        self.arrivals.take_range(begin, u64::MAX)
    }

    /// The blocks that tell it.
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

/// An instant on an RTP clock.
pub(super) fn ticks(at: Time, clock: u32) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(clock) / 1_000_000_000) as u32
}
