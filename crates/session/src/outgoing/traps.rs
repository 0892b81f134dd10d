//! Sequence numbers that are skipped now and then: who acknowledges one acknowledges what it has not received.
//!
//! A receiver that says that everything arrived at once is sent more than its path carries, at the expense of others on
//! that path. It cannot know which numbers are skipped, and an honest one reports a skipped number as lost.

use thalweg_control::PacketId;
use thalweg_units::Random;

/// The packets between two skipped numbers, drawn anew each time: often enough that three come within a few seconds of
/// 1 Mbps, and seldom enough that the runs in reports, a chunk of 2 bytes each, cost nothing.
const FEWEST: u64 = 50;
const MOST: u64 = 150;

/// When the next number is skipped.
#[derive(Debug)]
pub(super) struct Traps {
    random: Random,
    next: u64,
}

impl Traps {
    pub(super) fn new(mut random: Random) -> Traps {
        let next = FEWEST + random.below(MOST - FEWEST + 1);
        Traps { random, next }
    }

    /// Returns true if a number is skipped before packet `id`, which is the next to be sent.
    pub(super) fn is_due(&mut self, id: PacketId) -> bool {
        let due = id.0 >= self.next;
        if due {
            self.next = id.0 + FEWEST + self.random.below(MOST - FEWEST + 1);
        }
        due
    }
}
