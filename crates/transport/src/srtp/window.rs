//! The replay window: which packets of a stream were received.

use crate::Refusal;

/// The newest packet index of a stream and which of those shortly before it were received (RFC 3711 section 3.3.2).
///
/// An index is the full number of a packet: a 16-bit sequence number below a 32-bit rollover counter for RTP, 31 bits
/// for RTCP.
#[derive(Debug, Clone)]
pub(super) struct Window {
    newest: u64,
    /// One bit for each of the last `64 * seen.len()` indices, at the index modulo that.
    seen: Vec<u64>,
    /// The window size in packets.
    size: u64,
}

impl Window {
    /// Creates a window of `size` packets; `first` is the first one received.
    pub(super) fn new(size: u32, first: u64) -> Window {
        let mut window = Window { newest: first, seen: vec![0; size.div_ceil(64) as usize], size: u64::from(size) };
        window.mark(first, true);
        window
    }

    /// The index of the packet with this sequence number: the one nearest to the newest (RFC 3711 section 3.3.1).
    ///
    /// A packet so far ahead that the window around it would reach half a cycle is rejected instead of guessed, because a
    /// late one of the window would be taken for the next cycle's; so is one before the first cycle.
    pub(super) fn index(&self, sequence: u16) -> Result<u64, Refusal> {
        let ahead = i64::from(sequence.wrapping_sub(self.newest as u16) as i16);
        if ahead + self.size as i64 > i64::from(i16::MAX) {
            return Err(Refusal::FarAhead);
        }
        let index = self.newest.checked_add_signed(ahead).ok_or(Refusal::Old)?;
        if index >> 48 == 0 { Ok(index) } else { Err(Refusal::FarAhead) }
    }

    /// Checks that the packet with this index is acceptable: it is not a replay and not older than the window.
    pub(super) fn check(&self, index: u64) -> Result<(), Refusal> {
        match index {
            index if index > self.newest => Ok(()),
            index if self.newest - index >= self.size => Err(Refusal::Old),
            index if self.seen[self.place(index).0] & self.place(index).1 != 0 => Err(Refusal::Replayed),
            _ => Ok(()),
        }
    }

    /// Marks the packet with this index as received; it must be authentic.
    pub(super) fn accept(&mut self, index: u64) {
        if index > self.newest {
            let room = 64 * self.seen.len() as u64;
            if index - self.newest >= room {
                self.seen.fill(0);
            } else {
                for skipped in self.newest + 1..index {
                    self.mark(skipped, false);
                }
            }
            self.newest = index;
        }
        self.mark(index, true);
    }

    fn mark(&mut self, index: u64, came: bool) {
        let (word, bit) = self.place(index);
        if came {
            self.seen[word] |= bit;
        } else {
            self.seen[word] &= !bit;
        }
    }

    fn place(&self, index: u64) -> (usize, u64) {
        let bit = index % (64 * self.seen.len() as u64);
        ((bit / 64) as usize, 1 << (bit % 64))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_all_that_came_within_its_size(size in 64..300u32, first in 0..1000u64,
            steps in prop::collection::vec(-400..400i64, 0..300)) {
            let mut window = Window::new(size, first);
            let mut came = BTreeSet::from([first]);
            for step in steps {
                let newest = *came.last().unwrap();
                let Some(index) = newest.checked_add_signed(step) else { continue };
                let expected = if newest >= index + u64::from(size) {
                    Err(Refusal::Old)
                } else if came.contains(&index) {
                    Err(Refusal::Replayed)
                } else {
                    Ok(())
                };
                prop_assert_eq!(window.check(index), expected);
                if expected.is_ok() {
                    window.accept(index);
                    came.insert(index);
                }
            }
        }
    }

    #[test]
    fn a_sequence_number_is_the_nearest_index_to_the_newest() {
        let window = Window::new(1024, (3 << 16) + 5);
        assert_eq!(window.index(6), Ok((3 << 16) + 6));
        assert_eq!(window.index(65_535), Ok((2 << 16) | 65_535));
        assert_eq!(window.index(5 + 31_743), Ok((3 << 16) + 5 + 31_743));
        assert_eq!(window.index(5 + 31_744), Err(Refusal::FarAhead));
        assert_eq!(window.index(5 + 32_768), Ok(((3 << 16) + 5) - 32_768));
        assert_eq!(Window::new(64, 5).index(65_535), Err(Refusal::Old), "there is no turn before the first");
        assert_eq!(Window::new(64, (1 << 48) - 1).index(0), Err(Refusal::FarAhead), "nor one after the last");
    }
}
