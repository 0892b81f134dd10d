//! BYE: sources that leave the session (RFC 3550 section 6.6).

use alloc::vec::Vec;

use super::header::{Header, count, frame};
use crate::{ParseError, WriteError};

/// Packet type of a goodbye.
pub(super) const KIND: u8 = 203;

/// A goodbye.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bye {
    /// The sources that leave, at most 31; an empty list is allowed and has no effect.
    pub sources: Vec<u32>,
    /// The reason, at most 255 bytes of UTF-8, not checked here.
    pub reason: Option<Vec<u8>>,
}

impl Bye {
    pub(super) fn parse(header: &Header<'_>) -> Result<Bye, ParseError> {
        let mut reader = header.body();
        let sources = (0..header.count).map(|_| reader.u32("goodbye SSRC")).collect::<Result<_, _>>()?;
        let reason = if reader.is_empty() {
            None
        } else {
            let length = reader.u8("length of a goodbye's reason")?;
            Some(reader.take("reason of a goodbye", length.into())?.to_vec())
        };
        Ok(Bye { sources, reason })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, count("sources of a goodbye", self.sources.len())?, |out| {
            out.extend(self.sources.iter().flat_map(|source| source.to_be_bytes()));
            if let Some(reason) = &self.reason {
                WriteError::check("bytes of a goodbye's reason", reason.len() as u64, 0, 255)?;
                out.push(reason.len() as u8);
                out.extend_from_slice(reason);
                // Zero-filled instead of using RTCP padding.
                out.resize(out.len() + 3 - reason.len() % 4, 0);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, testing};
    use proptest::prelude::*;

    #[test]
    fn a_reason_follows_the_sources_and_fills_whole_words() {
        for (reason, tail) in
            [(&b"end"[..], &[3, b'e', b'n', b'd'][..]), (b"done", &[4, b'd', b'o', b'n', b'e', 0, 0, 0])]
        {
            let mut bytes = [0x82, 203, 0, 2 + tail.len() as u8 / 4, 0, 0, 0, 7, 0, 0, 0, 8].to_vec();
            bytes.extend_from_slice(tail);
            let goodbye = Bye { sources: [7, 8].to_vec(), reason: Some(reason.to_vec()) };
            testing::is_written_as(&Packet::Bye(goodbye), &bytes);
        }
    }

    #[test]
    fn a_reason_longer_than_its_length_counts_is_refused() {
        let mut out = Vec::new();
        let reason = Some([b'a'].repeat(256));
        assert!(Bye { sources: Vec::new(), reason }.write(&mut out).is_err() && out.is_empty());
    }

    proptest! {
        #[test]
        fn a_goodbye_survives(
            sources in prop::collection::vec(any::<u32>(), 0..32),
            reason in prop::option::of(prop::collection::vec(any::<u8>(), 0..256)),
        ) {
            testing::survives(Packet::Bye(Bye { sources, reason }))?;
        }
    }
}
