//! From the wire: what is authentic and new.

use std::collections::BTreeMap;

use rtc_srtp::context::Context;

use super::header::{self, Header};
use super::keys::Keys;
use super::window::Window;
use crate::{Refusal, TransportError};

/// How many packets of unknown streams that fail authentication one context is tried on before its state of them is thrown
/// away: it bounds that state to as many streams, and the cost of a new context (some key derivations) to a small part
/// of the authentication of a packet.
const MAX_TRIED: u32 = 64;

/// The peer's streams.
///
/// A stream is known from its first authentic packet on; whatever else comes of an unknown one costs its authentication
/// and leaves nothing. Memory is `max_streams` windows, each way of them one for RTP and one for RTCP.
pub struct Inbound {
    keys: Keys,
    /// For the streams below; has state of no other.
    known: Context,
    /// For streams that may turn out to be forged.
    trial: Context,
    tried: u32,
    rtp: BTreeMap<u32, Window>,
    rtcp: BTreeMap<u32, Window>,
    max_streams: usize,
    window: u32,
}

impl Inbound {
    /// Nothing known of any stream yet; at most `max_streams` of each kind will be, each with a replay window of `window`
    /// packets.
    ///
    /// # Errors
    /// When the cipher refuses the keys.
    pub fn new(keys: Keys, max_streams: usize, window: u32) -> Result<Inbound, TransportError> {
        let (known, trial) = (keys.context()?, keys.context()?);
        let (rtp, rtcp) = (BTreeMap::new(), BTreeMap::new());
        Ok(Inbound { keys, known, trial, tried: 0, rtp, rtcp, max_streams, window })
    }

    /// The RTP packet in an SRTP packet.
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

    /// The compound RTCP packet in an SRTCP packet.
    ///
    /// # Errors
    /// When it is not authentic or not new; nothing has changed then.
    pub fn rtcp(&mut self, packet: &[u8]) -> Result<Vec<u8>, Refusal> {
        let ssrc = header::rtcp_ssrc(packet).map_err(|_| Refusal::Malformed)?;
        let at = packet.len().checked_sub(self.keys.profile.index_from_end()).ok_or(Refusal::Malformed)?;
        let word = packet[at..].first_chunk().map(|word| u32::from_be_bytes(*word)).ok_or(Refusal::Malformed)?;
        // RFC 3711 section 3.4 would authenticate these too. WebRTC has no use for them (RFC 8827 section 6.5), and the
        // context does not authenticate them.
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

    /// How many streams are known of, of RTP and of RTCP.
    pub fn streams(&self) -> (usize, usize) {
        (self.rtp.len(), self.rtcp.len())
    }

    fn room(&self, streams: usize) -> Result<(), Refusal> {
        if streams < self.max_streams { Ok(()) } else { Err(Refusal::TooManyStreams) }
    }

    /// Counts a trial, and begins afresh after too many, or after one whose state `known` has now.
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
