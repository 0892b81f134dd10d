//! A middlebox that takes the ECN field amiss.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Ecn, Span, Time};

use crate::{Departure, Drop, DropReason, Link, Packet};

/// Treatment of packets whose ECN field is not 0 (specs/l4s.md 2.1); paths on the Internet do both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum EcnFault {
    /// The field is cleared.
    Bleach {
        /// From this time on, since the start.
        #[cfg_attr(feature = "serde", serde(default))]
        from: Span,
    },
    /// They are dropped.
    DropCapable {
        /// From this time on, since the start.
        #[cfg_attr(feature = "serde", serde(default))]
        from: Span,
    },
}

/// A hop with an [`EcnFault`].
#[derive(Debug, Clone)]
pub struct Middlebox<P> {
    fault: EcnFault,
    passed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P> Middlebox<P> {
    /// A hop that does this and nothing else.
    pub const fn new(fault: EcnFault) -> Middlebox<P> {
        Middlebox { fault, passed: VecDeque::new(), dropped: VecDeque::new() }
    }
}

impl<P: Packet> Link<P> for Middlebox<P> {
    fn offer(&mut self, now: Time, size: Bytes, mut packet: P) {
        let is_on = |from: Span| now.since_start() >= from && packet.ecn() != Ecn::NotCapable;
        match self.fault {
            EcnFault::DropCapable { from } if is_on(from) => {
                self.dropped.push_back(Drop { at: now, size, why: DropReason::EcnCapable, packet });
                return;
            }
            EcnFault::Bleach { from } if is_on(from) => packet.bleach(),
            EcnFault::DropCapable { .. } | EcnFault::Bleach { .. } => {}
        }
        self.passed.push_back(Departure { at: now, size, queued: Span::ZERO, packet });
    }

    fn poll(&mut self, _now: Time) -> Option<Departure<P>> {
        self.passed.pop_front()
    }

    fn next_event(&self) -> Time {
        self.passed.front().map_or(Time::NEVER, |passed| passed.at)
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::packet;
    use alloc::vec::Vec;

    fn passed(fault: EcnFault) -> (Vec<(u64, Ecn)>, Vec<u64>) {
        let mut hop = Middlebox::new(fault);
        for (number, ecn) in Ecn::ALL.into_iter().enumerate() {
            hop.offer(Time::from_millis(0), Bytes::new(1200), packet(number as u64, ecn));
            hop.offer(Time::from_millis(10_000), Bytes::new(1200), packet(10 + number as u64, ecn));
        }
        let left = core::iter::from_fn(|| hop.poll(Time::NEVER)).map(|left| (left.packet.number, left.packet.ecn));
        let left = left.collect();
        (left, core::iter::from_fn(|| hop.poll_drop()).map(|lost| lost.packet.number).collect())
    }

    #[test]
    fn from_its_time_on_it_clears_the_field_of_each_packet() {
        let (left, lost) = passed(EcnFault::Bleach { from: Span::from_secs(10) });
        assert!(lost.is_empty());
        for (number, ecn) in left {
            let kept = if number < 10 { Ecn::ALL[number as usize] } else { Ecn::NotCapable };
            assert_eq!(ecn, kept, "{number}");
        }
    }

    #[test]
    fn from_its_time_on_it_drops_each_packet_that_is_capable() {
        let (left, lost) = passed(EcnFault::DropCapable { from: Span::from_secs(10) });
        assert_eq!(lost, [11, 12, 13]);
        assert_eq!(left.len(), 5);
    }
}
