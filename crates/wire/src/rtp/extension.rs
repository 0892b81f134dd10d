//! Header extensions: the block, its elements, and the ones a sender uses.

use alloc::vec::Vec;

use thalweg_units::{Span, Time};

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The names extensions are negotiated by in SDP.
pub mod uri {
    /// Transport-wide sequence number, feedback at the receiver's pace ([`super::TransportSequence`] without a request).
    pub const TRANSPORT_CC_01: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
    /// Transport-wide sequence number with feedback on request.
    pub const TRANSPORT_CC_02: &str = "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
    /// [`super::AbsoluteSendTime`].
    pub const ABSOLUTE_SEND_TIME: &str = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
    /// [`super::PlayoutDelay`].
    pub const PLAYOUT_DELAY: &str = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay";
    /// The media section a packet belongs to, as text (RFC 9143).
    pub const MID: &str = "urn:ietf:params:rtp-hdrext:sdes:mid";
    /// The encoding a packet belongs to, as text (RFC 8852).
    pub const RID: &str = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id";
}

/// The profile of the one-byte form (RFC 8285 section 4.2).
const ONE_BYTE: u16 = 0xbede;
/// The profile of the two-byte form (RFC 8285 section 4.3); its low 4 bits are free for the application.
const TWO_BYTE: u16 = 0x1000;

/// One element of an extension block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a> {
    /// The negotiated id, 1 to 14 in the one-byte form and 1 to 255 in the two-byte form.
    pub id: u8,
    /// Its data.
    pub data: &'a [u8],
}

/// A header extension block: its elements have been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensions<'a> {
    profile: u16,
    /// Whole 32-bit words.
    data: &'a [u8],
}

impl<'a> Extensions<'a> {
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Extensions<'a>, ParseError> {
        let profile = reader.u16("extension profile")?;
        let words = reader.u16("extension length")?;
        let at = reader.at();
        let data = reader.take("extension block", 4 * usize::from(words))?;
        let mut elements = Reader::placed(data, at);
        while next_element(profile, &mut elements)?.is_some() {}
        Ok(Extensions { profile, data })
    }

    /// What follows the fixed header defines: 0xBEDE and 0x1000 are the forms of RFC 8285, others are opaque here.
    pub fn profile(&self) -> u16 {
        self.profile
    }

    /// The bytes of the block after its head, with their padding.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The elements in their order; none if the profile is not one of RFC 8285.
    pub fn iter(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        let mut reader = Reader::new(self.data);
        let profile = self.profile;
        core::iter::from_fn(move || next_element(profile, &mut reader).ok().flatten())
    }

    /// The data of the first element with this id.
    pub fn get(&self, id: u8) -> Option<&'a [u8]> {
        self.iter().find(|element| element.id == id).map(|element| element.data)
    }

    /// Bytes the block takes, head included.
    pub fn size(&self) -> usize {
        4 + self.data.len()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.profile.to_be_bytes());
        out.extend_from_slice(&((self.data.len() / 4) as u16).to_be_bytes());
        out.extend_from_slice(self.data);
    }
}

/// The next element, without the padding before it; `None` at the end.
fn next_element<'a>(profile: u16, reader: &mut Reader<'a>) -> Result<Option<Extension<'a>>, ParseError> {
    while !reader.is_empty() {
        if profile == ONE_BYTE {
            let head = reader.u8("extension head")?;
            match head >> 4 {
                // One byte of padding; a length beside id 0 is not to be believed.
                0 => continue,
                // Reserved: a receiver stops here.
                15 => return Ok(None),
                id => {
                    let data = reader.take("extension element", usize::from(head & 0x0f) + 1)?;
                    return Ok(Some(Extension { id, data }));
                }
            }
        } else if profile & 0xfff0 == TWO_BYTE {
            let id = reader.u8("extension id")?;
            if id == 0 {
                continue;
            }
            let length = reader.u8("extension element length")?;
            let data = reader.take("extension element", usize::from(length))?;
            return Ok(Some(Extension { id, data }));
        } else {
            return Ok(None);
        }
    }
    Ok(None)
}

/// An extension block in the making, reused from packet to packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtensionBuffer {
    profile: u16,
    data: Vec<u8>,
}

impl ExtensionBuffer {
    /// An empty block of `elements`' form: one-byte if all fit it (ids 1 to 14, 1 to 16 bytes), two-byte otherwise.
    ///
    /// # Errors
    /// An id of 0, an element of more than 255 bytes, or a block of more than 65535 words.
    pub fn of(elements: &[Extension<'_>]) -> Result<ExtensionBuffer, WriteError> {
        let fits = |element: &Extension<'_>| (1..=14).contains(&element.id) && (1..=16).contains(&element.data.len());
        let one_byte = elements.iter().all(fits);
        let mut data = Vec::new();
        for element in elements {
            WriteError::check("extension id", u64::from(element.id), 1, 255)?;
            WriteError::check("extension element length", element.data.len() as u64, 0, 255)?;
            if one_byte {
                data.push(element.id << 4 | (element.data.len() - 1) as u8);
            } else {
                data.extend_from_slice(&[element.id, element.data.len() as u8]);
            }
            data.extend_from_slice(element.data);
        }
        data.resize(data.len().next_multiple_of(4), 0);
        WriteError::check("extension block length in words", (data.len() / 4) as u64, 0, u64::from(u16::MAX))?;
        Ok(ExtensionBuffer { profile: if one_byte { ONE_BYTE } else { TWO_BYTE }, data })
    }

    /// The block as a packet carries it.
    pub fn as_extensions(&self) -> Extensions<'_> {
        Extensions { profile: self.profile, data: &self.data }
    }
}

/// What a packet asks of the receiver (transport-wide-cc-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedbackRequest {
    /// Whether arrival times are wanted.
    pub timestamps: bool,
    /// How many packets up to and with this one the feedback covers, 1 to 32767.
    pub count: u16,
}

/// The transport-wide sequence number, with or without a request for feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportSequence {
    /// The low 16 bits of the sender's packet number.
    pub sequence: u16,
    /// `None` for the 2-byte form of -01; for the 4-byte form of -02 the request, which may be for nothing.
    pub request: Option<Option<FeedbackRequest>>,
}

impl TransportSequence {
    /// Reads the 2- or 4-byte form; which it is tells -01 from -02.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<TransportSequence, ParseError> {
        match *data {
            [a, b] => Ok(TransportSequence { sequence: u16::from_be_bytes([a, b]), request: None }),
            [a, b, c, d] => {
                let word = u16::from_be_bytes([c, d]);
                let request = FeedbackRequest { timestamps: word & 0x8000 != 0, count: word & 0x7fff };
                let request = if request.count == 0 { None } else { Some(request) };
                Ok(TransportSequence { sequence: u16::from_be_bytes([a, b]), request: Some(request) })
            }
            _ => Err(wrong_length("transport-wide sequence number", data, 2, 4)),
        }
    }

    /// The bytes of the extension; [`Self::size`] of them count.
    ///
    /// # Errors
    /// A request for 0 or more than 32767 packets.
    pub fn to_bytes(self) -> Result<[u8; 4], WriteError> {
        let word = match self.request.flatten() {
            None => 0,
            Some(request) => {
                WriteError::check("packets of a feedback request", u64::from(request.count), 1, 0x7fff)?;
                u16::from(request.timestamps) << 15 | request.count
            }
        };
        let ([a, b], [c, d]) = (self.sequence.to_be_bytes(), word.to_be_bytes());
        Ok([a, b, c, d])
    }

    /// 2 for -01, 4 for -02.
    pub fn size(self) -> usize {
        if self.request.is_some() { 4 } else { 2 }
    }
}

/// When a packet left, in 2^-18 s modulo 64 s (24 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbsoluteSendTime(u32);

impl AbsoluteSendTime {
    /// The instant `time`, rounded down to the tick of 3.8 µs.
    pub fn at(time: Time) -> AbsoluteSendTime {
        let ticks = (u128::from(time.as_nanos()) << 18) / 1_000_000_000;
        AbsoluteSendTime((ticks & 0xff_ffff) as u32)
    }

    /// The 24 bits.
    pub fn ticks(self) -> u32 {
        self.0
    }

    /// Reads the 3 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<AbsoluteSendTime, ParseError> {
        match *data {
            [a, b, c] => Ok(AbsoluteSendTime(u32::from_be_bytes([0, a, b, c]))),
            _ => Err(wrong_length("absolute send time", data, 3, 3)),
        }
    }

    /// The bytes of the extension.
    pub fn to_bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

/// The least and the most a receiver may hold a frame before showing it; both zero means at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayoutDelay {
    /// The least, 0 to 40.95 s in steps of 10 ms.
    pub least: Span,
    /// The most, 0 to 40.95 s in steps of 10 ms.
    pub most: Span,
}

impl PlayoutDelay {
    /// Reads the 3 bytes: 12 bits each, in units of 10 ms.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<PlayoutDelay, ParseError> {
        let [a, b, c] = *data else { return Err(wrong_length("playout delay", data, 3, 3)) };
        let word = u32::from_be_bytes([0, a, b, c]);
        let span = |units: u32| Span::from_millis(10 * i64::from(units));
        Ok(PlayoutDelay { least: span(word >> 12), most: span(word & 0xfff) })
    }

    /// The bytes of the extension; delays are rounded down to 10 ms.
    ///
    /// # Errors
    /// A delay below zero or above 40.95 s (shown in units of 10 ms).
    pub fn to_bytes(self) -> Result<[u8; 3], WriteError> {
        let units = |what, span: Span| {
            let units = u64::try_from(span.as_nanos()).map_or(u64::MAX, |nanos| nanos / 10_000_000);
            WriteError::check(what, units, 0, 0xfff).map(|()| units as u32)
        };
        let word =
            units("least playout delay in 10 ms", self.least)? << 12 | units("most playout delay in 10 ms", self.most)?;
        let [_, a, b, c] = word.to_be_bytes();
        Ok([a, b, c])
    }
}

fn wrong_length(what: &'static str, data: &[u8], least: u64, most: u64) -> ParseError {
    ParseError::OutOfRange { what, at: 0, found: data.len() as u64, least, most }
}
