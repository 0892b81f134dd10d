//! The receiver.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Ecn, Span, Time};

use super::config::Acknowledging;
use super::segment::{Acknowledgement, BLOCKS, Segment};

/// Max delay of a delayed acknowledgement (Linux's TCP_DELACK_MIN).
pub(super) const DELAY: Span = Span::from_millis(40);
/// Segments in order that a delayed acknowledgement waits for (RFC 5681 section 4.2).
const SEGMENTS: u32 = 2;

/// The receiver of a flow's connections, one after another.
#[derive(Debug, Clone)]
pub struct Receiver {
    acknowledging: Acknowledging,
    connection: u32,
    /// The first byte that has not arrived.
    next: u64,
    /// The data that arrived beyond it: bytes `from..to`, the most recently changed block first.
    blocks: Vec<(u64, u64)>,
    /// Unacknowledged segments that arrived in order, and when the first of them was sent.
    pending: Option<(u32, Time)>,
    /// When they are acknowledged at the latest.
    deadline: Time,
    /// When the last segment was sent that arrived in order and was acknowledged.
    echo: Time,
    /// Segments that came marked.
    marked: u64,
    /// Bytes of earlier connections.
    before: u64,
    duplicates: u64,
}

impl Receiver {
    /// A receiver before its first connection.
    pub fn new(acknowledging: Acknowledging) -> Receiver {
        Receiver {
            acknowledging,
            connection: 0,
            next: 0,
            blocks: Vec::new(),
            pending: None,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            marked: 0,
            before: 0,
            duplicates: 0,
        }
    }

    /// The bytes delivered to the application, in order and once, over all connections.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.before + self.next)
    }

    /// The number of duplicate segments.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// A segment arrived. Returns the acknowledgement if it is sent at once.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Acknowledgement> {
        if segment.connection < self.connection {
            return None;
        }
        if segment.connection > self.connection {
            let before = self.before + self.next;
            let fresh = Receiver::new(self.acknowledging);
            *self = Receiver { connection: segment.connection, before, duplicates: self.duplicates, ..fresh };
        }
        self.marked += u64::from(segment.ecn == Ecn::Ce);
        if segment.opens() {
            self.echo = segment.sent;
            return Some(self.acknowledge());
        }
        if segment.from > self.next {
            self.hold(segment.from, segment.to);
            return Some(self.acknowledge());
        }
        if segment.to <= self.next {
            self.duplicates += 1;
            return Some(self.acknowledge());
        }
        let hole = !self.blocks.is_empty();
        self.next = segment.to;
        while let Some(index) = self.blocks.iter().position(|(from, _)| *from <= self.next) {
            self.next = self.next.max(self.blocks.remove(index).1);
        }
        let (count, first_sent) = self.pending.unwrap_or((0, segment.sent));
        self.pending = Some((count + 1, first_sent));
        // RFC 5681 section 4.2: at once while anything is missing, and when a gap is filled.
        if self.acknowledging == Acknowledging::Each || hole || count + 1 >= SEGMENTS {
            return Some(self.acknowledge());
        }
        self.deadline = now + DELAY;
        None
    }

    /// Stores bytes that arrived out of order.
    fn hold(&mut self, mut from: u64, mut to: u64) {
        if self.blocks.iter().any(|block| block.0 <= from && to <= block.1) {
            self.duplicates += 1;
        }
        self.blocks.retain(|block| {
            let touches = block.0 <= to && from <= block.1;
            if touches {
                (from, to) = (from.min(block.0), to.max(block.1));
            }
            !touches
        });
        self.blocks.insert(0, (from, to));
    }

    /// The delayed acknowledgement that is due at `now`, if any.
    pub fn poll(&mut self, now: Time) -> Option<Acknowledgement> {
        (self.deadline <= now).then(|| self.acknowledge())
    }

    /// When [`Receiver::poll`] returns an acknowledgement; [`Time::NEVER`] if none is pending.
    pub fn next_event(&self) -> Time {
        self.deadline
    }

    fn acknowledge(&mut self) -> Acknowledgement {
        if let Some((_, first_sent)) = self.pending.take() {
            self.echo = first_sent;
        }
        self.deadline = Time::NEVER;
        let blocks = self.blocks.iter().take(BLOCKS).copied().collect();
        Acknowledgement { connection: self.connection, up_to: self.next, blocks, echo: self.echo, marked: self.marked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(number: u64) -> Segment {
        let (from, to) = (number * 100, number * 100 + 100);
        Segment { connection: 0, sent: Time::from_millis(number), from, to, ecn: Ecn::NotCapable }
    }

    fn receive(receiver: &mut Receiver, number: u64) -> Option<(u64, Vec<(u64, u64)>)> {
        let answer = receiver.on_segment(Time::from_millis(1000), &segment(number))?;
        Some((answer.up_to, answer.blocks))
    }

    #[test]
    fn blocks_are_merged_and_the_newest_is_said_first() {
        let mut receiver = Receiver::new(Acknowledging::Each);
        assert_eq!(receive(&mut receiver, 0).unwrap(), (100, Vec::new()));
        assert_eq!(receive(&mut receiver, 2).unwrap(), (100, [(200, 300)].to_vec()));
        assert_eq!(receive(&mut receiver, 5).unwrap().1, [(500, 600), (200, 300)]);
        assert_eq!(receive(&mut receiver, 3).unwrap().1, [(200, 400), (500, 600)]);
        assert_eq!(receive(&mut receiver, 7).unwrap().1[0], (700, 800));
        assert_eq!(receive(&mut receiver, 9).unwrap().1.len(), 3);
        assert_eq!(receive(&mut receiver, 1).unwrap(), (400, [(900, 1000), (700, 800), (500, 600)].to_vec()));
        assert_eq!(receive(&mut receiver, 3).unwrap().0, 400);
        assert_eq!((receiver.delivered(), receiver.duplicates()), (Bytes::new(400), 1));
    }

    #[test]
    fn a_delayed_acknowledgement_comes_with_the_second_segment_or_after_40_ms_but_at_once_around_a_hole() {
        let mut receiver = Receiver::new(Acknowledging::Delayed);
        assert!(receive(&mut receiver, 0).is_none());
        let answer = receiver.on_segment(Time::from_millis(1001), &segment(1)).unwrap();
        assert_eq!((answer.up_to, answer.echo), (200, Time::ZERO));
        assert!(receive(&mut receiver, 2).is_none());
        assert_eq!(receiver.next_event(), Time::from_millis(1040));
        assert!(receiver.poll(Time::from_millis(1039)).is_none());
        assert_eq!(receiver.poll(Time::from_millis(1040)).unwrap().up_to, 300);
        assert!(receiver.poll(Time::from_millis(2000)).is_none() && receiver.next_event() == Time::NEVER);
        assert!(receive(&mut receiver, 4).is_some() && receive(&mut receiver, 3).is_some());
        assert!(receive(&mut receiver, 5).is_none());
    }

    #[test]
    fn marked_segments_are_counted_in_each_acknowledgement() {
        let mut receiver = Receiver::new(Acknowledging::Each);
        let marked = |number| Segment { ecn: Ecn::Ce, ..segment(number) };
        let counts = [segment(0), marked(1), marked(3), segment(2)]
            .map(|segment| receiver.on_segment(Time::from_millis(1000), &segment).unwrap().marked);
        assert_eq!(counts, [0, 1, 2, 2]);
    }

    #[test]
    fn a_new_connection_begins_again_and_the_old_one_is_not_heard() {
        let mut receiver = Receiver::new(Acknowledging::Each);
        receive(&mut receiver, 0);
        receive(&mut receiver, 2);
        let opening = Segment { connection: 1, sent: Time::from_millis(7), from: 0, to: 0, ecn: Ecn::NotCapable };
        let answer = receiver.on_segment(Time::from_millis(9), &opening).unwrap();
        assert_eq!((answer.up_to, answer.blocks.len(), answer.echo), (0, 0, Time::from_millis(7)));
        assert!(receive(&mut receiver, 1).is_none());
        receiver.on_segment(Time::from_millis(9), &Segment { connection: 1, ..segment(0) });
        assert_eq!(receiver.delivered(), Bytes::new(200));
    }
}
