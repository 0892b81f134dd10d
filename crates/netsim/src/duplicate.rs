//! Duplication of packets.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Random, Seed, Span, Time, check};

use crate::{Departure, Drop, Link, Packet};

/// A hop that passes each packet on without delay, and some of them a second time.
#[derive(Debug, Clone)]
pub struct Duplicate<P> {
    probability: f64,
    after: Span,
    random: Random,
    passed: VecDeque<Departure<P>>,
    copies: VecDeque<Departure<P>>,
}

impl<P> Duplicate<P> {
    /// A hop that copies each packet with this probability, 0 to 1. The copy leaves `after` its packet; with 0 directly
    /// behind it.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(probability: f64, after: Span, seed: Seed) -> Result<Duplicate<P>, ConfigError> {
        check("duplicate.probability", probability).within(0.0..=1.0, "0.02")?;
        check("duplicate.after", after).within(Span::ZERO.., "5ms")?;
        let random = seed.child("duplicate").random();
        Ok(Duplicate { probability, after, random, passed: VecDeque::new(), copies: VecDeque::new() })
    }

    /// Returns true if the next to leave is a copy; a packet that is due at the same instant goes first.
    fn is_copy_next(&self) -> bool {
        match (self.passed.front(), self.copies.front()) {
            (Some(passed), Some(copy)) => copy.at < passed.at,
            (passed, _) => passed.is_none(),
        }
    }
}

impl<P: Packet> Link<P> for Duplicate<P> {
    fn offer(&mut self, now: Time, size: Bytes, mut packet: P) {
        if self.random.chance(self.probability)
            && let Some(packet) = packet.duplicate()
        {
            self.copies.push_back(Departure { at: now + self.after, size, queued: Span::ZERO, packet });
        }
        self.passed.push_back(Departure { at: now, size, queued: Span::ZERO, packet });
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        let next = if self.is_copy_next() { &mut self.copies } else { &mut self.passed };
        next.front().filter(|next| next.at <= now)?;
        next.pop_front()
    }

    fn next_event(&self) -> Time {
        [&self.passed, &self.copies]
            .into_iter()
            .flat_map(VecDeque::front)
            .map(|next| next.at)
            .min()
            .unwrap_or(Time::NEVER)
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// (number, ms) of what leaves when packets 0 to `count` come a millisecond apart.
    fn left(probability: f64, after: Span, count: u64) -> Vec<(u64, u64)> {
        let mut hop = Duplicate::new(probability, after, Seed::new(5)).unwrap();
        let mut left = Vec::new();
        for at in 0..count + 100 {
            let now = Time::from_millis(at);
            let due = core::iter::from_fn(|| hop.poll(now));
            left.extend(due.map(|left| (left.packet, left.at.as_millis())));
            if at < count {
                hop.offer(now, Bytes::new(100), at);
            }
        }
        assert_eq!(hop.next_event(), Time::NEVER);
        left
    }

    #[test]
    fn the_stated_share_of_packets_comes_twice_and_every_packet_once() {
        let left = left(0.1, Span::ZERO, 100_000);
        let copies = left.len() - 100_000;
        assert!((9_500..10_500).contains(&copies), "{copies}");
        assert_eq!(
            left.windows(2).filter(|pair| pair[0].0 == pair[1].0).count(),
            copies,
            "a copy is behind its packet"
        );
    }

    #[test]
    fn a_copy_comes_after_its_delay_among_later_packets() {
        let expected = [(0, 0), (1, 1), (0, 2), (2, 2), (1, 3), (2, 4)];
        assert_eq!(left(1.0, Span::from_millis(2), 3), expected);
    }

    #[test]
    fn a_share_above_one_and_a_copy_before_its_packet_are_refused_with_the_range() {
        let refused = |probability, after| {
            alloc::string::ToString::to_string(&Duplicate::<u64>::new(probability, after, Seed::new(0)).unwrap_err())
        };
        assert!(refused(1.5, Span::ZERO).contains("duplicate.probability is 1.5, must be 0 to 1"));
        assert!(refused(0.1, Span::from_millis(-1)).contains("duplicate.after is -1ms, must be at least 0ms"));
    }
}
