//! Sent packets: protects all of them, and none twice.

use std::collections::BTreeMap;

use super::header::{self, Header};
use super::keys::{Keys, Profile};
use super::session::{Kind, Session};
use crate::{SendError, TransportError};

/// The streams that this endpoint sends.
pub struct Outbound {
    media: Session,
    reports: Session,
    /// The last packet index of each stream, see [`SendError::NotNewer`].
    rtp: BTreeMap<u32, u64>,
    /// The last packet index of each stream of reports; the first is 1.
    rtcp: BTreeMap<u32, u32>,
    max_streams: usize,
}

impl Outbound {
    /// Without streams yet; allows at most `max_streams` of each kind.
    ///
    /// # Errors
    /// When the cipher rejects the keys.
    pub fn new(keys: &Keys, max_streams: usize) -> Result<Outbound, TransportError> {
        let (media, reports) = (Session::derive(keys, Kind::Rtp)?, Session::derive(keys, Kind::Rtcp)?);
        let (rtp, rtcp) = (BTreeMap::new(), BTreeMap::new());
        Ok(Outbound { media, reports, rtp, rtcp, max_streams })
    }

    /// The protection profile.
    pub fn profile(&self) -> Profile {
        self.media.profile
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
        let sealed = self.media.seal_rtp(packet, header.length, ssrc, index).map_err(|_| SendError::Cipher)?;
        self.rtp.insert(ssrc, index);
        Ok(sealed)
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
        let last = self.rtcp.entry(ssrc).or_default();
        if *last >= i32::MAX as u32 {
            return Err(SendError::Exhausted { ssrc });
        }
        *last += 1;
        self.reports.seal_rtcp(compound, ssrc, *last).map_err(|_| SendError::Cipher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of stream 7.
    fn packet(sequence: u16) -> Vec<u8> {
        let mut packet = vec![0x80, 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
        packet[2..4].copy_from_slice(&sequence.to_be_bytes());
        packet
    }

    #[test]
    fn the_last_index_under_a_key_is_sent_and_none_after_it() {
        let keys = Keys::new(Profile::Aes128CmSha1_80, &[1; 16], &[2; 14]).unwrap();
        let mut outbound = Outbound::new(&keys, 1).unwrap();
        outbound.rtp(&packet(u16::MAX - 1)).unwrap();
        // As after 2^48 - 2 packets, which cannot be sent in a test.
        outbound.rtp.insert(7, (1 << 48) - 2);
        assert!(outbound.rtp(&packet(u16::MAX)).is_ok());
        assert_eq!(outbound.rtp(&packet(0)), Err(SendError::Exhausted { ssrc: 7 }));
        let report = [0x80, 201, 0, 1, 0, 0, 0, 7];
        outbound.rtcp(&report).unwrap();
        outbound.rtcp.insert(7, i32::MAX as u32 - 1);
        assert!(outbound.rtcp(&report).is_ok());
        assert_eq!(outbound.rtcp(&report), Err(SendError::Exhausted { ssrc: 7 }));
    }
}
