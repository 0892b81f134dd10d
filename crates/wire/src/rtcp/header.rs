//! The four-byte header of every RTCP packet (RFC 3550 section 6.4.1).

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::rtp::padding_length;
use crate::{ParseError, WriteError};

/// Max packet size in bytes: the length field counts the words after the first.
pub(super) const LARGEST: u64 = 4 * 65_536;

/// A packet with its common header parsed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header<'a> {
    /// Five bits: a number of items, or the format of a feedback message.
    pub(super) count: u8,
    /// The packet type.
    pub(super) kind: u8,
    /// The bytes after the header, without padding.
    body: Reader<'a>,
}

impl<'a> Header<'a> {
    /// Parses one packet from `reader`.
    ///
    /// Accepts padding of any length within the packet, and on every packet of a compound: libwebrtc pads
    /// transport-wide feedback by 1 to 3 bytes at any position.
    pub(super) fn parse(reader: &mut Reader<'a>) -> Result<Header<'a>, ParseError> {
        let at = reader.at();
        let first = reader.u8("RTCP first byte")?;
        let version = u64::from(first >> 6);
        if version != 2 {
            return Err(ParseError::OutOfRange { what: "RTCP version", at, found: version, min: 2, max: 2 });
        }
        let kind = reader.u8("RTCP packet type")?;
        let words = usize::from(reader.u16("RTCP length")?);
        let at = reader.at();
        let body = reader.take("RTCP body", 4 * words)?;
        let padding = if first & 0x20 != 0 { padding_length(body, at)? } else { 0 };
        let body = Reader::placed(&body[..body.len() - usize::from(padding)], at);
        Ok(Header { count: first & 0x1f, kind, body })
    }

    /// A reader of the bytes after the header.
    pub(super) fn body(&self) -> Reader<'a> {
        self.body
    }
}

/// Appends a packet: its header, what `body` appends, and padding to whole words. On an error `out` is unchanged.
pub(super) fn frame(
    out: &mut Vec<u8>,
    kind: u8,
    count: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let start = out.len();
    let written = WriteError::check("RTCP count", count.into(), 0, 31).and_then(|()| {
        out.extend_from_slice(&[0x80 | count, kind, 0, 0]);
        body(out)?;
        let padding = (out.len() - start).next_multiple_of(4) - (out.len() - start);
        if padding > 0 {
            out[start] |= 0x20;
            out.resize(out.len() + padding - 1, 0);
            out.push(padding as u8);
        }
        let words = (out.len() - start) / 4 - 1;
        WriteError::check("RTCP length in words", words as u64, 0, 65_535)?;
        out[start + 2..start + 4].copy_from_slice(&(words as u16).to_be_bytes());
        Ok(())
    });
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// The five-bit count of list items.
pub(super) fn count(what: &'static str, length: usize) -> Result<u8, WriteError> {
    WriteError::check(what, length as u64, 0, 31).map(|()| length as u8)
}
