//! Packet statuses as 16-bit chunks (section 3.1 of the draft): a run of one symbol, 14 symbols of one bit, or 7 of two
//! bits.

use alloc::vec::Vec;

use crate::ParseError;
use crate::reader::Reader;

/// Max run length in a chunk (13 bits).
const RUN: usize = 0x1fff;
/// Symbols in a chunk with one bit each.
const ONE_BIT: usize = 14;
/// Symbols in a chunk with two bits each.
const TWO_BIT: usize = 7;
/// The symbol that needs two bits: a large or negative arrival difference.
const LARGE: u8 = 2;

/// Parses `count` symbols; surplus symbols of the last chunk are dropped.
pub(super) fn parse(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u8>, ParseError> {
    let mut symbols = Vec::new();
    while symbols.len() < count {
        let (start, left) = (symbols.len(), count - symbols.len());
        let at = reader.at();
        let chunk = reader.u16("transport feedback chunk")?;
        if chunk & 0x8000 == 0 {
            let run = usize::from(chunk & 0x1fff).min(left);
            if run == 0 {
                let max = RUN as u64;
                return Err(ParseError::OutOfRange { what: "transport feedback run", at, found: 0, min: 1, max });
            }
            symbols.resize(start + run, (chunk >> 13 & 3) as u8);
        } else if chunk & 0x4000 == 0 {
            symbols.extend((0..ONE_BIT).rev().take(left).map(|bit| (chunk >> bit & 1) as u8));
        } else {
            symbols.extend((0..TWO_BIT).rev().take(left).map(|place| (chunk >> (2 * place) & 3) as u8));
        }
        if symbols[start..].contains(&3) {
            let what = "transport feedback symbol";
            return Err(ParseError::OutOfRange { what, at, found: 3, min: 0, max: LARGE.into() });
        }
    }
    Ok(symbols)
}

/// Encodes symbols into chunks as they come, identically to libwebrtc (`rtcp_packet/transport_feedback.cc`): symbols
/// are collected while one chunk can hold them; then they become a run if all are equal, 14 one-bit symbols if there
/// are that many, or else the first 7 become two-bit symbols and the rest begin the next chunk.
#[derive(Debug, Clone, Default)]
pub(super) struct Chunks {
    /// Number of collected symbols.
    gathered: usize,
    /// The first of them.
    symbols: [u8; ONE_BIT],
}

impl Chunks {
    /// Adds a symbol; returns the previous chunk if it had no room for it.
    pub(super) fn push(&mut self, symbol: u8) -> Option<u16> {
        let full = if self.has_room(symbol) { None } else { Some(self.emit()) };
        if let Some(place) = self.symbols.get_mut(self.gathered) {
            *place = symbol;
        }
        self.gathered += 1;
        full
    }

    /// The last chunk, if any symbols remain.
    pub(super) fn finish(&mut self) -> Option<u16> {
        let chunk = match self.gathered {
            0 => return None,
            _ if self.alike() => self.run(),
            1..=TWO_BIT => self.vector(2, TWO_BIT),
            _ => self.vector(1, ONE_BIT),
        };
        self.gathered = 0;
        Some(chunk)
    }

    /// Returns true if one chunk can hold the collected symbols and `symbol`.
    pub(super) fn has_room(&self, symbol: u8) -> bool {
        let small = || symbol != LARGE && !self.first().contains(&LARGE);
        self.gathered < TWO_BIT
            || (self.gathered < ONE_BIT && small())
            || (self.gathered < RUN && self.alike() && self.symbols[0] == symbol)
    }

    fn first(&self) -> &[u8] {
        &self.symbols[..self.gathered.min(ONE_BIT)]
    }

    /// Returns true if all symbols are equal; more than a vector holds are collected only if they are.
    fn alike(&self) -> bool {
        self.first().iter().all(|symbol| *symbol == self.symbols[0])
    }

    fn emit(&mut self) -> u16 {
        if self.alike() || self.gathered == ONE_BIT {
            let chunk = if self.alike() { self.run() } else { self.vector(1, ONE_BIT) };
            self.gathered = 0;
            return chunk;
        }
        let chunk = self.vector(2, TWO_BIT);
        self.symbols.copy_within(TWO_BIT.., 0);
        self.gathered -= TWO_BIT;
        chunk
    }

    fn run(&self) -> u16 {
        u16::from(self.symbols[0]) << 13 | self.gathered as u16
    }

    /// The first `count` symbols of `bits` each, left-aligned after the two bits that give the chunk type.
    fn vector(&self, bits: usize, count: usize) -> u16 {
        let form = if bits == 1 { 0x8000 } else { 0xc000 };
        let place = |(index, symbol): (usize, &u8)| u16::from(*symbol) << (bits * (count - 1 - index));
        self.first().iter().take(count).enumerate().map(place).fold(form, |chunk, symbol| chunk | symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunks(symbols: &[u8]) -> Vec<u16> {
        let mut chunks = Chunks::default();
        let mut out: Vec<u16> = symbols.iter().filter_map(|symbol| chunks.push(*symbol)).collect();
        out.extend(chunks.finish());
        assert_eq!(chunks.finish(), None);
        out
    }

    #[test]
    fn the_examples_of_the_draft_are_written_as_it_shows_them() {
        // Section 3.1.3: a run of 221 missing, a run of 24 received.
        assert_eq!(chunks(&[0; 221]), [0b000_0000011011101]);
        assert_eq!(chunks(&[1; 24]), [0b001_0000000011000]);
        // Section 3.1.4: one missing, 5 received, 3 missing, 3 received, 2 missing, with one bit each; then one
        // missing, one received, one large, three received, one missing with two bits.
        assert_eq!(chunks(&[0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0]), [0b10_01111100011100]);
        assert_eq!(chunks(&[0, 1, 2, 1, 1, 1, 0]), [0b11_00011001010100]);
    }

    #[test]
    fn the_choice_is_that_of_libwebrtc() {
        // A short mixed end takes two bits per symbol although one would suffice; a longer one takes one bit.
        assert_eq!(chunks(&[1, 0, 1]), [0b11_01000100000000]);
        assert_eq!(chunks(&[1, 0, 1, 1, 1, 1, 1, 1]), [0b10_10111111000000]);
        // A large one in ninth place forces out the first seven; the eighth begins the next chunk with it.
        assert_eq!(chunks(&[1, 0, 1, 1, 1, 1, 1, 1, 2]), [0b11_01000101010101, 0b11_01100000000000]);
        // Seven or more equal symbols become a run when the next one does not fit.
        assert_eq!(chunks(&[1, 1, 1, 1, 1, 1, 1, 2]), [0b001_0000000000111, 0b010_0000000000001]);
        // Up to 14 small ones are collected before the choice between run and vector is made.
        assert_eq!(chunks(&[1, 1, 1, 1, 1, 1, 1, 0]), [0b10_11111110000000]);
        assert_eq!(chunks(&[[1; 15].as_slice(), &[0]].concat()), [0b001_0000000001111, 0b000_0000000000001]);
    }

    #[test]
    fn a_run_longer_than_13_bits_goes_on_in_another() {
        assert_eq!(chunks(&[0].repeat(0x1fff + 2)), [0x1fff, 2]);
    }

    proptest! {
        #[test]
        fn symbols_survive(runs in prop::collection::vec((0u8..3, prop_oneof![1usize..20, 8_000usize..9_000]), 1..20)) {
            let symbols: Vec<u8> = runs.into_iter().flat_map(|(symbol, run)| core::iter::repeat_n(symbol, run)).collect();
            let bytes: Vec<u8> = chunks(&symbols).into_iter().flat_map(u16::to_be_bytes).collect();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(parse(&mut reader, symbols.len()).unwrap(), symbols);
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn any_chunks_are_read_or_refused(bytes: Vec<u8>, count in 1usize..65_536) {
            if let Ok(symbols) = parse(&mut Reader::new(&bytes), count) {
                prop_assert_eq!(symbols.len(), count);
                prop_assert!(symbols.iter().all(|symbol| *symbol <= LARGE));
            }
        }
    }
}
