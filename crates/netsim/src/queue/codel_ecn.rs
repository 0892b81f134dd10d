//! CoDel as RFC 8289 has it, which marks packets whose transport is capable of ECN where it drops others. The discipline
//! `codel` is Mahimahi's, with its peculiarities, and never marks.

use thalweg_units::{ConfigError, Span, Time, above, check};

use super::fifo::Fifo;
use super::{MTU, MarkReason, Queued};
use crate::{Ecn, Packet};

/// A queue is left alone while it has no more than this behind the packet that leaves (RFC 8289 section 5.6: one MTU).
const FEW: thalweg_units::Bytes = MTU;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodelEcn {
    target: Span,
    interval: Span,
    /// A packet that waited longer is marked at once, apart from the law: Linux's `ce_threshold` with its selector
    /// for ECT(1).
    threshold: Option<Span>,
    /// When a packet above the target may be marked; `None` while none is above it.
    first_above: Option<Time>,
    next: Time,
    count: u32,
    last_count: u32,
    is_dropping: bool,
}

impl CodelEcn {
    /// CoDel for the discipline `of`.
    pub(super) fn new(
        of: &str,
        target: Span,
        interval: Span,
        threshold: Option<Span>,
    ) -> Result<CodelEcn, ConfigError> {
        let name = |field: &str| alloc::format!("{of}.{field}");
        check(&name("target"), target).within(above(Span::ZERO), "target = \"5ms\"")?;
        check(&name("interval"), interval).within(above(Span::ZERO), "interval = \"100ms\"")?;
        if let Some(threshold) = threshold {
            check(&name("threshold"), threshold).within(above(Span::ZERO), "threshold = \"1ms\"")?;
        }
        Ok(CodelEcn {
            target,
            interval,
            threshold,
            first_above: None,
            next: Time::ZERO,
            count: 0,
            last_count: 0,
            is_dropping: false,
        })
    }

    /// Takes one packet, and whether the target was exceeded for a whole interval.
    fn take<P>(&mut self, now: Time, queue: &mut Fifo<P>) -> Option<(Queued<P>, bool)> {
        let Some(queued) = queue.pop() else {
            self.first_above = None;
            return None;
        };
        if now - queued.arrival < self.target || queue.bytes() <= FEW {
            self.first_above = None;
            return Some((queued, false));
        }
        let first = *self.first_above.get_or_insert(now + self.interval);
        Some((queued, now >= first))
    }

    pub(super) fn pop<P: Packet>(
        &mut self,
        now: Time,
        queue: &mut Fifo<P>,
        mut dropped: impl FnMut(Queued<P>),
    ) -> Option<Queued<P>> {
        let (mut queued, mut is_late) = self.take(now, queue)?;
        if self.is_dropping {
            self.is_dropping = is_late;
            while self.is_dropping && now >= self.next {
                self.count += 1;
                if queued.packet.ecn().is_capable() {
                    queued.mark(MarkReason::Classic);
                    self.next = self.law(self.next);
                    break;
                }
                dropped(queued);
                (queued, is_late) = self.taken(now, queue)?;
                self.is_dropping = is_late;
                if is_late {
                    self.next = self.law(self.next);
                }
            }
        } else if is_late {
            if queued.packet.ecn().is_capable() {
                queued.mark(MarkReason::Classic);
            } else {
                dropped(queued);
                (queued, _) = self.taken(now, queue)?;
            }
            self.is_dropping = true;
            let since = self.count.saturating_sub(self.last_count);
            self.count = if since > 1 && now - self.next < self.interval * 16 { since } else { 1 };
            self.next = self.law(now);
            self.last_count = self.count;
        }
        if queued.packet.ecn() == Ecn::Ect1 && self.threshold.is_some_and(|most| now - queued.arrival > most) {
            queued.mark(MarkReason::Step);
        }
        Some(queued)
    }

    /// As [`CodelEcn::take`]; a queue that has run empty ends the drops.
    fn taken<P>(&mut self, now: Time, queue: &mut Fifo<P>) -> Option<(Queued<P>, bool)> {
        let taken = self.take(now, queue);
        self.is_dropping &= taken.is_some();
        taken
    }

    fn law(&self, from: Time) -> Time {
        from + Span::from_secs_f64(self.interval.as_secs_f64() / libm::sqrt(f64::from(self.count.max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::queued;

    /// Packets of 1500 bytes, one each millisecond, of which one leaves each two: the times of marks and of drops.
    fn overloaded(ecn: Ecn, threshold: Option<Span>) -> (alloc::vec::Vec<u64>, alloc::vec::Vec<u64>) {
        let millis = Span::from_millis;
        let mut codel = CodelEcn::new("codel-ecn", millis(5), millis(100), threshold).unwrap();
        let (mut queue, mut marked, mut lost) = (Fifo::new(), alloc::vec::Vec::new(), alloc::vec::Vec::new());
        for ms in 0..520 {
            queue.push(queued(ms, 1500, ecn));
            if ms % 2 == 0 {
                let left = codel.pop(Time::from_millis(ms), &mut queue, |_| lost.push(ms)).unwrap();
                if ecn.is_capable() && left.packet.ecn() == Ecn::Ce {
                    marked.push(ms);
                }
            }
        }
        (marked, lost)
    }

    #[test]
    fn an_overloaded_queue_marks_what_is_capable_when_it_drops_what_is_not() {
        let (marked, lost) = overloaded(Ecn::Ect0, None);
        // The first packet above the target leaves at 10 ms; then the intervals shrink with the square root.
        assert_eq!((&marked[..6], lost.len()), (&[110, 210, 282, 340, 390, 434][..], 0));
        let (marked, lost) = overloaded(Ecn::NotCapable, None);
        assert_eq!((marked.len(), &lost[..2]), (0, &[110, 210][..]));
    }

    #[test]
    fn the_threshold_marks_packets_for_low_latency_at_once() {
        let threshold = Some(Span::from_millis(1));
        assert_eq!(overloaded(Ecn::Ect1, threshold).0[0], 4);
        assert_eq!(overloaded(Ecn::Ect0, threshold).0[0], 110);
    }
}
