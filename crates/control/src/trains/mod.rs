//! Frames as trains of packets: when each left, when it arrived, and which of its packets were lost.
//!
//! Shared by the controllers that are coupled to frames ([`crate::sqp`], [`crate::pudica`]). Where the sender does not
//! say which packets make a frame, those that leave within one frame interval count as one.

mod interval;
mod train;

use alloc::collections::VecDeque;

use thalweg_units::{Rate, Span, Time};

use crate::feedback::{Feedback, Report};
use crate::packet::{Payload, SentPacket};
use interval::Interval;
pub(crate) use train::Train;

/// Max trains that wait for reports: half a minute of frames, and a bound for a receiver that never reports.
const REMEMBERED: usize = 1 << 11;

/// Trains whose packets do not all have a known outcome, in order of sending.
#[derive(Debug, Clone)]
pub(crate) struct Trains {
    interval: Interval,
    waiting: VecDeque<Train>,
    /// After this long without media, retransmissions form trains.
    stand_in_after: Option<Span>,
    last_media: Option<Time>,
}

impl Trains {
    /// No trains yet; `interval` is the frame interval, `None` to measure it.
    pub(crate) fn new(interval: Option<Span>) -> Trains {
        let interval = Interval::new(interval);
        Trains { interval, waiting: VecDeque::new(), stand_in_after: None, last_media: None }
    }

    /// The same, but after this long without media, the retransmissions of one interval form a train. Otherwise, while
    /// retransmissions use up the whole rate, no measurement could ever show that there is more capacity. `None` for
    /// never.
    pub(crate) fn standing_in_after(self, stand_in_after: Option<Span>) -> Trains {
        Trains { stand_in_after, ..self }
    }

    fn stands_in(&self, packet: &SentPacket) -> bool {
        self.stand_in_after.zip(self.last_media).is_some_and(|(after, last)| packet.at - last > after)
    }

    /// The frame interval.
    pub(crate) fn interval(&self) -> Span {
        self.interval.get()
    }

    /// Records a sent packet of a frame that was encoded for the rate `aimed`; returns whether it begins a train.
    pub(crate) fn on_sent(&mut self, packet: &SentPacket, aimed: Rate) -> bool {
        // The frame to which a retransmission belongs does not matter here.
        let mut packet = *packet;
        match packet.payload {
            Payload::Media => self.last_media = Some(packet.at),
            Payload::Repair if self.stands_in(&packet) => packet.place = None,
            Payload::Padding => {
                // Padding that leaves after the next frame was due does not belong to this train.
                let until = self.interval();
                if let Some(train) = self.waiting.back_mut().filter(|train| packet.at - train.began < until) {
                    train.followed_by(packet.id);
                }
                return false;
            }
            Payload::Repair | Payload::Audio => return false,
        }
        let packet = &packet;
        let interval = self.interval();
        if let Some(train) = self.waiting.back_mut()
            && train.takes(packet, interval)
        {
            train.add(packet);
            return false;
        }
        // A packet of an older frame does not show that the newest train has ended.
        if self.waiting.back().is_some_and(|train| train.is_newer_than(packet)) {
            return false;
        }
        if let Some(place) = packet.place {
            self.interval.on_frame(place.frame, packet.at);
        }
        if let Some(train) = self.waiting.back_mut() {
            train.end(packet.at);
        }
        if self.waiting.len() == REMEMBERED {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Train::begin(packet, aimed));
        true
    }

    /// Assigns reported outcomes to the trains.
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports {
            self.on_report(report);
        }
    }

    fn on_report(&mut self, report: &Report) {
        let after = self.waiting.partition_point(|train| train.first <= report.packet.id);
        if let Some(train) = after.checked_sub(1).and_then(|index| self.waiting.get_mut(index)) {
            train.on_report(report);
        }
    }

    /// Removes and returns the next train whose packets all have a known outcome, in order of sending.
    pub(crate) fn take_decided(&mut self) -> Option<Train> {
        let decided = self.waiting.front().is_some_and(Train::is_decided);
        decided.then(|| self.waiting.pop_front()).flatten()
    }

    /// When the oldest train with unknown outcomes began.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.waiting.front().map(|train| train.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::Sender;
    use alloc::vec::Vec;
    use thalweg_units::Bytes;

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn a_train_is_decided_when_all_of_it_and_what_followed_it_is_known() {
        let (mut sender, mut trains) = (Sender::default(), Trains::new(None));
        for (frame, at) in [(Some((0, false)), 0), (Some((0, true)), 1), (None, 5), (Some((1, true)), 20)] {
            trains.on_sent(&sender.packet(frame, ms(at), 1000), Rate::from_kbps(500));
        }
        trains.on_feedback(&sender.report(ms(40), &[(0, ms(20)), (1, ms(21))]));
        assert!(trains.take_decided().is_none(), "what followed is not known");
        trains.on_feedback(&sender.report(ms(41), &[(2, ms(25))]));
        let train = trains.take_decided().unwrap();
        assert_eq!((train.size, train.packets, train.arrived), (Bytes::new(2000), 2, 2));
        assert_eq!((train.first_arrival, train.last_arrival), (Some(ms(20)), Some(ms(21))));
        assert_eq!((train.began, train.until_next), (ms(0), Some(Span::from_millis(20))));
        assert_eq!(train.followers().collect::<Vec<_>>(), [(ms(5), ms(25))]);
        assert!(trains.take_decided().is_none());
        assert_eq!(trains.oldest(), Some(ms(20)));
    }

    #[test]
    fn retransmissions_make_trains_where_no_media_has_left_for_a_while() {
        let mut trains = Trains::new(None).standing_in_after(Some(Span::from_millis(200)));
        let (mut sender, rate) = (Sender::default(), Rate::from_kbps(50));
        trains.on_sent(&sender.packet(Some((0, true)), ms(0), 1000), rate);
        // Too soon to stand in; two of one interval; one of another; then media again, after which no retransmission
        // stands in.
        for at in [100, 210, 230, 300] {
            trains.on_sent(&sender.send(ms(at), 1000, |packet| packet.payload = Payload::Repair), rate);
        }
        trains.on_sent(&sender.packet(Some((1, true)), ms(310), 1000), rate);
        trains.on_sent(&sender.send(ms(320), 1000, |packet| packet.payload = Payload::Repair), rate);
        let arrivals = [0, 100, 210, 230, 300, 310, 320].map(|at| ms(at + 25));
        trains.on_feedback(&sender.report(ms(400), &(0..).zip(arrivals).collect::<Vec<_>>()));
        let decided = core::iter::from_fn(|| trains.take_decided());
        let decided: Vec<_> = decided.map(|train| (train.began, train.arrived, train.last_arrival)).collect();
        let expected = [(0, 1, 25), (210, 2, 255), (300, 1, 325), (310, 1, 335)];
        assert_eq!(decided, expected.map(|(began, arrived, last)| (ms(began), arrived, Some(ms(last)))));
    }

    #[test]
    fn a_packet_lost_and_then_late_counts_as_arrived_while_its_train_waits() {
        let (mut sender, mut trains) = (Sender::default(), Trains::new(None));
        for last in [false, false, false, false, true] {
            trains.on_sent(&sender.packet(Some((0, last)), ms(0), 1000), Rate::from_kbps(500));
        }
        trains.on_feedback(&sender.report(ms(40), &[(1, ms(20)), (2, ms(21)), (3, ms(22))]));
        trains.on_feedback(&sender.report(ms(41), &[(0, ms(24))]));
        assert!(trains.take_decided().is_none(), "the last is still under way");
        trains.on_feedback(&sender.report(ms(42), &[(4, ms(23))]));
        let train = trains.take_decided().unwrap();
        assert_eq!((train.arrived, train.last_arrival), (5, Some(ms(24))));
    }

    #[test]
    fn retransmissions_are_no_part_of_a_train() {
        let (mut sender, mut trains) = (Sender::default(), Trains::new(None));
        let first = sender.packet(Some((0, true)), ms(0), 1000);
        let again = SentPacket { payload: Payload::Repair, ..sender.packet(Some((0, true)), ms(5), 1000) };
        assert!(trains.on_sent(&first, Rate::MAX) && !trains.on_sent(&again, Rate::MAX));
        trains.on_feedback(&sender.report(ms(40), &[(0, ms(20))]));
        let train = trains.take_decided().unwrap();
        assert_eq!((train.packets, train.size), (1, Bytes::new(1000)));
    }

    #[test]
    fn packets_of_no_frame_that_leave_within_an_interval_are_one_train() {
        let mut trains = Trains::new(Some(Span::from_millis(20)));
        let begins = |at: u64| trains.on_sent(&SentPacket::new(PacketId(at), ms(at), Bytes::new(1000)), Rate::MAX);
        assert_eq!([0, 10, 19, 20, 39, 40].map(begins), [true, false, false, true, false, true]);
    }

    #[test]
    fn the_interval_between_frames_is_measured() {
        let (mut sender, mut trains) = (Sender::default(), Trains::new(None));
        for frame in 0..100 {
            trains.on_sent(&sender.packet(Some((frame, true)), ms(frame * 40), 1000), Rate::MAX);
        }
        assert!((trains.interval() - Span::from_millis(40)).abs() < Span::from_micros(10), "{}", trains.interval());
    }
}
