//! Filler of a block code: parity over the packets that are under none yet, as long as there is room and one of them may be lost.

use alloc::vec::Vec;

use thalweg_units::Bytes;

use super::{Tracked, Useful};
use crate::packet::Content;
use crate::repair::parity::{Due, LONGEST, Protected};

/// A block whose parity has not all left.
#[derive(Debug, Clone)]
pub(super) struct Block {
    protects: Protected,
    packets: Vec<Due>,
    /// How many of them have left.
    next: usize,
}

impl Block {
    /// Parity packet `index` left.
    pub(super) fn left(&mut self, index: u8) {
        self.next = self.next.max(usize::from(index) + 1);
    }
}

impl Useful {
    /// The next parity packet of the block, if any of its packets may still be lost and in time; otherwise the first of the next block.
    pub(super) fn of_block(&mut self, in_time: impl Fn(&&Tracked) -> bool + Copy) -> Option<(Content, Bytes)> {
        let fresh = |packet: &&Tracked| !packet.arrived && packet.sums == 0;
        if self.remembered.packets().filter(in_time).any(|packet| fresh(&packet)) {
            self.block = self.next_block(|packet: &&Tracked| in_time(packet) && fresh(packet));
        }
        let block = self.block.as_ref()?;
        let open = |packet: &&Tracked| !packet.arrived && block.protects.contains(packet.sequence);
        self.remembered.packets().filter(in_time).find(open)?;
        let due = block.packets.get(block.next)?;
        Some((due.content(), due.size))
    }

    /// Over the packets that `belong`, which are under it from now on.
    fn next_block(&mut self, belong: impl Fn(&&Tracked) -> bool) -> Option<Block> {
        let first = self.remembered.packets().find(&belong)?.sequence;
        let near = |packet: &&Tracked| packet.sequence - first < LONGEST;
        let members: Vec<Tracked> = self.remembered.packets().filter(belong).take_while(near).copied().collect();
        let count = libm::ceil(members.len() as f64 * self.config.block_share).clamp(1.0, f64::from(u8::MAX)) as u8;
        let packets = Due::block(members.iter().map(Tracked::member), count, self.config.written());
        let protects = packets.first()?.protects;
        self.remembered.under_sum(&protects);
        Some(Block { protects, packets, next: 0 })
    }
}
