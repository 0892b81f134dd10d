//! APP: application-defined packets (RFC 3550 section 6.7).

use alloc::vec::Vec;

use super::header::{Header, frame};
use super::sender_report::whole_words;
use crate::{ParseError, WriteError};

/// Packet type of an application-defined packet.
pub(super) const KIND: u8 = 204;

/// An application-defined packet; its data is kept unparsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Application {
    /// Application-defined subtype, 0 to 31.
    pub subtype: u8,
    /// SSRC of the sender.
    pub ssrc: u32,
    /// Name of the packet format, four ASCII characters by the RFC, not checked here.
    pub name: [u8; 4],
    /// Data in whole 32-bit words.
    pub data: Vec<u8>,
}

impl Application {
    pub(super) fn parse(header: &Header<'_>) -> Result<Application, ParseError> {
        let mut reader = header.body();
        Ok(Application {
            subtype: header.count,
            ssrc: reader.u32("application packet SSRC")?,
            name: reader.u32("application packet name")?.to_be_bytes(),
            data: whole_words(reader.rest()),
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, self.subtype, |out| {
            WriteError::check("bytes of application data past whole words", (self.data.len() % 4) as u64, 0, 0)?;
            out.extend_from_slice(&self.ssrc.to_be_bytes());
            out.extend_from_slice(&self.name);
            out.extend_from_slice(&self.data);
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
    fn the_subtype_takes_the_place_of_the_count() {
        let packet = Application { subtype: 5, ssrc: 0x0102_0304, name: *b"goog", data: [9, 8, 7, 6].to_vec() };
        let bytes = [0x85, 204, 0, 3, 1, 2, 3, 4, b'g', b'o', b'o', b'g', 9, 8, 7, 6];
        testing::is_written_as(&Packet::Application(packet), &bytes);
    }

    #[test]
    fn broken_words_and_a_sixth_bit_are_refused() {
        let mut out = Vec::new();
        assert!(Application { data: [1].to_vec(), ..Application::default() }.write(&mut out).is_err());
        assert!(Application { subtype: 32, ..Application::default() }.write(&mut out).is_err());
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn an_application_packet_survives(subtype in 0u8..32, ssrc: u32, name: [u8; 4], data: Vec<[u8; 4]>) {
            testing::survives(Packet::Application(Application { subtype, ssrc, name, data: data.concat() }))?;
        }
    }
}
