//! PLI: picture loss indication (RFC 4585 section 6.3.1).

use alloc::vec::Vec;

use super::PAYLOAD;
use super::header::{Header, frame};
use crate::{ParseError, WriteError};

/// Feedback format of a picture loss indication.
pub(super) const FORMAT: u8 = 1;

/// A picture loss indication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pli {
    /// SSRC of the receiver that lost a picture.
    pub sender_ssrc: u32,
    /// SSRC of the video stream.
    pub media_ssrc: u32,
}

impl Pli {
    pub(super) fn parse(header: &Header<'_>) -> Result<Pli, ParseError> {
        let mut reader = header.body();
        Ok(Pli {
            sender_ssrc: reader.u32("picture loss sender SSRC")?,
            media_ssrc: reader.u32("picture loss media SSRC")?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, PAYLOAD, FORMAT, |out| {
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&self.media_ssrc.to_be_bytes());
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, testing};

    #[test]
    fn a_picture_loss_is_twelve_bytes() {
        let loss = Pli { sender_ssrc: 0x0102_0304, media_ssrc: 0x0506_0708 };
        testing::is_written_as(&Packet::Pli(loss), &[0x81, 206, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
