//! Which packet an acknowledgement or a loss means: quinn says when it left, but not its number.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// Smaller transmits may be acknowledgements alone, which nobody acknowledges and quinn never reports: none of these count.
const LEAST: u64 = 200;
/// More transmits than this are not under way: the oldest belong to keys that were discarded.
const MAX: usize = 1 << 16;

/// A piece of a transmit: a packet, or two small ones.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    key: u64,
    /// Bytes of the transmit up to its end.
    until: u64,
}

/// Packets that left at one instant.
#[derive(Debug, Clone, Default)]
struct Transmit {
    bytes: u64,
    acked: u64,
    open: VecDeque<Piece>,
}

/// Transmits under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transmits(BTreeMap<Instant, Transmit>);

impl Transmits {
    /// So many bytes left, in packets of at most `mtu`; `show` takes the size of each and returns its key.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64, mtu: u64, mut show: impl FnMut(u64) -> u64) {
        if bytes < LEAST {
            return;
        }
        if self.0.len() == MAX {
            self.0.pop_first();
        }
        let transmit = self.0.entry(now).or_default();
        let mut left = bytes;
        while left > 0 {
            let size = left.min(mtu);
            left -= size;
            transmit.bytes += size;
            transmit.open.push_back(Piece { key: show(size), until: transmit.bytes });
        }
    }

    /// So many bytes that left at `sent` are acknowledged; `acked` takes the keys of the pieces that all of it is now.
    pub(crate) fn on_ack(&mut self, sent: Instant, bytes: u64, mut acked: impl FnMut(u64)) {
        let Some(transmit) = self.0.get_mut(&sent) else { return };
        transmit.acked += bytes;
        while let Some(piece) = transmit.open.front().filter(|piece| piece.until <= transmit.acked) {
            acked(piece.key);
            transmit.open.pop_front();
        }
        if transmit.open.is_empty() {
            self.0.remove(&sent);
        }
    }

    /// So many bytes are lost, the last of which left at `last`: the oldest under way. Returns their keys.
    pub(crate) fn take_lost(&mut self, last: Instant, bytes: u64) -> Vec<u64> {
        let (mut lost, mut left) = (Vec::new(), bytes);
        while left > 0
            && let Some(mut oldest) = self.0.first_entry().filter(|oldest| *oldest.key() <= last)
        {
            let transmit = oldest.get_mut();
            while left > 0
                && let Some(piece) = transmit.open.pop_front()
            {
                left = left.saturating_sub(piece.until.saturating_sub(transmit.acked));
                // What comes after it is acknowledged without it.
                transmit.acked = transmit.acked.max(piece.until);
                lost.push(piece.key);
            }
            if transmit.open.is_empty() {
                oldest.remove();
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Four transmits a millisecond apart: 3000, 100, 1200 and 1200 bytes; keys from 0.
    fn four() -> (Transmits, [Instant; 4]) {
        // Only differences count.
        #[allow(clippy::disallowed_methods)]
        let start = Instant::now();
        let at = [0, 1, 2, 3].map(|millis| start + Duration::from_millis(millis));
        let (mut transmits, mut key) = (Transmits::default(), 0..);
        for (at, bytes) in at.into_iter().zip([3000, 100, 1200, 1200]) {
            transmits.on_sent(at, bytes, 1200, |_| key.next().unwrap());
        }
        (transmits, at)
    }

    fn acked(transmits: &mut Transmits, sent: Instant, bytes: u64) -> Vec<u64> {
        let mut keys = Vec::new();
        transmits.on_ack(sent, bytes, |key| keys.push(key));
        keys
    }

    #[test]
    fn a_batch_is_acknowledged_piece_by_piece_however_it_was_cut() {
        let (mut transmits, at) = four();
        assert_eq!(
            [900, 900, 900, 300].map(|bytes| acked(&mut transmits, at[0], bytes)),
            [vec![], vec![0], vec![1], vec![2]]
        );
        assert_eq!(acked(&mut transmits, at[1], 100), [0; 0], "too small to be counted");
        assert_eq!(acked(&mut transmits, at[2], 1200), [3]);
        assert_eq!(acked(&mut transmits, at[2], 1200), [0; 0], "twice");
    }

    #[test]
    fn what_is_lost_is_the_oldest_up_to_the_last_that_quinn_names() {
        let (mut transmits, at) = four();
        assert_eq!(acked(&mut transmits, at[0], 1200), [0]);
        assert_eq!(transmits.take_lost(at[2], 3000), [1, 2, 3]);
        assert_eq!(acked(&mut transmits, at[3], 1200), [4]);
        assert_eq!(transmits.take_lost(at[3], 1200), [0; 0]);
    }

    #[test]
    fn of_a_batch_of_which_only_a_part_is_lost_the_rest_stays_under_way() {
        let (mut transmits, at) = four();
        assert_eq!(transmits.take_lost(at[0], 1200), [0]);
        assert_eq!(acked(&mut transmits, at[0], 1200), [1]);
        assert_eq!(acked(&mut transmits, at[0], 600), [2]);
    }
}
