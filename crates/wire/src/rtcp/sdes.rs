//! SDES: source descriptions (RFC 3550 section 6.5).

use alloc::vec::Vec;

use super::header::{Header, count, frame};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Packet type of a source description.
pub(super) const KIND: u8 = 202;

/// A source description.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sdes {
    /// One chunk per source, at most 31.
    pub chunks: Vec<Chunk>,
}

/// The description of one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// SSRC of the source.
    pub source: u32,
    /// The description items.
    pub items: Vec<Item>,
}

/// One item of a source's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The item type, 1 to 255: [`Item::CNAME`] or another of RFC 3550 section 6.5.
    pub kind: u8,
    /// The text, UTF-8 by the RFC, not checked here; at most 255 bytes.
    pub text: Vec<u8>,
}

impl Item {
    /// The item type of the name that all streams of a participant share.
    pub const CNAME: u8 = 1;
}

impl Sdes {
    pub(super) fn parse(header: &Header<'_>) -> Result<Sdes, ParseError> {
        let mut reader = header.body();
        let chunks = (0..header.count).map(|_| Chunk::parse(&mut reader)).collect::<Result<_, _>>()?;
        Ok(Sdes { chunks })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, count("chunks of a source description", self.chunks.len())?, |out| {
            self.chunks.iter().try_for_each(|chunk| chunk.write(out))
        })
    }
}

impl Chunk {
    fn parse(reader: &mut Reader<'_>) -> Result<Chunk, ParseError> {
        let start = reader.at();
        let source = reader.u32("source description SSRC")?;
        let mut items = Vec::new();
        loop {
            let kind = reader.u8("source description item")?;
            if kind == 0 {
                // Skip to the next whole word of the chunk; the content of the padding is ignored.
                let past = (reader.at() - start) % 4;
                reader.take("source description padding", (4 - past) % 4)?;
                return Ok(Chunk { source, items });
            }
            let length = reader.u8("source description item length")?;
            let text = reader.take("source description text", length.into())?.to_vec();
            items.push(Item { kind, text });
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let start = out.len();
        out.extend_from_slice(&self.source.to_be_bytes());
        for item in &self.items {
            WriteError::check("kind of a source description item", item.kind.into(), 1, 255)?;
            WriteError::check("bytes of a source description item", item.text.len() as u64, 0, 255)?;
            out.extend_from_slice(&[item.kind, item.text.len() as u8]);
            out.extend_from_slice(&item.text);
        }
        // One zero ends the items, more zeros fill the word.
        let whole = (out.len() + 1 - start).next_multiple_of(4);
        out.resize(start + whole, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, testing};
    use proptest::prelude::*;

    fn cname(source: u32, text: &[u8]) -> Chunk {
        Chunk { source, items: [Item { kind: Item::CNAME, text: text.to_vec() }].to_vec() }
    }

    #[test]
    fn items_end_with_a_zero_and_fill_whole_words() {
        // "ab" leaves no room in its word for the terminator, "a" leaves one byte, and an empty chunk takes a word of
        // zeros.
        let chunks = [cname(1, b"ab"), cname(2, b"a"), Chunk { source: 3, items: Vec::new() }].to_vec();
        let bytes = [
            0x83, 202, 0, 7, 0, 0, 0, 1, 1, 2, b'a', b'b', 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, b'a', 0, 0, 0, 0, 3, 0, 0, 0,
            0,
        ];
        testing::is_written_as(&Packet::Sdes(Sdes { chunks }), &bytes);
    }

    #[test]
    fn what_an_item_has_no_room_for_is_refused() {
        for item in [Item { kind: 0, text: Vec::new() }, Item { kind: 1, text: [b'a'].repeat(256) }] {
            let mut out = Vec::new();
            let chunks = [Chunk { source: 1, items: [item].to_vec() }].to_vec();
            assert!(Sdes { chunks }.write(&mut out).is_err() && out.is_empty());
        }
    }

    proptest! {
        #[test]
        fn a_source_description_survives(
            chunks in prop::collection::vec(
                (any::<u32>(), prop::collection::vec((1u8..=255, prop::collection::vec(any::<u8>(), 0..256)), 0..4)), 0..32,
            ),
        ) {
            let chunk = |(source, items): (u32, Vec<(u8, Vec<u8>)>)| {
                Chunk { source, items: items.into_iter().map(|(kind, text)| Item { kind, text }).collect() }
            };
            let chunks = chunks.into_iter().map(chunk).collect();
            testing::survives(Packet::Sdes(Sdes { chunks }))?;
        }
    }
}
