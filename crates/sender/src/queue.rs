//! Media waiting to leave.

use alloc::collections::VecDeque;

use thalweg_types::{Cut, Fragment, PacketSizes};
use thalweg_units::{Bytes, Span, Time};

/// A frame partly or not at all sent: the packets before `next` have left.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    template: Fragment,
    size: Bytes,
    enqueued: Time,
    next: u16,
    per_burst: u16,
}

/// A fragment at the head of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The fragment.
    pub fragment: Fragment,
    /// When its frame was queued.
    pub enqueued: Time,
    /// True for the first of its burst.
    pub begins_burst: bool,
    /// True for the last of its burst.
    pub ends_burst: bool,
}

/// Frames in order, cut into packets as they leave.
#[derive(Debug, Clone)]
pub struct MediaQueue {
    sizes: PacketSizes,
    frames: VecDeque<Waiting>,
    payload: Bytes,
    packets: u64,
}

impl MediaQueue {
    /// An empty queue.
    pub fn new(sizes: PacketSizes) -> MediaQueue {
        MediaQueue { sizes, frames: VecDeque::new(), payload: Bytes::ZERO, packets: 0 }
    }

    /// Queues a frame of `size` payload bytes, of which at most `burst` leave together. Fills in index, count, offset
    /// and length in copies of `template`. Returns how many packets the frame takes.
    pub fn push(&mut self, now: Time, size: Bytes, burst: Option<Bytes>, template: Fragment) -> u16 {
        let Cut { packets, per_burst } = self.sizes.cut(size, burst);
        let template = Fragment { count: packets, ..template };
        self.frames.push_back(Waiting { template, size, enqueued: now, next: 0, per_burst });
        self.payload += size;
        self.packets += u64::from(packets);
        packets
    }

    /// The fragment that leaves next.
    pub fn head(&self) -> Option<Head> {
        let frame = self.frames.front()?;
        let (offset, length) = self.sizes.fragment(frame.size, frame.next, frame.template.count);
        let fragment = Fragment { index: frame.next, offset, length, ..frame.template };
        let in_burst = frame.next % frame.per_burst;
        let (begins_burst, ends_burst) = (in_burst == 0, in_burst + 1 == frame.per_burst);
        Some(Head { fragment, enqueued: frame.enqueued, begins_burst, ends_burst })
    }

    /// Removes the head.
    pub fn pop(&mut self) -> Option<Head> {
        let head = self.head()?;
        let frame = self.frames.front_mut()?;
        frame.next += 1;
        if frame.next == frame.template.count {
            self.frames.pop_front();
        }
        self.payload -= Bytes::new(u64::from(head.fragment.length));
        self.packets -= 1;
        Some(head)
    }

    /// Throws everything away; calls `lost` with each frame number and how many of its packets had not left.
    pub fn flush(&mut self, mut lost: impl FnMut(u64, u64)) {
        for frame in self.frames.drain(..) {
            lost(frame.template.frame, u64::from(frame.template.count - frame.next));
        }
        self.payload = Bytes::ZERO;
        self.packets = 0;
    }

    /// The queue's size in bytes on the wire.
    pub fn wire_bytes(&self) -> Bytes {
        self.payload + self.sizes.overhead * self.packets
    }

    /// The number of queued packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// When the frame at the head was queued.
    pub fn oldest(&self) -> Option<Time> {
        self.frames.front().map(|frame| frame.enqueued)
    }

    /// The mean time the queued packets have waited: the input of libwebrtc's drain rule.
    pub fn mean_wait(&self, now: Time) -> Span {
        if self.packets == 0 {
            return Span::ZERO;
        }
        let total: i128 = self
            .frames
            .iter()
            .map(|frame| i128::from((now - frame.enqueued).as_nanos()) * i128::from(frame.template.count - frame.next))
            .sum();
        Span::from_nanos((total / i128::from(self.packets)) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;
    use alloc::vec::Vec;

    #[test]
    fn frames_leave_in_order_and_the_accounts_return_to_zero() {
        let mut queue = MediaQueue::new(PacketSizes::default());
        queue.push(Time::ZERO, Bytes::new(3_000), None, fragment(0, (0, 0)));
        queue.push(Time::from_millis(10), Bytes::new(500), None, fragment(1, (0, 0)));
        assert_eq!(queue.packets(), 4);
        assert_eq!(queue.wire_bytes(), Bytes::new(3_500 + 4 * 74));
        assert_eq!(queue.mean_wait(Time::from_millis(20)), Span::from_micros(17_500));
        let order: Vec<_> = core::iter::from_fn(|| queue.pop()).map(|h| (h.fragment.frame, h.fragment.index)).collect();
        assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0)]);
        assert_eq!((queue.packets(), queue.wire_bytes(), queue.oldest()), (0, Bytes::ZERO, None));
    }

    #[test]
    fn a_flush_tells_how_much_of_each_frame_never_left() {
        let mut queue = MediaQueue::new(PacketSizes::default());
        queue.push(Time::ZERO, Bytes::new(3_000), None, fragment(0, (0, 0)));
        queue.push(Time::ZERO, Bytes::new(500), None, fragment(1, (0, 0)));
        queue.pop();
        let mut lost = Vec::new();
        queue.flush(|frame, packets| lost.push((frame, packets)));
        assert_eq!(lost, [(0, 2), (1, 1)]);
        assert!(queue.is_empty());
    }
}
