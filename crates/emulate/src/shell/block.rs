//! The addresses of a shell.

use std::fmt;
use std::net::Ipv4Addr;

use super::ShellError;

/// A block of addresses for a shell and all shells inside it.
///
/// Each shell of the machine has 256 addresses from the range that no outside network uses (RFC 6598, as Mahimahi
/// does): the first for the machine, the second for the command. The upper half is for a shell inside, which divides it
/// in the same way; so each network needs one route inwards and one outwards, and all shells reach each other without
/// address translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    base: u32,
    prefix: u8,
}

impl Block {
    /// The blocks for the machine's own shells.
    pub(super) fn all() -> impl Iterator<Item = Block> {
        (0..=255).map(|index| Block { base: u32::from(Ipv4Addr::new(100, 64, index, 0)), prefix: 24 })
    }

    /// The block for a shell inside the one whose block is `text`.
    pub(super) fn within(text: &str) -> Result<Block, ShellError> {
        let too_deep = || ShellError::TooDeep(text.to_string());
        let (base, prefix) = text.split_once('/').ok_or_else(too_deep)?;
        let (base, prefix): (Ipv4Addr, u8) =
            (base.parse().map_err(|_| too_deep())?, prefix.parse().map_err(|_| too_deep())?);
        // A block needs at least four addresses to have two usable ones.
        if !(24..30).contains(&prefix) {
            return Err(too_deep());
        }
        Ok(Block { base: u32::from(base) + (1 << (31 - prefix)), prefix: prefix + 1 })
    }

    /// The machine's address.
    pub(super) fn outer(&self) -> Ipv4Addr {
        (self.base + 1).into()
    }

    /// The command's address.
    pub(super) fn inner(&self) -> Ipv4Addr {
        (self.base + 2).into()
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.base), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_within_one_another_halve_their_block_seven_deep() {
        let mut block = Block::all().nth(3).unwrap();
        let mut seen = vec![(block.to_string(), block.outer().to_string(), block.inner().to_string())];
        while let Ok(inner) = Block::within(&block.to_string()) {
            block = inner;
            seen.push((block.to_string(), block.outer().to_string(), block.inner().to_string()));
        }
        let row = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
        assert_eq!(seen[0], row("100.64.3.0/24", "100.64.3.1", "100.64.3.2"));
        assert_eq!(seen[1], row("100.64.3.128/25", "100.64.3.129", "100.64.3.130"));
        assert_eq!(seen[6], row("100.64.3.252/30", "100.64.3.253", "100.64.3.254"));
        assert_eq!(seen.len(), 7);
        assert_eq!(Block::all().count(), 256);
    }

    #[test]
    fn nonsense_is_no_block() {
        for text in ["", "yes", "100.64.0.0", "100.64.0.0/x", "100.64.0.0/8", "100.64.0.252/30", "1.2.3/24"] {
            assert!(Block::within(text).unwrap_err().to_string().contains(text), "{text}");
        }
    }
}
