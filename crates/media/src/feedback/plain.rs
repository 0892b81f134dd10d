//! Receiver reports alone (RFC 3550 section 6.4.2), from receivers without per-packet feedback.
//!
//! A report block has the highest number of a stream that arrived and the total number of lost packets, but not which
//! ones were lost or when the others arrived. So every packet up to the highest counts as arrived with the report,
//! except as many as are newly lost, spread evenly. That is accurate enough for bytes in flight, loss, and a round trip
//! that includes the report's delay, but too coarse for delay-based control.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use thalweg_control::Acknowledgement;
use thalweg_units::Time;
use thalweg_wire::rtcp::ReportBlock;

use super::numbering::Numbering;

/// Max packets that one block may report on, which bounds the work it causes: more than a second at 100 Mbps.
const MAX: u64 = 16_384;

/// The last report on each stream.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainReports {
    streams: BTreeMap<u32, Reported>,
}

#[derive(Debug, Clone, Copy)]
struct Reported {
    /// The first number not reported on yet.
    next: u64,
    lost: i32,
}

impl PlainReports {
    /// The new information in a block that arrives at `now`.
    pub(super) fn read(&mut self, now: Time, block: &ReportBlock, sent: &impl Numbering) -> Vec<Acknowledgement> {
        let Some(newest) = sent.newest_of(block.ssrc) else { return Vec::new() };
        // Only the low 16 bits of the extended number are used: the sender knows the wraparounds.
        let behind = u64::from((newest as u16).wrapping_sub(block.highest_sequence as u16));
        let Some(highest) = newest.checked_sub(behind) else { return Vec::new() };
        let reported = self.streams.entry(block.ssrc).or_insert(Reported { next: 0, lost: 0 });
        if highest < reported.next {
            return Vec::new();
        }
        let first = reported.next.max(highest.saturating_sub(MAX - 1));
        // Before its first packet a stream has none: what was never sent cannot be lost.
        let ids: Vec<_> = (first..=highest).filter_map(|sequence| sent.packet(block.ssrc, sequence)).collect();
        let count = ids.len() as u64;
        let lost = u64::try_from(i64::from(block.cumulative_lost) - i64::from(reported.lost)).unwrap_or(0).min(count);
        *reported = Reported { next: highest + 1, lost: block.cumulative_lost };
        // As in Bresenham's line algorithm: packet k is lost where k * lost / count steps up.
        let is_lost = |place: u64| (place + 1) * lost / count != place * lost / count;
        let reported = |(place, id)| Acknowledgement { id, arrival: (!is_lost(place)).then_some(now), ce: false };
        (0..).zip(ids).map(reported).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Streams;
    use super::*;
    use proptest::prelude::*;
    use thalweg_control::PacketId;

    fn sent(from: u64, count: u64) -> Streams {
        let mut streams = Streams::new();
        (0..count).for_each(|id| streams.on_sent(PacketId(id), 7, from + id));
        streams
    }

    fn block(highest: u32, lost: i32) -> ReportBlock {
        ReportBlock { ssrc: 7, highest_sequence: highest, cumulative_lost: lost, ..ReportBlock::default() }
    }

    #[test]
    fn each_packet_is_told_once_and_as_many_are_missing_as_the_report_says() {
        let (mut plain, sent) = (PlainReports::default(), sent(65_530, 40));
        let first = plain.read(Time::from_millis(100), &block(65_539, 2), &sent);
        assert_eq!(first.iter().map(|reported| reported.id.0).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert_eq!(first.iter().filter(|reported| reported.arrival.is_none()).count(), 2);
        // The sender knows the wraparound: 65,549 is 13 on the wire.
        let second = plain.read(Time::from_millis(200), &block(13, 2), &sent);
        assert_eq!(second.len(), 10);
        assert!(second.iter().all(|reported| reported.arrival == Some(Time::from_millis(200))));
        assert!(plain.read(Time::from_millis(300), &block(13, 2), &sent).is_empty());
    }

    #[test]
    fn streams_of_others_and_numbers_from_the_past_say_nothing() {
        let (mut plain, sent) = (PlainReports::default(), sent(1000, 40));
        let other = ReportBlock { ssrc: 8, ..block(1010, 0) };
        assert!(plain.read(Time::ZERO, &other, &sent).is_empty());
        plain.read(Time::ZERO, &block(1020, 0), &sent);
        assert!(plain.read(Time::ZERO, &block(1010, 0), &sent).is_empty());
        assert!(plain.read(Time::ZERO, &block(500, 0), &sent).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_a_receiver_says_it_tells_of_packets_that_were_sent_once(
            blocks in prop::collection::vec((any::<u32>(), any::<i32>()), 0..20), from in 0u64..100_000, count in 1u64..300,
        ) {
            let (mut plain, sent) = (PlainReports::default(), sent(from, count));
            let mut reported = alloc::collections::BTreeSet::new();
            for (highest, lost) in blocks {
                for acknowledgement in plain.read(Time::ZERO, &block(highest, lost), &sent) {
                    prop_assert!(acknowledgement.id.0 < count);
                    prop_assert!(reported.insert(acknowledgement.id.0));
                }
            }
        }
    }
}
