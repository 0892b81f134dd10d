//! Blocks of a code, of which as many packets come back as parity packets came (`wire::block_code`), as long as they wait for more.

use std::collections::VecDeque;

use thalweg_wire::block_code::{Block, Parity, Recovery};

/// Blocks that wait, the newest: half a second of frames.
const BLOCKS: usize = 16;
/// Bytes of parity that wait: a second of it at 8 Mbps.
const BYTES: usize = 1 << 20;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    waiting: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    block: Block,
    bytes: usize,
}

impl Blocks {
    /// A parity packet of `length` bytes came.
    pub(super) fn add(&mut self, parity: Parity, length: usize) {
        let known = self.waiting.iter_mut().find(|waiting| waiting.block.is_of(&parity));
        match known {
            Some(waiting) => {
                if !waiting.block.add(parity) {
                    return;
                }
                waiting.bytes += length;
            }
            None => self.waiting.push_back(Waiting { block: Block::new(parity), bytes: length }),
        }
        self.bytes += length;
        while self.waiting.len() > BLOCKS || self.bytes > BYTES {
            let Some(oldest) = self.waiting.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
    }

    /// Whether one waits for this packet.
    pub(super) fn want(&self, sequence: u16) -> bool {
        self.waiting.iter().any(|waiting| waiting.block.mask().contains(sequence))
    }

    /// All that was missing of the first block that can be made and is sound. Blocks that are complete, too old or corrupt go.
    pub(super) fn make<'p>(
        &mut self,
        is_old: impl Fn(u16) -> bool,
        mut held: impl FnMut(u16) -> Option<&'p [u8]>,
        is_sound: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<Vec<u8>>> {
        let mut made = None;
        let bytes = &mut self.bytes;
        self.waiting.retain(|Waiting { block, bytes: its }| {
            if made.is_some() {
                return true;
            }
            let recovered =
                if is_old(block.mask().first()) { Ok(Recovery::Complete) } else { block.recover(&mut held) };
            let waits = matches!(recovered, Ok(Recovery::Missing(_)));
            if let Ok(Recovery::Packets(packets)) = recovered {
                made = Some(packets).filter(|packets| packets.iter().all(|packet| is_sound(packet)));
            }
            *bytes -= if waits { 0 } else { *its };
            waits
        });
        made
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> (usize, usize) {
        (self.waiting.len(), self.bytes)
    }
}
