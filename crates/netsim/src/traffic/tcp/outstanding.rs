//! The data sent and not yet acknowledged in order, and which of it is lost.

use alloc::collections::{BTreeSet, VecDeque};

use thalweg_units::{Span, Time};

use super::segment::Acknowledgement;

/// A segment is lost when this many segments sent later were delivered (RFC 6675: DupThresh).
const LATER_DELIVERIES: u32 = 3;
/// It is also lost when one was delivered that was sent more than 1 / this of the min round trip later
/// (RFC 8985 section 6.2 step 4).
const REORDERING: i64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    UnderWay,
    Lost,
    /// It arrived, but data before it did not.
    Come,
}

/// The bytes of a segment; a retransmission has the same bytes.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: u64,
    to: u64,
    state: State,
    sent: Time,
    /// The number of its last transmission.
    transmission: u64,
    repeated: bool,
}

/// A transmission of a segment, in sending order.
#[derive(Debug, Clone, Copy)]
struct Transmission {
    from: u64,
    sent: Time,
    delivered: bool,
}

/// The effect of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Segments that it acknowledged first.
    pub(super) delivered: u32,
    /// True if the first missing byte advanced.
    pub(super) advanced: bool,
    /// True if it revealed lost segments.
    pub(super) lost: bool,
}

/// The segments of a window.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    /// In order of their bytes, without gaps.
    pieces: VecDeque<Piece>,
    /// In sending order, from the first that is neither delivered nor lost.
    transmissions: VecDeque<Transmission>,
    /// The number of the first of these.
    first_transmission: u64,
    /// How many of these are delivered.
    delivered: u32,
    /// When the most recently sent delivered one was sent.
    latest_delivered: Time,
    under_way: u32,
    /// First bytes of pieces to retransmit.
    lost: BTreeSet<u64>,
}

impl Outstanding {
    /// Segments assumed to be in flight: the pipe of RFC 6675.
    pub(super) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Returns true if everything sent is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns true if there is something to retransmit.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Bytes `from..to` leave for the first time.
    pub(super) fn send(&mut self, now: Time, from: u64, to: u64) {
        debug_assert!(self.pieces.back().is_none_or(|last| last.to == from), "a gap between segments");
        let transmission = self.transmit(now, from);
        self.pieces.push_back(Piece { from, to, state: State::UnderWay, sent: now, transmission, repeated: false });
        self.under_way += 1;
    }

    /// Retransmits the first lost piece.
    pub(super) fn repeat_lost(&mut self, now: Time) -> Option<(u64, u64)> {
        let from = self.lost.pop_first()?;
        self.under_way += 1;
        self.repeat(now, self.index(from))
    }

    /// Retransmits the last piece that has not arrived, as a probe.
    pub(super) fn repeat_last(&mut self, now: Time) -> Option<(u64, u64)> {
        let index = self.pieces.iter().rposition(|piece| piece.state != State::Come)?;
        let Piece { from, state, .. } = self.pieces[index];
        if state == State::Lost {
            self.lost.remove(&from);
            self.under_way += 1;
        }
        self.repeat(now, index)
    }

    fn repeat(&mut self, now: Time, index: usize) -> Option<(u64, u64)> {
        let from = self.pieces.get(index)?.from;
        let transmission = self.transmit(now, from);
        let piece = self.pieces.get_mut(index)?;
        *piece = Piece { state: State::UnderWay, sent: now, transmission, repeated: true, ..*piece };
        Some((piece.from, piece.to))
    }

    fn transmit(&mut self, now: Time, from: u64) -> u64 {
        self.transmissions.push_back(Transmission { from, sent: now, delivered: false });
        self.first_transmission + self.transmissions.len() as u64 - 1
    }

    /// The receiver reported what arrived; the min round trip so far is `min`.
    pub(super) fn on_acknowledgement(&mut self, now: Time, said: &Acknowledgement, min: Span) -> Acknowledged {
        let mut acknowledged = Acknowledged { delivered: 0, advanced: false, lost: false };
        while self.pieces.front().is_some_and(|first| first.to <= said.up_to) {
            acknowledged.delivered += u32::from(self.deliver(now, 0, min));
            self.pieces.pop_front();
            acknowledged.advanced = true;
        }
        for (from, to) in &said.blocks {
            let mut index = self.index(*from);
            while self.pieces.get(index).is_some_and(|piece| piece.to <= *to) {
                acknowledged.delivered += u32::from(self.deliver(now, index, min));
                index += 1;
            }
        }
        acknowledged.lost = self.find_losses(min);
        acknowledged
    }

    /// The piece arrived; returns whether that is new.
    fn deliver(&mut self, now: Time, index: usize, min: Span) -> bool {
        let Some(piece) = self.pieces.get_mut(index) else { return false };
        match piece.state {
            State::Come => return false,
            State::UnderWay => self.under_way -= 1,
            State::Lost => {
                self.lost.remove(&piece.from);
            }
        }
        piece.state = State::Come;
        // If it arrived sooner after its retransmission than any round trip, it was the first transmission that
        // arrived, and this proves nothing about what was sent since (RFC 8985 section 6.2 step 2).
        let first_came = piece.repeated && now - piece.sent < min;
        let place = piece.transmission.checked_sub(self.first_transmission);
        if let (false, Some(place)) = (first_came, place)
            && let Some(transmission) = self.transmissions.get_mut(place as usize)
        {
            transmission.delivered = true;
            self.delivered += 1;
            self.latest_delivered = self.latest_delivered.max(transmission.sent);
        }
        true
    }

    /// Removes the oldest transmissions as long as their outcome is known; returns whether one was lost.
    fn find_losses(&mut self, min: Span) -> bool {
        let mut any = false;
        while let Some(Transmission { from, sent, delivered }) = self.transmissions.front().copied() {
            let number = self.first_transmission;
            if delivered {
                self.delivered -= 1;
            } else if let Some(piece) = self.under_way_as(from, number) {
                // Transmissions are in order of time.
                let late = min < Span::MAX && self.latest_delivered - sent > min / REORDERING;
                if self.delivered < LATER_DELIVERIES && !late {
                    break;
                }
                self.pieces[piece].state = State::Lost;
                self.lost.insert(from);
                self.under_way -= 1;
                any = true;
            }
            self.transmissions.pop_front();
            self.first_transmission += 1;
        }
        any
    }

    /// The index of the piece that begins at `from`, if its transmission `number` is the one in flight.
    fn under_way_as(&self, from: u64, number: u64) -> Option<usize> {
        let index = self.index(from);
        let piece = self.pieces.get(index)?;
        let same = piece.from == from && piece.transmission == number && piece.state == State::UnderWay;
        same.then_some(index)
    }

    /// The index of the first piece from byte `from` on.
    fn index(&self, from: u64) -> usize {
        self.pieces.partition_point(|piece| piece.from < from)
    }

    /// The retransmission timer expired: everything that has not arrived will be retransmitted.
    pub(super) fn lose_all(&mut self) {
        for piece in self.pieces.iter_mut().filter(|piece| piece.state == State::UnderWay) {
            piece.state = State::Lost;
            self.lost.insert(piece.from);
        }
        self.under_way = 0;
        self.first_transmission += self.transmissions.len() as u64;
        self.transmissions.clear();
        self.delivered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    const MIN: Span = Span::from_millis(100);

    /// `count` segments of a byte each, all sent at the start.
    fn burst(count: u64) -> Outstanding {
        let mut outstanding = Outstanding::default();
        (0..count).for_each(|byte| outstanding.send(Time::ZERO, byte, byte + 1));
        outstanding
    }

    fn say(outstanding: &mut Outstanding, millis: u64, up_to: u64, blocks: Vec<(u64, u64)>) -> Acknowledged {
        let said = Acknowledgement { connection: 0, up_to, blocks, echo: Time::ZERO, marked: 0 };
        outstanding.on_acknowledgement(Time::from_millis(millis), &said, MIN)
    }

    #[test]
    fn three_deliveries_of_what_was_sent_later_make_a_loss() {
        let mut sent = burst(6);
        assert!(!say(&mut sent, 100, 0, vec![(1, 2)]).lost);
        assert!(!say(&mut sent, 100, 0, vec![(1, 3)]).lost);
        let acknowledged = say(&mut sent, 100, 0, vec![(1, 4)]);
        assert_eq!(acknowledged, Acknowledged { delivered: 1, advanced: false, lost: true });
        assert_eq!(sent.under_way(), 2);
        assert_eq!((sent.repeat_lost(Time::from_millis(100)), sent.under_way()), (Some((0, 1)), 3));
        assert_eq!(sent.repeat_lost(Time::from_millis(100)), None);
        let acknowledged = say(&mut sent, 200, 6, vec![]);
        assert_eq!(acknowledged, Acknowledged { delivered: 3, advanced: true, lost: false });
        assert!(sent.is_empty() && sent.under_way() == 0);
    }

    #[test]
    fn a_segment_sent_again_is_lost_again_by_what_was_sent_after_it() {
        let mut sent = burst(4);
        say(&mut sent, 100, 0, vec![(1, 4)]);
        sent.repeat_lost(Time::from_millis(100));
        (4..8).for_each(|byte| sent.send(Time::from_millis(100), byte, byte + 1));
        assert!(!say(&mut sent, 200, 0, vec![(1, 6)]).lost);
        assert!(say(&mut sent, 200, 0, vec![(1, 7)]).lost);
        assert_eq!(sent.repeat_lost(Time::from_millis(200)), Some((0, 1)));
    }

    #[test]
    fn the_first_transmission_coming_late_says_nothing_about_the_second() {
        let mut sent = burst(4);
        say(&mut sent, 100, 0, vec![(1, 4)]);
        sent.repeat_lost(Time::from_millis(100));
        (4..8).for_each(|byte| sent.send(Time::from_millis(100), byte, byte + 1));
        // 20 ms after the second one left.
        let acknowledged = say(&mut sent, 120, 4, vec![]);
        assert!(acknowledged.delivered == 1 && !acknowledged.lost);
        assert_eq!((sent.under_way(), sent.has_lost()), (4, false));
    }

    #[test]
    fn one_delivery_of_what_was_sent_much_later_is_enough() {
        let mut sent = burst(2);
        assert_eq!(sent.repeat_last(Time::from_millis(30)), Some((1, 2)));
        assert!(say(&mut sent, 130, 0, vec![(1, 2)]).lost);
        let mut sent = burst(2);
        sent.repeat_last(Time::from_millis(25));
        assert!(!say(&mut sent, 125, 0, vec![(1, 2)]).lost);
    }

    #[test]
    fn a_probe_repeats_what_has_not_come() {
        let mut sent = burst(3);
        say(&mut sent, 100, 0, vec![(2, 3)]);
        assert_eq!(sent.repeat_last(Time::from_millis(300)), Some((1, 2)));
        assert_eq!(sent.under_way(), 2);
        assert_eq!(say(&mut sent, 400, 3, vec![]).delivered, 2);
    }

    #[test]
    fn after_a_timeout_all_that_has_not_come_is_sent_again_from_the_first_on() {
        let mut sent = burst(4);
        say(&mut sent, 100, 0, vec![(2, 3)]);
        sent.lose_all();
        assert_eq!(sent.under_way(), 0);
        let again: Vec<_> = core::iter::from_fn(|| sent.repeat_lost(Time::from_millis(400))).collect();
        assert_eq!(again, [(0, 1), (1, 2), (3, 4)]);
        // The first transmission of the first segment was only late.
        assert!(say(&mut sent, 410, 1, vec![(2, 3)]).advanced);
        assert_eq!(sent.under_way(), 2);
    }
}
