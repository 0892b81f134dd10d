//! Extended reports (RFC 3611, RFC 7097), read as arrivals of packets.
//!
//! Run lengths say which packets arrived, receipt times when. A packet that was discarded because it came too late has
//! arrived all the same, and its time says how late; the scheme decides what to do with it. Receipt times are in ticks
//! of the stream's RTP clock. The receiver chooses their origin, but it must be the same instant for all streams whose
//! arrivals one scheme uses.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PacketId};
use thalweg_units::Time;
use thalweg_wire::rtcp::{Xr, XrBlock};
use thalweg_wire::unwrap::TimestampUnwrapper;

use super::numbering::Numbering;

/// Max packets that one report may report on, which bounds the work it causes: as many as in plain reports.
const MAX: usize = 16_384;

/// Outcome reported for a packet, in ascending order of certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reported {
    Lost,
    Came,
    At(Time),
}

/// The reported packets that were sent, in sending order. Arrivals without a time get that of the one before them,
/// `last`, which is updated to the last one here.
pub(super) fn read(report: &Xr, sent: &impl Numbering, last: &mut Time) -> Vec<Acknowledgement> {
    let mut reported = BTreeMap::new();
    let mut room = MAX;
    for block in &report.blocks {
        room -= read_block(block, sent, *last, room, &mut reported);
    }
    let arrival = |(id, reported)| {
        let arrival = match reported {
            Reported::Lost => None,
            Reported::Came => Some(*last),
            Reported::At(time) => {
                *last = time;
                Some(time)
            }
        };
        Acknowledgement::new(id, arrival)
    };
    reported.into_iter().map(arrival).collect()
}

/// Adds the reports in a block, on at most `room` packets; returns on how many. Times are within half a wraparound of
/// `near`.
fn read_block(
    block: &XrBlock,
    sent: &impl Numbering,
    near: Time,
    room: usize,
    reported: &mut BTreeMap<PacketId, Reported>,
) -> usize {
    let mut add = |ssrc, sequences: &mut dyn Iterator<Item = (u16, Option<Reported>)>| {
        let mut count = 0;
        let Some(newest) = sent.newest_of(ssrc) else { return count };
        let mut base = None;
        for (place, (sequence, said)) in (0..).zip(sequences.take(room)) {
            count += 1;
            // The first number is the newest or up to 65,535 before it; the others follow it.
            let behind = u64::from((newest as u16).wrapping_sub(sequence));
            let Some(base) = *base.get_or_insert(newest.checked_sub(behind)) else { break };
            let number = base + place;
            if number > newest {
                break;
            }
            if let (Some(said), Some(id)) = (said, sent.packet(ssrc, number)) {
                let known = reported.entry(id).or_insert(said);
                *known = (*known).max(said);
            }
        }
        count
    };
    match block {
        XrBlock::Losses(packets) => {
            let said = |came| Some(if came { Reported::Came } else { Reported::Lost });
            add(packets.ssrc, &mut packets.iter().map(|(sequence, came)| (sequence, said(came))))
        }
        XrBlock::Discards { packets, .. } => {
            let said = |discarded: bool| discarded.then_some(Reported::Came);
            add(packets.ssrc, &mut packets.iter().map(|(sequence, discarded)| (sequence, said(discarded))))
        }
        XrBlock::ReceiptTimes(times) => {
            let clock = Clock { ticks: sent.clock_rate(times.ssrc).max(1).into() };
            let said = |time| Some(Reported::At(clock.time(clock.place(near, time))));
            add(times.ssrc, &mut times.iter().map(|(sequence, time)| (sequence, said(time))))
        }
        _ => 0,
    }
}

/// A stream's RTP clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// Ticks per second.
    ticks: u64,
}

impl Clock {
    const SECOND: u128 = 1_000_000_000;

    /// The extended tick count of a 32-bit time within half a wraparound of `near`.
    fn place(self, near: Time, time: u32) -> u64 {
        let near = u128::from(near.as_nanos()) * u128::from(self.ticks) / Clock::SECOND;
        TimestampUnwrapper::after(near as u64).peek(time)
    }

    /// The instant of this tick count, rounded down to 1 ns.
    fn time(self, ticks: u64) -> Time {
        let nanos = u128::from(ticks) * Clock::SECOND / u128::from(self.ticks);
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reader, RtcpFeedback, Streams};
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use thalweg_units::Span;
    use thalweg_wire::rtcp::{self, Packet, ReceiptTimes, RunLengths};

    const MEDIA: u32 = 7;
    const AUDIO: u32 = 9;

    /// Media numbers from 65,530 on are packets 0, 1, 2, ...
    fn sent(count: u64) -> Streams {
        let mut streams = Streams::new();
        (0..count).for_each(|id| streams.on_sent(PacketId(id), MEDIA, 65_530 + id));
        streams
    }

    fn arrivals(reader: &mut Reader, blocks: Vec<XrBlock>, sent: &Streams) -> Vec<(u64, Option<Time>)> {
        let mut datagram = Vec::new();
        rtcp::write(&[Packet::Xr(Xr { ssrc: 1, blocks })], &mut datagram).unwrap();
        match &reader.read(&datagram, sent).unwrap()[..] {
            [] => Vec::new(),
            [RtcpFeedback::Arrivals { acknowledgements, hold: None }] => {
                acknowledgements.iter().map(|reported| (reported.id.0, reported.arrival)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn losses(begin: u16, came: &[bool]) -> XrBlock {
        XrBlock::Losses(RunLengths::of(MEDIA, begin, came.iter().copied()).unwrap())
    }

    fn times(ssrc: u32, begin: u16, times: &[u32]) -> XrBlock {
        XrBlock::ReceiptTimes(ReceiptTimes { ssrc, begin, times: times.to_vec() })
    }

    fn millis(millis: u64) -> Option<Time> {
        Some(Time::from_millis(millis))
    }

    #[test]
    fn losses_and_receipt_times_together_are_what_per_packet_feedback_says() {
        // 65,535 is missing; the numbers continue after it.
        let blocks = vec![
            losses(65_534, &[true, false, true, true]),
            times(MEDIA, 65_534, &[90_000]),
            times(MEDIA, 0, &[90_090, 90_900]),
        ];
        let reported = arrivals(&mut Reader::new(), blocks, &sent(10));
        assert_eq!(reported, [(4, millis(1000)), (5, None), (6, millis(1001)), (7, millis(1010))]);
    }

    #[test]
    fn a_discarded_packet_arrived_at_its_time() {
        let late = RunLengths::of(MEDIA, 65_530, [false, true, true]).unwrap();
        let late = XrBlock::Discards { early: false, packets: late };
        // A receiver may report what it discarded as lost too, and only every second time.
        let blocks = vec![late, losses(65_530, &[true, false, false]), times(MEDIA, 65_530, &[900, 45_000])];
        let reported = arrivals(&mut Reader::new(), blocks, &sent(10));
        assert_eq!(reported, [(0, millis(10)), (1, millis(500)), (2, millis(500))]);
    }

    #[test]
    fn a_report_without_times_tells_arrivals_at_the_last_time_known() {
        let mut reader = Reader::new();
        let streams = sent(10);
        assert_eq!(
            arrivals(&mut reader, vec![times(MEDIA, 65_530, &[1800])], &streams),
            [(0, Some(Time::from_millis(20)))]
        );
        let reported = arrivals(&mut reader, vec![losses(65_531, &[true, false])], &streams);
        assert_eq!(reported, [(1, millis(20)), (2, None)]);
    }

    #[test]
    fn time_goes_on_after_32_bits_and_each_stream_has_its_own_ticks() {
        let mut streams = sent(10);
        streams.on_clock(AUDIO, 48_000);
        streams.on_sent(PacketId(10), AUDIO, 3);
        let mut reader = Reader::new();
        // One wraparound is 47,721.86 s.
        let before = arrivals(&mut reader, vec![times(MEDIA, 65_530, &[u32::MAX / 2])], &streams)[0].1.unwrap();
        let at_end = arrivals(&mut reader, vec![times(MEDIA, 65_530, &[u32::MAX])], &streams)[0].1.unwrap();
        let after = arrivals(&mut reader, vec![times(MEDIA, 65_531, &[89_999])], &streams)[0].1.unwrap();
        assert!(before < at_end);
        assert!((after - at_end - Span::from_secs(1)).abs() <= Span::from_nanos(1));
        let audio = (after.as_nanos() as u128 * 48_000 / 1_000_000_000) as u32;
        let reported = arrivals(&mut reader, vec![times(AUDIO, 3, &[audio.wrapping_add(480)])], &streams);
        let later = reported[0].1.unwrap() - after;
        assert!((later - Span::from_millis(10)).abs() < Span::from_micros(21), "{later}");
    }

    #[test]
    fn streams_of_others_and_packets_not_sent_are_passed_over() {
        assert_eq!(arrivals(&mut Reader::new(), vec![times(8, 65_530, &[5])], &sent(10)), []);
        let reported = arrivals(&mut Reader::new(), vec![losses(65_530, &[true; 400])], &sent(10));
        assert_eq!(reported.len(), 10);
        assert_eq!(arrivals(&mut Reader::new(), vec![losses(65_530, &[true])], &Streams::new()), []);
    }

    #[test]
    fn a_report_makes_bounded_work() {
        let blocks = vec![losses(65_530, &[true; 60_000]), losses(65_530, &[false; 60_000])];
        assert_eq!(arrivals(&mut Reader::new(), blocks, &sent(60_000)).len(), MAX);
    }

    proptest! {
        #[test]
        fn what_is_told_of_each_packet_is_what_came_of_it(
            came in prop::collection::vec(prop::option::of(0u32..200_000), 1..300),
            discarded in prop::collection::vec(any::<bool>(), 300),
        ) {
            let streams = sent(came.len() as u64);
            let begin = 65_530u16;
            let late = came.iter().zip(&discarded).map(|(came, late)| came.is_some() && *late);
            let late = RunLengths::of(MEDIA, begin, late).unwrap();
            let mut blocks = vec![
                losses(begin, &came.iter().map(Option::is_some).collect::<Vec<_>>()),
                XrBlock::Discards { early: false, packets: late },
            ];
            let times = ReceiptTimes::of(MEDIA, begin, came.iter().copied());
            blocks.extend(times.into_iter().map(XrBlock::ReceiptTimes));
            let expected: Vec<_> = (0..)
                .zip(&came)
                .map(|(id, came)| (id, came.map(|ticks| Time::from_nanos(u64::from(ticks) * 100_000 / 9))))
                .collect();
            prop_assert_eq!(arrivals(&mut Reader::new(), blocks, &streams), expected);
        }
    }
}
