//! Blocks of a code that brings back as many packets as parity packets came.

use std::collections::VecDeque;

use thalweg_sender::Fragment;
use thalweg_sender::repair::parity::{Protected, symbol};

/// Blocks that wait for more, the newest: half a second of frames.
const BLOCKS: usize = 16;

/// What has come of a block's parity.
#[derive(Debug)]
pub(super) struct Block {
    protects: Protected,
    /// Which of those are not here.
    missing: Protected,
    /// How many parity packets it has.
    count: u8,
    symbols: Vec<(u8, [u64; 8])>,
}

impl Block {
    /// Its missing packets, given the others.
    pub(super) fn decode(&self, held: impl Fn(u64) -> Option<Fragment>) -> Option<Vec<(u64, Fragment)>> {
        let sequences: Vec<u64> = self.protects.iter().collect();
        let place = |(place, sequence): (usize, &u64)| Some((place, held(*sequence)?));
        let here: Vec<_> = sequences.iter().enumerate().filter_map(place).collect();
        let missing = sequences.len() - here.len();
        let made = symbol::decode(sequences.len(), self.count, &here, self.symbols.get(..missing)?)?;
        Some(made.into_iter().map(|(place, fragment)| (sequences[place], fragment)).collect())
    }
}

/// The blocks of which parity came.
#[derive(Debug, Default)]
pub(super) struct Blocks(VecDeque<Block>);

impl Blocks {
    /// A parity packet over `protects` came, one of `count`.
    pub(super) fn add(
        &mut self,
        protects: Protected,
        count: u8,
        (index, words): (u8, [u64; 8]),
        here: impl Fn(u64) -> bool,
    ) {
        let known = self.0.iter_mut().find(|block| (block.protects, block.count) == (protects, count));
        if let Some(block) = known {
            if index < count && block.symbols.iter().all(|(other, _)| *other != index) {
                block.symbols.push((index, words));
            }
            return;
        }
        let missing = protects
            .iter()
            .filter(|sequence| here(*sequence))
            .try_fold(protects, |left, sequence| left.without(sequence));
        if let Some(missing) = missing.filter(|_| index < count) {
            if self.0.len() >= BLOCKS {
                self.0.pop_front();
            }
            self.0.push_back(Block { protects, missing, count, symbols: vec![(index, words)] });
        }
    }

    /// This packet is here.
    pub(super) fn on_media(&mut self, sequence: u64) {
        self.0.retain_mut(|block| match block.missing.without(sequence) {
            Some(missing) => {
                block.missing = missing;
                true
            }
            None => false,
        });
    }

    /// Forgets blocks that are too old to be made.
    pub(super) fn forget(&mut self, is_old: impl Fn(u64) -> bool) {
        self.0.retain(|block| !is_old(block.missing.first()));
    }

    /// Takes out a block of which as many symbols came as packets are missing.
    pub(super) fn next_whole(&mut self) -> Option<Block> {
        let whole = |block: &Block| block.symbols.len() >= block.missing.count() as usize;
        let place = self.0.iter().position(whole)?;
        self.0.remove(place)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
