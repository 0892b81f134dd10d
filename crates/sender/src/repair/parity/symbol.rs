//! What a parity packet carries of those it protects.

use alloc::vec::Vec;

use thalweg_wire::block_code::code;

use super::Sum;
use crate::packet::Fragment;

/// Bytes of a packet's description.
const SIZE: usize = 64;

/// Which code parity is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Code {
    /// Sums, of which each makes one packet: what receivers know (FlexFEC, ULPFEC).
    #[default]
    Sum,
    /// A Reed-Solomon code: as many packets come back as parity packets came, whichever they are. For receivers of our own.
    Block,
}

/// What a parity packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// The sum of the packets.
    Sum(Sum),
    /// One of the symbols of a block code over them.
    OfBlock {
        /// Which, from 0.
        index: u8,
        /// How many there are.
        count: u8,
        /// Its words, as many as a packet's description has.
        words: [u64; 8],
    },
}

/// All `count` symbols of the block code over these packets.
pub fn encode(fragments: &[Fragment], count: u8) -> Vec<Symbol> {
    let symbols: Vec<Vec<u8>> = fragments.iter().map(|fragment| bytes(Sum::of([fragment]).words())).collect();
    let parity = code::encode(&symbols, count.into()).unwrap_or_default();
    (0..count).zip(parity).map(|(index, symbol)| Symbol::OfBlock { index, count, words: words(&symbol) }).collect()
}

/// The packets that are missing of `total`, by place, given those `held` and as many symbols as are missing, of `count`, by index. `None`
/// where there are not enough, or what comes out is no packet.
pub fn decode(
    total: usize,
    count: u8,
    held: &[(usize, Fragment)],
    symbols: &[(u8, [u64; 8])],
) -> Option<Vec<(usize, Fragment)>> {
    let held: Vec<_> = held.iter().map(|(place, fragment)| (*place, bytes(Sum::of([fragment]).words()))).collect();
    let symbols: Vec<_> = symbols.iter().map(|(index, words)| (usize::from(*index), bytes(*words))).collect();
    let symbols: Vec<_> = symbols.iter().map(|(index, symbol)| (*index, &symbol[..])).collect();
    let made = code::decode(total, count.into(), &held, &symbols)?;
    made.iter().map(|(place, symbol)| Some((*place, Sum::from_words(words(symbol)).fragment()?))).collect()
}

fn bytes(words: [u64; 8]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Of [`SIZE`] bytes.
fn words(bytes: &[u8]) -> [u64; 8] {
    debug_assert_eq!(bytes.len(), SIZE);
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::Time;

    fn fragment(index: u16) -> Fragment {
        Fragment {
            frame: 7,
            picture: 9,
            captured: Time::from_millis(233),
            index,
            count: 200,
            offset: u32::from(index) * 1000,
            length: 1000,
            keyframe: index.is_multiple_of(2),
            layer: 1,
            depends_on: Some(6),
            transition: None,
        }
    }

    proptest! {
        #[test]
        fn as_many_packets_come_back_as_symbols_came(total in 1usize..60, lost in 1usize..20, more in 0u8..5, seed in any::<u64>()) {
            let packets: Vec<Fragment> = (0..total as u16).map(fragment).collect();
            let lost = lost.min(total);
            let count = lost as u8 + more;
            let symbols = encode(&packets, count);
            let mut random = thalweg_units::Seed::new(seed).random();
            let mut missing = alloc::collections::BTreeSet::new();
            while missing.len() < lost {
                missing.insert(random.below(total as u64) as usize);
            }
            let mut kept = symbols.clone();
            while kept.len() > lost {
                kept.remove(random.below(kept.len() as u64) as usize);
            }
            let kept: Vec<_> = kept
                .into_iter()
                .map(|symbol| match symbol {
                    Symbol::OfBlock { index, words, .. } => (index, words),
                    Symbol::Sum(_) => unreachable!("a block code has none"),
                })
                .collect();
            let held: Vec<_> = packets.iter().copied().enumerate().filter(|(place, _)| !missing.contains(place)).collect();
            let made = decode(total, count, &held, &kept).unwrap();
            prop_assert_eq!(made, missing.iter().map(|place| (*place, packets[*place])).collect::<Vec<_>>());
            if lost > 1 {
                prop_assert_eq!(decode(total, count, &held, &kept[1..]), None);
            }
        }
    }
}
