//! Missing packets made of parity (RFC 8627 section 6.3; specs/fec.md 3), of sums here and of block codes in `blocks`.
//!
//! A parity packet that came is worked off: what of its packets is here is taken out of its sum, at once and as more
//! arrives; the one that is left in the end is what the sum has become. Each one made may complete another.

mod blocks;

use std::collections::VecDeque;

use blocks::Blocks;
use thalweg_sender::repair::parity::{LONGEST, Protected, Sum, Symbol};
use thalweg_sender::{Content, Fragment};

/// Media packets remembered behind the newest: four times what a parity packet can protect (specs/fec.md 3; libwebrtc
/// keeps four times its 48). No packet that many behind or before the newest is ever made.
const MEDIA: u64 = 4 * LONGEST;
/// Parity packets that wait for more, the newest (libwebrtc `kMaxFecPackets`).
const PARITIES: usize = 48;

/// What is left of a parity packet: its sum, less what has come.
#[derive(Debug, Clone, Copy)]
struct Parity {
    missing: Protected,
    sum: Sum,
}

/// What came, and what parity waits for more.
#[derive(Debug)]
pub(super) struct Recovery {
    /// Number s is in place s modulo its length, unless a newer one is.
    media: Vec<Option<(u64, Fragment)>>,
    newest: Option<u64>,
    parities: VecDeque<Parity>,
    blocks: Blocks,
}

impl Default for Recovery {
    fn default() -> Recovery {
        let media = vec![None; MEDIA as usize];
        Recovery { media, newest: None, parities: VecDeque::new(), blocks: Blocks::default() }
    }
}

impl Recovery {
    /// Something arrived; the media packets that can be made with it, in order.
    pub(super) fn on_packet(&mut self, content: &Content) -> Vec<(u64, Fragment)> {
        let mut made = Vec::new();
        match *content {
            Content::Padding | Content::Audio { .. } => {}
            Content::Media { sequence, fragment } | Content::Retransmission { of: sequence, fragment } => {
                self.newest = self.newest.max(Some(sequence));
                self.remember(sequence, fragment);
            }
            Content::Parity { protects, symbol: Symbol::Sum(sum) } => self.wait(protects, sum),
            Content::Parity { protects, symbol: Symbol::OfBlock { index, count, words } } => {
                let media = &self.media;
                self.blocks.add(protects, count, (index, words), |sequence| held(media, sequence).is_some());
            }
        }
        loop {
            let found = match self.make() {
                Some(one) => vec![one],
                None => self.make_block(),
            };
            if found.is_empty() {
                break;
            }
            found.iter().for_each(|(sequence, fragment)| self.remember(*sequence, *fragment));
            made.extend(found);
        }
        made.sort_unstable_by_key(|(sequence, _)| *sequence);
        made
    }

    fn held(&self, sequence: u64) -> Option<&Fragment> {
        held(&self.media, sequence)
    }

    /// What a block has become, unless it contradicts what is here: all of it, or nothing.
    fn make_block(&mut self) -> Vec<(u64, Fragment)> {
        let Some(newest) = self.newest else { return Vec::new() };
        self.blocks.forget(|sequence| newest.saturating_sub(sequence) >= MEDIA);
        while let Some(block) = self.blocks.next_whole() {
            let made = block.decode(|sequence| self.held(sequence).copied()).unwrap_or_default();
            if !made.is_empty() && made.iter().all(|(sequence, fragment)| self.fits(*sequence, fragment)) {
                return made;
            }
        }
        Vec::new()
    }

    /// A packet is here: it is taken out of the sums it is in.
    fn remember(&mut self, sequence: u64, fragment: Fragment) {
        let place = &mut self.media[(sequence % MEDIA) as usize];
        if place.is_some_and(|(number, _)| number >= sequence) {
            return;
        }
        *place = Some((sequence, fragment));
        self.blocks.on_media(sequence);
        self.parities.retain_mut(|parity| {
            if parity.missing.contains(sequence) {
                parity.sum.add(&fragment);
            }
            match parity.missing.without(sequence) {
                Some(missing) => {
                    parity.missing = missing;
                    true
                }
                None => false,
            }
        });
    }

    /// A parity packet is here: it waits for what of it is missing.
    fn wait(&mut self, protects: Protected, mut sum: Sum) {
        let mut missing = Some(protects);
        for sequence in protects.iter() {
            if let (Some(fragment), Some(left)) = (self.held(sequence), missing) {
                sum.add(fragment);
                missing = left.without(sequence);
            }
        }
        if let Some(missing) = missing {
            if self.parities.len() >= PARITIES {
                self.parities.pop_front();
            }
            self.parities.push_back(Parity { missing, sum });
        }
    }

    /// The next packet that a parity packet has become. Those that can become none any more are forgotten.
    fn make(&mut self) -> Option<(u64, Fragment)> {
        let newest = self.newest?;
        self.parities.retain(|parity| newest.saturating_sub(parity.missing.first()) < MEDIA);
        while let Some(place) = self.parities.iter().position(|parity| parity.missing.count() == 1) {
            let Parity { missing, sum } = self.parities.remove(place)?;
            let sequence = missing.first();
            if let Some(fragment) = sum.fragment().filter(|fragment| self.fits(sequence, fragment)) {
                return Some((sequence, fragment));
            }
        }
        None
    }

    /// Whether a packet made agrees with its neighbours: a sum that was not of the packets named makes one that does
    /// not.
    fn fits(&self, sequence: u64, made: &Fragment) -> bool {
        let follows = |before: &Fragment, after: &Fragment| {
            if before.frame == after.frame {
                before.count == after.count && before.index.checked_add(1) == Some(after.index)
            } else {
                before.frame < after.frame && after.index == 0
            }
        };
        let neighbour = |sequence: Option<u64>| sequence.and_then(|sequence| self.held(sequence));
        self.newest.is_none_or(|newest| sequence.abs_diff(newest) < MEDIA)
            && neighbour(sequence.checked_sub(1)).is_none_or(|before| follows(before, made))
            && neighbour(sequence.checked_add(1)).is_none_or(|after| follows(made, after))
    }
}

fn held(media: &[Option<(u64, Fragment)>], sequence: u64) -> Option<&Fragment> {
    let (number, fragment) = media[(sequence % MEDIA) as usize].as_ref()?;
    (*number == sequence).then_some(fragment)
}

#[cfg(test)]
mod tests;
