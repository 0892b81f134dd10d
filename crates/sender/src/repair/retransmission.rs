//! NACK and RTX: recent media packets are remembered and retransmitted on request (RFC 4585, RFC 4588).

use alloc::collections::VecDeque;

use thalweg_types::Fragment;
use thalweg_units::{Bytes, Span, Time};

use crate::event::Why;

/// Max number of remembered packets (libwebrtc `RtpPacketHistory::kMaxCapacity`).
pub(super) const MAX: usize = 9_600;
/// Packets are remembered this many times as long while there are few of them (`kPacketCullingDelayFactor`).
const LONGER: i64 = 3;

/// From which event the round trip counts within which a packet is not retransmitted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum RoundTripFrom {
    /// From the departure of the retransmission, with the path's round trip (libwebrtc `RtpPacketHistory::VerifyRtt`):
    /// an earlier request was sent before the receiver could have it.
    #[default]
    Departure,
    /// From the request, with the smoothed round trip, which includes the delay of batched reports: if retransmissions
    /// wait, some packets are retransmitted twice, which helps where half of the retransmissions are lost.
    Request,
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    at: Time,
    fragment: Fragment,
    /// When it was retransmitted, or when that was requested.
    retransmitted: Option<Time>,
    /// Requested and not yet retransmitted.
    waits: bool,
}

impl Remembered {
    fn payload(&self) -> Bytes {
        Bytes::new(u64::from(self.fragment.length))
    }
}

/// Recent media packets, and those of them waiting to be retransmitted.
#[derive(Debug, Clone)]
pub struct Retransmissions {
    history: Span,
    packets: usize,
    from: RoundTripFrom,
    first: u64,
    sent: VecDeque<Remembered>,
    /// The sequence numbers waiting to be retransmitted.
    waiting: VecDeque<u64>,
    /// Their payload bytes.
    payload: Bytes,
}

impl Retransmissions {
    /// An empty history. Packets are remembered for `history` or three round trips, and for three times that while
    /// there are fewer than `packets`.
    pub fn new(history: Span, packets: usize, from: RoundTripFrom) -> Retransmissions {
        Retransmissions {
            history,
            packets,
            from,
            first: 0,
            sent: VecDeque::new(),
            waiting: VecDeque::new(),
            payload: Bytes::ZERO,
        }
    }

    /// Media packet `sequence` left; sequences come without gaps.
    pub fn on_sent(&mut self, now: Time, sequence: u64, fragment: Fragment, srtt: Span) {
        if self.sent.is_empty() {
            // Under another scheme, packets may have been sent before this one.
            self.first = sequence;
        }
        debug_assert_eq!(sequence, self.first + self.sent.len() as u64);
        let keep = self.history.max(srtt * 3);
        while let Some(oldest) = self.sent.front() {
            let max = if oldest.at + keep < now { self.packets } else { MAX };
            if self.sent.len() < max && oldest.at + keep * LONGER >= now {
                break;
            }
            let forgotten = self.sent.pop_front();
            if let Some(packet) = forgotten.filter(|packet| packet.waits) {
                self.payload -= packet.payload();
                let first = self.first;
                self.waiting.retain(|sequence| *sequence != first);
            }
            self.first += 1;
        }
        self.sent.push_back(Remembered { at: now, fragment, retransmitted: None, waits: false });
    }

    /// The number of the oldest packet that may still be retransmitted.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The receiver reported `sequence` missing. `has_room` returns whether it may wait behind this many payload bytes
    /// of others.
    ///
    /// # Errors
    /// The reason why it will not be retransmitted.
    pub fn request(
        &mut self,
        now: Time,
        sequence: u64,
        srtt: Span,
        has_room: impl FnOnce(Bytes) -> bool,
    ) -> Result<(), Why> {
        let packet = sequence
            .checked_sub(self.first)
            .and_then(|index| self.sent.get_mut(usize::try_from(index).ok()?))
            .ok_or(Why::Forgotten)?;
        if packet.waits || packet.retransmitted.is_some_and(|at| now - at < srtt) {
            return Err(Why::JustRetransmitted);
        }
        if !has_room(self.payload) {
            return Err(Why::RetransmissionsExceedShare);
        }
        packet.waits = true;
        if self.from == RoundTripFrom::Request {
            packet.retransmitted = Some(now);
        }
        self.waiting.push_back(sequence);
        self.payload += packet.payload();
        Ok(())
    }

    /// The next packet to retransmit.
    pub fn head(&self) -> Option<(u64, Fragment)> {
        let sequence = *self.waiting.front()?;
        Some((sequence, self.remembered(sequence)?.fragment))
    }

    /// Removes it: it leaves now.
    pub fn pop(&mut self, now: Time) -> Option<(u64, Fragment)> {
        let head = self.head()?;
        let from = self.from;
        if let Some(packet) = self.take_first().filter(|_| from == RoundTripFrom::Departure) {
            packet.retransmitted = Some(now);
        }
        Some(head)
    }

    /// `sequence` is retransmitted as padding: a request sent before that arrives cannot take account of it.
    pub fn on_retransmitted_elsewhere(&mut self, now: Time, sequence: u64) {
        let place = sequence.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        if let Some(packet) = place.and_then(|place| self.sent.get_mut(place)) {
            packet.retransmitted = Some(now);
        }
    }

    /// Forgets all waiting retransmissions, because their frames were abandoned.
    pub fn flush(&mut self) {
        while !self.waiting.is_empty() {
            self.take_first();
        }
    }

    fn take_first(&mut self) -> Option<&mut Remembered> {
        let index = (self.waiting.pop_front()? - self.first) as usize;
        let packet = self.sent.get_mut(index)?;
        packet.waits = false;
        self.payload -= packet.payload();
        Some(packet)
    }

    fn remembered(&self, sequence: u64) -> Option<&Remembered> {
        self.sent.get(usize::try_from(sequence.checked_sub(self.first)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Span = Span::from_millis(50);

    fn fragment(frame: u64) -> Fragment {
        Fragment { length: 100, ..crate::testing::fragment(frame, (0, 1)) }
    }

    #[test]
    fn a_packet_is_retransmitted_once_a_round_trip() {
        let mut history = Retransmissions::new(Span::from_secs(1), 600, RoundTripFrom::Departure);
        history.on_sent(Time::ZERO, 0, fragment(0), SRTT);
        assert_eq!(history.request(Time::from_millis(60), 0, SRTT, |_| true), Ok(()));
        assert_eq!(history.request(Time::from_millis(70), 0, SRTT, |_| true), Err(Why::JustRetransmitted));
        assert_eq!(history.pop(Time::from_millis(300)), Some((0, fragment(0))));
        assert_eq!(history.pop(Time::from_millis(300)), None);
        // It left at 300 ms, whenever it was requested.
        assert_eq!(history.request(Time::from_millis(349), 0, SRTT, |_| true), Err(Why::JustRetransmitted));
        assert_eq!(history.request(Time::from_millis(350), 0, SRTT, |_| true), Ok(()));
    }

    #[test]
    fn counted_from_the_request_a_retransmission_that_waited_may_be_followed_by_another_at_once() {
        let mut history = Retransmissions::new(Span::from_secs(1), 600, RoundTripFrom::Request);
        history.on_sent(Time::ZERO, 0, fragment(0), SRTT);
        assert_eq!(history.request(Time::from_millis(60), 0, SRTT, |_| true), Ok(()));
        assert_eq!(history.pop(Time::from_millis(100)), Some((0, fragment(0))));
        assert_eq!(history.request(Time::from_millis(109), 0, SRTT, |_| true), Err(Why::JustRetransmitted));
        assert_eq!(history.request(Time::from_millis(110), 0, SRTT, |_| true), Ok(()));
    }

    #[test]
    fn what_is_too_old_or_was_never_sent_is_refused() {
        let mut history = Retransmissions::new(Span::from_secs(1), 600, RoundTripFrom::Departure);
        history.on_sent(Time::ZERO, 0, fragment(0), SRTT);
        history.on_sent(Time::from_millis(3500), 1, fragment(1), SRTT);
        assert_eq!(history.request(Time::from_millis(3500), 0, SRTT, |_| true), Err(Why::Forgotten));
        assert_eq!(history.request(Time::from_millis(3500), 7, SRTT, |_| true), Err(Why::Forgotten));
        assert_eq!(history.request(Time::from_millis(3500), 1, SRTT, |_| true), Ok(()));
    }

    #[test]
    fn what_waits_is_not_asked_for_twice_and_is_forgotten_with_the_history() {
        let mut history = Retransmissions::new(Span::from_secs(1), 600, RoundTripFrom::Departure);
        (0..3).for_each(|sequence| history.on_sent(Time::ZERO, sequence, fragment(sequence), SRTT));
        let late = Time::from_millis(500);
        assert_eq!(history.request(Time::ZERO, 0, SRTT, |_| true), Ok(()));
        assert_eq!(history.request(late, 0, SRTT, |_| true), Err(Why::JustRetransmitted));
        assert_eq!(
            history.request(late, 1, SRTT, |waiting| waiting < Bytes::new(100)),
            Err(Why::RetransmissionsExceedShare)
        );
        assert_eq!(history.request(late, 1, SRTT, |waiting| waiting == Bytes::new(100)), Ok(()));
        assert_eq!(history.request(late, 2, SRTT, |waiting| waiting == Bytes::new(200)), Ok(()));
        assert_eq!(history.pop(Time::from_millis(100)), Some((0, fragment(0))));
        assert_eq!(history.request(late, 0, SRTT, |waiting| waiting == Bytes::new(200)), Ok(()));
        history.on_sent(Time::from_millis(3500), 3, fragment(3), SRTT);
        assert_eq!((history.head(), history.payload), (None, Bytes::ZERO));
        assert_eq!(history.request(Time::from_millis(3500), 3, SRTT, |waiting| waiting == Bytes::ZERO), Ok(()));
        history.flush();
        assert_eq!((history.pop(late), history.payload), (None, Bytes::ZERO));
    }

    #[test]
    fn few_packets_are_remembered_three_times_as_long_as_many() {
        let asked = |between: u64, packets: u64| {
            let mut history = Retransmissions::new(Span::from_secs(1), 600, RoundTripFrom::Departure);
            (0..packets).for_each(|sequence| {
                history.on_sent(Time::from_millis(between * sequence), sequence, fragment(sequence), SRTT);
            });
            assert!(history.sent.len() <= MAX);
            history.first
        };
        // At 100 per second: those of the last 3 s.
        assert_eq!(asked(10, 1000), 1000 - 301);
        // At 1000 per second: those of the last second.
        assert_eq!(asked(1, 5000), 5000 - 1001);
        // All at once: the max number.
        assert_eq!(asked(0, 20_000), 20_000 - 9_600);
    }
}
