//! FIR: keyframe requests (RFC 5104 section 4.3.1).

use alloc::vec::Vec;

use super::PAYLOAD;
use super::header::{Header, frame};
use crate::{ParseError, WriteError};

/// Feedback format of a full intra request.
pub(super) const FORMAT: u8 = 4;

/// Requests for keyframes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fir {
    /// SSRC of the requester.
    pub sender_ssrc: u32,
    /// One request per stream, at least one.
    pub requests: Vec<FirRequest>,
}

/// A request for a keyframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirRequest {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// Request counter: a repeated value is a repetition of the same request.
    pub sequence: u8,
}

impl Fir {
    pub(super) fn parse(header: &Header<'_>) -> Result<Fir, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("full intra request sender SSRC")?;
        // Unused: the requests contain the SSRCs of their streams.
        reader.u32("full intra request media SSRC")?;
        let mut requests = Vec::new();
        while requests.is_empty() || !reader.is_empty() {
            let ssrc = reader.u32("full intra request SSRC")?;
            requests.push(FirRequest { ssrc, sequence: reader.u8("full intra request sequence number")? });
            reader.u24("full intra request reserved bits")?;
        }
        Ok(Fir { sender_ssrc, requests })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, PAYLOAD, FORMAT, |out| {
            // 65535 words, of which two are SSRCs.
            WriteError::check("full intra requests", self.requests.len() as u64, 1, 32_766)?;
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
            for request in &self.requests {
                out.extend_from_slice(&request.ssrc.to_be_bytes());
                out.extend_from_slice(&[request.sequence, 0, 0, 0]);
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
    fn the_stream_is_named_in_the_request_and_not_in_the_header() {
        let requests = [FirRequest { ssrc: 0x0506_0708, sequence: 9 }].to_vec();
        let bytes = [0x84, 206, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 9, 0, 0, 0];
        testing::is_written_as(&Packet::Fir(Fir { sender_ssrc: 0x0102_0304, requests }), &bytes);
    }

    #[test]
    fn no_request_is_refused() {
        let mut out = Vec::new();
        assert!(Fir { sender_ssrc: 1, requests: Vec::new() }.write(&mut out).is_err() && out.is_empty());
    }

    proptest! {
        #[test]
        fn a_full_intra_request_survives(sender_ssrc: u32, requests in prop::collection::vec(any::<(u32, u8)>(), 1..20)) {
            let requests = requests.into_iter().map(|(ssrc, sequence)| FirRequest { ssrc, sequence }).collect();
            testing::survives(Packet::Fir(Fir { sender_ssrc, requests }))?;
        }
    }
}
