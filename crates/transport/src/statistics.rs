//! Counters of a connection.

/// Datagrams and packets received, sent and dropped since the connection was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Datagrams received, of any kind.
    pub datagrams: u64,
    /// STUN messages that were authentic and accepted.
    pub stun: u64,
    /// DTLS datagrams passed to the handshake.
    pub dtls: u64,
    /// RTP packets that were authentic and new.
    pub rtp: u64,
    /// RTCP packets that were authentic and new.
    pub rtcp: u64,
    /// Datagrams sent, of any kind.
    pub sent: u64,
    /// RTP packets among them.
    pub sent_rtp: u64,
    /// RTCP packets among them.
    pub sent_rtcp: u64,
    /// Candidates of the peer that are unusable here: names instead of addresses (mDNS), TCP, other components,
    /// more than [`Config::max_addresses`](crate::Config::max_addresses).
    pub unusable_candidates: u64,
    /// Datagrams received and dropped.
    pub dropped: Dropped,
}

/// Dropped datagrams by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Not STUN, DTLS, RTP or RTCP, or truncated.
    pub malformed: u64,
    /// DTLS, RTP or RTCP from or to an address without an authenticated check, or STUN to an address that is not ours.
    pub unknown_address: u64,
    /// STUN that is for another agent, answers no request of ours, or fails its integrity check.
    pub stun_refused: u64,
    /// STUN from, or naming, an address beyond the max number of addresses.
    pub too_many_addresses: u64,
    /// DTLS before signalling announced a certificate, or unusable for the handshake.
    pub dtls_refused: u64,
    /// DTLS application data (data channels), which this connection does not support.
    pub application_data: u64,
    /// RTP and RTCP before there were keys.
    pub before_keys: u64,
    /// RTP and RTCP that fail authentication.
    pub unauthentic: u64,
    /// RTP and RTCP that were received before.
    pub replayed: u64,
    /// RTP and RTCP older than the replay window.
    pub old: u64,
    /// RTP so far ahead that it cannot be distinguished from an old packet.
    pub far_ahead: u64,
    /// RTCP that is marked as unencrypted.
    pub unencrypted: u64,
    /// RTP and RTCP of a stream beyond the max number of streams.
    pub too_many_streams: u64,
    /// Anything after the connection ended.
    pub after_end: u64,
}

impl Dropped {
    /// The sum of all.
    pub fn total(&self) -> u64 {
        let Dropped { malformed, unknown_address, stun_refused, too_many_addresses, dtls_refused, .. } = *self;
        let Dropped { application_data, before_keys, unauthentic, replayed, old, far_ahead, .. } = *self;
        let Dropped { unencrypted, too_many_streams, after_end, .. } = *self;
        malformed
            + unknown_address
            + stun_refused
            + too_many_addresses
            + dtls_refused
            + application_data
            + before_keys
            + unauthentic
            + replayed
            + old
            + far_ahead
            + unencrypted
            + too_many_streams
            + after_end
    }

    pub(crate) fn count(&mut self, refusal: Refusal) {
        *match refusal {
            Refusal::Malformed => &mut self.malformed,
            Refusal::UnknownAddress => &mut self.unknown_address,
            Refusal::Stun => &mut self.stun_refused,
            Refusal::TooManyAddresses => &mut self.too_many_addresses,
            Refusal::Dtls => &mut self.dtls_refused,
            Refusal::BeforeKeys => &mut self.before_keys,
            Refusal::Unauthentic => &mut self.unauthentic,
            Refusal::Replayed => &mut self.replayed,
            Refusal::Old => &mut self.old,
            Refusal::FarAhead => &mut self.far_ahead,
            Refusal::Unencrypted => &mut self.unencrypted,
            Refusal::TooManyStreams => &mut self.too_many_streams,
            Refusal::AfterEnd => &mut self.after_end,
        } += 1;
    }
}

/// How [`Connection::on_datagram`](crate::Connection::on_datagram) handled a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// STUN with a valid integrity check: it proves that the peer is at its source address.
    Stun,
    /// DTLS, passed to the handshake; whether a record is authentic is unknown before the handshake is complete.
    Dtls,
    /// RTP that is authentic and new.
    Rtp,
    /// RTCP that is authentic and new.
    Rtcp,
    /// Dropped, for this reason.
    Dropped(Refusal),
}

/// Why a datagram was dropped; the fields of [`Dropped`] explain each reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Invalid or truncated.
    Malformed,
    /// From or to an unknown address.
    UnknownAddress,
    /// STUN that is not for us.
    Stun,
    /// One address too many.
    TooManyAddresses,
    /// DTLS that cannot be used.
    Dtls,
    /// Media before there are keys.
    BeforeKeys,
    /// Media that fails authentication.
    Unauthentic,
    /// Media that was received before.
    Replayed,
    /// Media older than the replay window.
    Old,
    /// Media too far ahead.
    FarAhead,
    /// RTCP that is not encrypted.
    Unencrypted,
    /// One stream too many.
    TooManyStreams,
    /// Anything after the end.
    AfterEnd,
}
