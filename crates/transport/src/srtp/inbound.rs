//! Received packets: accepts those that are authentic and new.

use std::collections::BTreeMap;

use rtc_srtp::context::Context;

use super::header::{self, Header};
use super::keys::Keys;
use super::window::Window;
use crate::{Refusal, TransportError};

/// Max number of packets of unknown streams that may fail authentication before the trial context is replaced. It
/// limits that context's state to as many streams, and makes the cost of a new context (some key derivations) small
/// compared with the authentication of a packet.
const MAX_TRIED: u32 = 64;

/// The peer's streams.
///
/// A stream is known from its first authentic packet on; other packets of an unknown stream cost one authentication and
/// leave no state. Memory is `max_streams` windows for RTP and as many for RTCP.
pub struct Inbound {
    keys: Keys,
    /// For the streams below; has state of no others.
    known: Context,
    /// For streams that may be forged.
    trial: Context,
    tried: u32,
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
        let (known, trial) = (keys.context()?, keys.context()?);
        let (rtp, rtcp) = (BTreeMap::new(), BTreeMap::new());
        Ok(Inbound { keys, known, trial, tried: 0, rtp, rtcp, max_streams, window })
    }

    /// Decrypts an SRTP packet to RTP.
    ///
    /// # Errors
    /// When it is not authentic or not new; nothing has changed then.
    pub fn rtp(&mut self, packet: &[u8]) -> Result<Vec<u8>, Refusal> {
        let header = Header::read(packet).map_err(|_| Refusal::Malformed)?;
        let for_context = header.for_context();
        if let Some(window) = self.rtp.get_mut(&header.ssrc) {
            let index = window.index(header.sequence)?;
            window.check(index)?;
            let plain = self.known.decrypt_rtp_with_header(packet, &for_context).map_err(|_| Refusal::Unauthentic)?;
            window.accept(index);
            return Ok(plain.into());
        }
        self.room(self.rtp.len())?;
        let plain = self.trial.decrypt_rtp_with_header(packet, &for_context);
        self.forget(plain.is_ok());
        plain.map_err(|_| Refusal::Unauthentic)?;
        let plain = self.known.decrypt_rtp_with_header(packet, &for_context).map_err(|_| Refusal::Unauthentic)?;
        self.rtp.insert(header.ssrc, Window::new(self.window, u64::from(header.sequence)));
        Ok(plain.into())
    }

    /// Decrypts an SRTCP packet to a compound RTCP packet.
    ///
    /// # Errors
    /// When it is not authentic or not new; nothing has changed then.
    pub fn rtcp(&mut self, packet: &[u8]) -> Result<Vec<u8>, Refusal> {
        let ssrc = header::rtcp_ssrc(packet).map_err(|_| Refusal::Malformed)?;
        let at = packet.len().checked_sub(self.keys.profile.index_from_end()).ok_or(Refusal::Malformed)?;
        let word = packet[at..].first_chunk().map(|word| u32::from_be_bytes(*word)).ok_or(Refusal::Malformed)?;
        // RFC 3711 section 3.4 would authenticate unencrypted packets too. WebRTC does not use them (RFC 8827 section
        // 6.5), and the context does not authenticate them.
        if word >> 31 == 0 {
            return Err(Refusal::Unencrypted);
        }
        let index = u64::from(word & 0x7fff_ffff);
        if let Some(window) = self.rtcp.get_mut(&ssrc) {
            window.check(index)?;
            let plain = self.known.decrypt_rtcp(packet).map_err(|_| Refusal::Unauthentic)?;
            window.accept(index);
            return Ok(plain.into());
        }
        self.room(self.rtcp.len())?;
        let plain = self.trial.decrypt_rtcp(packet);
        self.forget(plain.is_ok());
        plain.map_err(|_| Refusal::Unauthentic)?;
        let plain = self.known.decrypt_rtcp(packet).map_err(|_| Refusal::Unauthentic)?;
        self.rtcp.insert(ssrc, Window::new(self.window, index));
        Ok(plain.into())
    }

    /// Number of known streams, of RTP and of RTCP.
    pub fn streams(&self) -> (usize, usize) {
        (self.rtp.len(), self.rtcp.len())
    }

    fn room(&self, streams: usize) -> Result<(), Refusal> {
        if streams < self.max_streams { Ok(()) } else { Err(Refusal::TooManyStreams) }
    }

    /// Counts a trial, and replaces the trial context after too many, or after one whose state is now in `known`.
    fn forget(&mut self, authentic: bool) {
        self.tried += 1;
        if (authentic || self.tried >= MAX_TRIED)
            && let Ok(fresh) = self.keys.context()
        {
            self.trial = fresh;
            self.tried = 0;
        }
    }
}
