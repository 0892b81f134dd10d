//! Sent packets: protects all of them, and none twice.

use std::collections::BTreeMap;

use rtc_srtp::context::Context;

use super::header::{self, Header};
use super::keys::{Keys, Profile};
use crate::{SendError, TransportError};

/// The streams that this endpoint sends.
pub struct Outbound {
    profile: Profile,
    context: Context,
    /// The last packet index of each stream, see [`SendError::NotNewer`].
    rtp: BTreeMap<u32, u64>,
    /// Number of compound packets sent of each stream; the context counts the same.
    rtcp: BTreeMap<u32, u32>,
    max_streams: usize,
}

impl Outbound {
    /// Without streams yet; allows at most `max_streams` of each kind.
    ///
    /// # Errors
    /// When the cipher rejects the keys.
    pub fn new(keys: &Keys, max_streams: usize) -> Result<Outbound, TransportError> {
        let context = keys.context()?;
        Ok(Outbound { profile: keys.profile, context, rtp: BTreeMap::new(), rtcp: BTreeMap::new(), max_streams })
    }

    /// The protection profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Protects an RTP packet; each packet index may be protected only once.
    ///
    /// # Errors
    /// When it is not an RTP packet, or not newer than the last of its stream (for the reason see
    /// [`SendError::NotNewer`]).
    pub fn rtp(&mut self, packet: &[u8]) -> Result<Vec<u8>, SendError> {
        let header = Header::read(packet).map_err(SendError::Malformed)?;
        let Header { ssrc, sequence, .. } = header;
        let index = match self.rtp.get(&ssrc) {
            None if self.rtp.len() >= self.max_streams => {
                return Err(SendError::TooManyStreams { ssrc, max: self.max_streams });
            }
            None => u64::from(sequence),
            Some(&last) => {
                let ahead = sequence.wrapping_sub(last as u16);
                if ahead == 0 || ahead > i16::MAX as u16 {
                    return Err(SendError::NotNewer { ssrc, sequence, last: last as u16 });
                }
                last + u64::from(ahead)
            }
        };
        if index >> 48 != 0 {
            return Err(SendError::Exhausted { ssrc });
        }
        let protected =
            self.context.encrypt_rtp_with_header(packet, &header.for_context()).map_err(|_| SendError::Cipher)?;
        self.rtp.insert(ssrc, index);
        Ok(protected.into())
    }

    /// Protects a compound RTCP packet; each call produces a new packet on the wire.
    ///
    /// # Errors
    /// When it is not an RTCP packet.
    pub fn rtcp(&mut self, compound: &[u8]) -> Result<Vec<u8>, SendError> {
        let ssrc = header::rtcp_ssrc(compound).map_err(SendError::Malformed)?;
        if !compound.len().is_multiple_of(4) {
            return Err(SendError::Malformed("RTCP is not whole words"));
        }
        if !self.rtcp.contains_key(&ssrc) && self.rtcp.len() >= self.max_streams {
            return Err(SendError::TooManyStreams { ssrc, max: self.max_streams });
        }
        let count = self.rtcp.entry(ssrc).or_default();
        if *count >= i32::MAX as u32 {
            return Err(SendError::Exhausted { ssrc });
        }
        *count += 1;
        Ok(self.context.encrypt_rtcp(compound).map_err(|_| SendError::Cipher)?.into())
    }
}
