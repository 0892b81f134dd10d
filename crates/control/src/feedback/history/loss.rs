//! Loss declaration: packets overtaken by later ones, and everything in flight at a feedback timeout.

use alloc::vec::Vec;

use super::Config;
use super::packets::Packets;
use crate::feedback::{Fate, Report};
use crate::packet::{PacketId, SentPacket};

/// How far packets have been judged.
#[derive(Debug, Clone, Default)]
pub(super) struct Loss {
    /// Every packet below this number has been judged.
    judged: u64,
    newest_arrived: Option<u64>,
}

impl Loss {
    /// Every packet below this number has arrived or is lost.
    pub(super) fn judged(&self) -> u64 {
        self.judged
    }

    /// Records the arrival of a packet.
    pub(super) fn on_arrival(&mut self, id: PacketId) {
        self.newest_arrived = self.newest_arrived.max(Some(id.0));
    }

    /// Declares the packets lost that enough later packets have overtaken; where reports name what is missing, those
    /// that a report named.
    #[inline]
    pub(super) fn judge_overtaken(&mut self, packets: &mut Packets, config: &Config, reports: &mut Vec<Report>) {
        let until = self.newest_arrived.map_or(0, |newest| (newest + 1).saturating_sub(config.reorder_packets));
        let lose = if config.unreported_are_lost { Packets::lose } else { Packets::lose_if_missing };
        self.judge(until, packets, reports, lose);
    }

    /// Declares everything in flight lost.
    pub(super) fn judge_all(&mut self, packets: &mut Packets, reports: &mut Vec<Report>) {
        self.judge(packets.next(), packets, reports, Packets::lose);
    }

    fn judge(
        &mut self,
        until: u64,
        packets: &mut Packets,
        reports: &mut Vec<Report>,
        lose: for<'a> fn(&'a mut Packets, u64) -> Option<&'a SentPacket>,
    ) {
        for number in self.judged.max(packets.first())..until {
            if let Some(packet) = lose(packets, number) {
                reports.push(Report { packet: *packet, fate: Fate::Lost });
            }
        }
        self.judged = self.judged.max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::history::tests::{arrived, sent};
    use crate::feedback::{Acknowledgement, Cause, History};
    use thalweg_units::{Bytes, Time};

    #[test]
    fn a_packet_is_lost_when_the_third_after_it_arrives_and_late_when_it_arrives_after_all() {
        let mut history = History::new(Config::default());
        (0..4).for_each(|id| {
            sent(&mut history, id, id);
        });
        let two = [arrived(1, Time::from_millis(26)), arrived(2, Time::from_millis(27))];
        let feedback = history.on_report(Time::from_millis(52), &two, None);
        assert!(feedback.reports.iter().all(|report| report.fate != Fate::Lost));
        let feedback = history.on_report(Time::from_millis(53), &[arrived(3, Time::from_millis(28))], None);
        assert_eq!(feedback.reports.iter().filter(|report| report.fate == Fate::Lost).count(), 1);
        assert_eq!(feedback.reports[0].packet.id, PacketId(0));
        assert_eq!(feedback.in_flight, Bytes::ZERO);
        let feedback = history.on_report(Time::from_millis(60), &[arrived(0, Time::from_millis(35))], None);
        assert!(matches!(feedback.reports[0].fate, Fate::Arrived { was_lost: true, .. }));
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::ZERO, Bytes::new(4000)));
    }

    #[test]
    fn a_packet_that_no_report_covered_leaves_the_flight_without_a_fate_where_reports_name_the_missing() {
        let mut history = History::new(Config { unreported_are_lost: false, ..Config::default() });
        (0..9).for_each(|id| {
            sent(&mut history, id, id);
        });
        let at = Time::from_millis(40);
        // Packet 1 is missing; the report on 3 and 4 is lost.
        let first = [arrived(0, at), Acknowledgement::new(PacketId(1), None), arrived(2, at)];
        history.on_report(Time::from_millis(50), &first, None);
        // A packet that was never sent says nothing of those before it.
        history.on_report(Time::from_millis(55), &[arrived(u64::MAX, at)], None);
        let feedback = history.on_report(Time::from_millis(60), &[5, 6, 7].map(|id| arrived(id, at)), None);
        let fates: Vec<(u64, bool)> =
            feedback.reports.iter().map(|report| (report.packet.id.0, report.fate == Fate::Lost)).collect();
        assert_eq!(fates, [(1, true), (5, false), (6, false), (7, false)]);
        assert_eq!(feedback.unreported, 2);
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::new(1000), Bytes::new(5000)));
        // That report was late, not lost: it takes back nothing. What it says of 4 comes too late.
        let late = [arrived(3, at), Acknowledgement::new(PacketId(4), None)];
        let feedback = history.on_report(Time::from_millis(70), &late, None);
        assert_eq!((feedback.reports.len(), feedback.unreported), (1, 0));
        assert!(matches!(feedback.reports[0].fate, Fate::Arrived { was_lost: false, .. }));
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::new(1000), Bytes::new(6000)));
        // Silence still declares everything lost that is in flight, and nothing else.
        let due = history.next_timeout();
        let feedback = history.on_timeout(due).expect("packet 8 is in flight");
        assert_eq!(feedback.reports.iter().map(|report| report.packet.id.0).collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn what_the_caller_declares_lost_is_lost_once_and_may_still_arrive() {
        let mut history = History::default();
        (0..5).for_each(|id| {
            sent(&mut history, id, id);
        });
        let feedback = history.declare_lost(Time::from_millis(30), &[3, 1, 3, 900].map(PacketId));
        let lost: Vec<u64> = feedback.reports.iter().map(|report| report.packet.id.0).collect();
        assert_eq!((lost, feedback.lost_bytes()), (alloc::vec![1, 3], Bytes::new(2000)));
        assert_eq!((feedback.in_flight, feedback.delivered, feedback.rtt), (Bytes::new(3000), Bytes::ZERO, None));
        assert_eq!(history.next_timeout(), Time::from_millis(2000), "no sign of life: the wait goes on");
        assert!(history.declare_lost(Time::from_millis(31), &[PacketId(1)]).reports.is_empty());
        // Packet 0 is overtaken by 4, packet 3 arrives late, and what was declared lost is not lost again.
        let feedback =
            history.on_report(Time::from_millis(60), &[3, 4].map(|id| arrived(id, Time::from_millis(40))), None);
        let fates: Vec<(u64, bool)> =
            feedback.reports.iter().map(|report| (report.packet.id.0, report.fate == Fate::Lost)).collect();
        assert_eq!(fates, [(0, true), (3, false), (4, false)]);
        assert!(matches!(feedback.reports[1].fate, Fate::Arrived { was_lost: true, .. }));
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::new(1000), Bytes::new(2000)));
        assert_eq!(history.oldest(), PacketId(0), "a lost packet is remembered");
    }

    #[test]
    fn the_feedback_timeout_doubles_until_a_round_trip_is_known() {
        let mut history = History::default();
        for (id, ms, wait) in [(0, 0, 2000), (1, 3000, 4000), (2, 8000, 8000)] {
            sent(&mut history, id, ms);
            assert_eq!(history.next_timeout(), Time::from_millis(ms + wait));
            assert!(history.on_timeout(Time::from_millis(ms + wait)).is_some());
        }
        // Packet 2 was declared lost too, so its arrival is no sample; that of packet 4 is.
        sent(&mut history, 3, 17_000);
        history.on_report(Time::from_millis(17_100), &[arrived(2, Time::from_millis(17_000))], None);
        sent(&mut history, 4, 17_200);
        history.on_report(Time::from_millis(17_300), &[arrived(4, Time::from_millis(17_200))], None);
        assert_eq!(history.next_timeout(), Time::from_millis(19_300));
    }

    #[test]
    fn silence_declares_everything_lost_and_rearms_with_the_next_packet() {
        let mut history = History::new(Config::default());
        assert_eq!(history.next_timeout(), Time::NEVER);
        sent(&mut history, 0, 100);
        assert_eq!(history.next_timeout(), Time::from_millis(2100));
        assert!(history.on_timeout(Time::from_millis(2099)).is_none());
        let feedback = history.on_timeout(Time::from_millis(2100)).unwrap();
        assert_eq!((feedback.cause, feedback.reports.len()), (Cause::FeedbackTimeout, 1));
        assert_eq!(history.next_timeout(), Time::NEVER);
        sent(&mut history, 1, 3000);
        assert_eq!(history.next_timeout(), Time::from_millis(7000));
    }
}
