//! Receiver reports alone (RFC 3550 section 6.4.2), from receivers without per-packet feedback.
//!
//! A report block has the highest number of a stream that arrived and the total number of lost packets, but not which
//! ones were lost or when the others arrived. So every packet up to the highest counts as arrived with the report,
//! except as many as are newly lost, spread evenly. Streams may be reported apart (aiortc does): a report on one stream
//! is held until the packets sent earlier on the other streams are reported, or they would look overtaken, and so be
//! declared lost. That is accurate enough for bytes in flight, loss, and a round trip that includes the report's delay,
//! but too coarse for delay-based control.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PacketId};
use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::ReportBlock;

use super::numbering::Numbering;

/// Max packets that one block may report on, which bounds the work it causes: more than a second at 100 Mbps.
const MAX: u64 = 16_384;

/// A stream on which nothing was reported for this long holds nothing back: the longest interval between receiver reports,
/// 5 s drawn 1.5 times as long (RFC 3550 sections 6.2 and 6.3.1).
const SILENT: Span = Span::from_millis(7500);

/// The last report on each stream.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainReports {
    streams: BTreeMap<u32, Reported>,
    /// Reports held until the packets sent earlier on other streams are reported, by packet.
    waiting: BTreeMap<PacketId, Acknowledgement>,
}

#[derive(Debug, Clone, Copy)]
struct Reported {
    /// The first number not reported on yet.
    next: u64,
    lost: i32,
    at: Time,
}

impl PlainReports {
    /// The new information in the blocks of a report that arrives at `now`, in order of sending.
    pub(super) fn take(&mut self, now: Time, blocks: &[ReportBlock], sent: &impl Numbering) -> Vec<Acknowledgement> {
        for block in blocks {
            let read = self.read(now, block, sent);
            self.waiting.extend(read.into_iter().map(|reported| (reported.id, reported)));
        }
        // The first packet of each stream that is still to be reported on.
        let unreported = |(ssrc, stream): (&u32, &Reported)| sent.packet(*ssrc, stream.next);
        let heard = self.streams.iter().filter(|(_, stream)| now - stream.at <= SILENT);
        let later = match heard.filter_map(unreported).min() {
            Some(first) => self.waiting.split_off(&first),
            None => BTreeMap::new(),
        };
        core::mem::replace(&mut self.waiting, later).into_values().collect()
    }

    /// The new information in a block that arrives at `now`.
    fn read(&mut self, now: Time, block: &ReportBlock, sent: &impl Numbering) -> Vec<Acknowledgement> {
        let Some(newest) = sent.newest_of(block.ssrc) else { return Vec::new() };
        // Only the low 16 bits of the extended number are used: the sender knows the wraparounds.
        let behind = u64::from((newest as u16).wrapping_sub(block.highest_sequence as u16));
        let Some(highest) = newest.checked_sub(behind) else { return Vec::new() };
        let reported = self.streams.entry(block.ssrc).or_insert(Reported { next: 0, lost: 0, at: now });
        reported.at = now;
        if highest < reported.next {
            return Vec::new();
        }
        let first = reported.next.max(highest.saturating_sub(MAX - 1));
        // Before its first packet a stream has none: what was never sent cannot be lost.
        let ids: Vec<_> = (first..=highest).filter_map(|sequence| sent.packet(block.ssrc, sequence)).collect();
        let count = ids.len() as u64;
        let lost = u64::try_from(i64::from(block.cumulative_lost) - i64::from(reported.lost)).unwrap_or(0).min(count);
        *reported = Reported { next: highest + 1, lost: block.cumulative_lost, at: now };
        // As in Bresenham's line algorithm: packet k is lost where k * lost / count steps up.
        let is_lost = |place: u64| (place + 1) * lost / count != place * lost / count;
        let reported = |(place, id)| Acknowledgement::new(id, (!is_lost(place)).then_some(now));
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

    #[test]
    fn what_is_reported_of_one_stream_waits_for_what_was_sent_before_on_another() {
        let (mut plain, mut streams) = (PlainReports::default(), Streams::new());
        // Video, and audio as every third packet.
        for id in 0..30 {
            let (ssrc, number) = if id % 3 == 2 { (8, id / 3) } else { (7, id - id / 3) };
            streams.on_sent(PacketId(id), ssrc, 100 + number);
        }
        let video = |highest| ReportBlock { ssrc: 7, ..block(highest, 0) };
        let audio = |highest| ReportBlock { ssrc: 8, ..block(highest, 0) };
        let ids = |read: Vec<Acknowledgement>| read.iter().map(|one| one.id.0).collect::<Vec<_>>();
        let mut at = |ms, reported: ReportBlock| ids(plain.take(Time::from_millis(ms), &[reported], &streams));
        assert_eq!(at(100, video(103)), [0, 1, 3, 4], "nothing is known of another stream yet");
        // Audio up to packet 14, video only up to 4: what was sent before packet 6, the next of video.
        assert_eq!(at(200, audio(104)), [2, 5]);
        assert_eq!(at(300, video(111)), (6..=16).collect::<Vec<_>>(), "17 is audio, and not reported");
        // Nothing more is reported of audio: in the end it holds nothing back.
        assert_eq!(at(400, video(119)), [0u64; 0]);
        assert_eq!(at(7_900, video(119)), [18, 19, 21, 22, 24, 25, 27, 28]);
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
