//! Received packets: accepts those that are authentic and new.

use std::collections::BTreeMap;

use super::header::{self, Header};
use super::keys::Keys;
use super::session::{Kind, Session};
use super::window::Window;
use crate::{Refusal, TransportError};

/// The peer's streams.
///
/// A stream is known from its first authentic packet on; other packets of an unknown stream cost one authentication and
/// leave no state. Memory is `max_streams` windows for RTP and as many for RTCP.
pub struct Inbound {
    media: Session,
    reports: Session,
    rtp: BTreeMap<u32, Window>,
    rtcp: BTreeMap<u32, Window>,
    max_streams: usize,
    window: u32,
}

impl Inbound {
    /// Without known streams yet; accepts at most `max_streams` of each kind, each with a replay window of `window`
    /// packets.
    ///
    /// # Errors
    /// When the cipher rejects the keys.
    pub fn new(keys: Keys, max_streams: usize, window: u32) -> Result<Inbound, TransportError> {
        let (media, reports) = (Session::derive(&keys, Kind::Rtp)?, Session::derive(&keys, Kind::Rtcp)?);
        Ok(Inbound { media, reports, rtp: BTreeMap::new(), rtcp: BTreeMap::new(), max_streams, window })
    }

    /// Decrypts an SRTP packet to RTP.
    ///
    /// # Errors
    /// When it is not authentic or not new; nothing has changed then.
    pub fn rtp(&mut self, packet: &[u8]) -> Result<Vec<u8>, Refusal> {
        let header = Header::read(packet).map_err(|_| Refusal::Malformed)?;
        // A stream begins in its first cycle of sequence numbers (RFC 3711 section 3.3.1).
        let index = match self.rtp.get(&header.ssrc) {
            Some(window) => window.index(header.sequence)?,
            None => u64::from(header.sequence),
        };
        self.check(&self.rtp, header.ssrc, index)?;
        let plain = self.media.open_rtp(packet, header.length, header.ssrc, index);
        let plain = plain.map_err(|_| Refusal::Unauthentic)?;
        accept(&mut self.rtp, header.ssrc, index, self.window);
        Ok(plain)
    }

    /// Decrypts an SRTCP packet to a compound RTCP packet.
    ///
    /// # Errors
    /// When it is not authentic or not new; nothing has changed then.
    pub fn rtcp(&mut self, packet: &[u8]) -> Result<Vec<u8>, Refusal> {
        let ssrc = header::rtcp_ssrc(packet).map_err(|_| Refusal::Malformed)?;
        let (index, encrypted) = self.reports.rtcp_index(packet).ok_or(Refusal::Malformed)?;
        // RFC 3711 section 3.4 would authenticate unencrypted packets too. WebRTC does not use them (RFC 8827 section
        // 6.5).
        if !encrypted {
            return Err(Refusal::Unencrypted);
        }
        self.check(&self.rtcp, ssrc, u64::from(index))?;
        let plain = self.reports.open_rtcp(packet, ssrc, index).map_err(|_| Refusal::Unauthentic)?;
        accept(&mut self.rtcp, ssrc, u64::from(index), self.window);
        Ok(plain)
    }

    /// Number of known streams, of RTP and of RTCP.
    pub fn streams(&self) -> (usize, usize) {
        (self.rtp.len(), self.rtcp.len())
    }

    /// Checks that a packet with this index may be accepted if it is authentic.
    fn check(&self, streams: &BTreeMap<u32, Window>, ssrc: u32, index: u64) -> Result<(), Refusal> {
        match streams.get(&ssrc) {
            Some(window) => window.check(index),
            None if streams.len() < self.max_streams => Ok(()),
            None => Err(Refusal::TooManyStreams),
        }
    }
}

/// An authentic packet of a stream came, perhaps its first.
fn accept(streams: &mut BTreeMap<u32, Window>, ssrc: u32, index: u64, window: u32) {
    streams.entry(ssrc).or_insert_with(|| Window::new(window, index)).accept(index);
}
