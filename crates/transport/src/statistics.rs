//! What a connection counts.

/// What a connection has received, sent and dropped since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Datagrams received, whatever was in them.
    pub datagrams: u64,
    /// STUN messages that were authentic and taken.
    pub stun: u64,
    /// DTLS datagrams that went into the handshake.
    pub dtls: u64,
    /// RTP packets that were authentic and new.
    pub rtp: u64,
    /// RTCP packets that were authentic and new.
    pub rtcp: u64,
    /// Datagrams sent, whatever was in them.
    pub sent: u64,
    /// RTP packets among them.
    pub sent_rtp: u64,
    /// RTCP packets among them.
    pub sent_rtcp: u64,
    /// Candidates of the peer that cannot be used here: names instead of addresses (mDNS), TCP, other components.
    pub unusable_candidates: u64,
    /// Datagrams received that nothing was made of.
    pub dropped: Dropped,
}

/// Datagrams that nothing was made of, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// No STUN, DTLS, RTP or RTCP, or cut short.
    pub malformed: u64,
    /// DTLS, RTP or RTCP from or to an address that no authentic check has been exchanged with, or STUN to an address that
    /// is not ours.
    pub unknown_address: u64,
    /// STUN that is for somebody else, answers nothing that was asked, or fails its integrity check.
    pub stun_refused: u64,
    /// STUN from, or naming, one address more than may be known of.
    pub too_many_addresses: u64,
    /// DTLS before signalling said what certificate to expect, or that the handshake cannot use.
    pub dtls_refused: u64,
    /// Data of a DTLS application (data channels), which this connection has not.
    pub application_data: u64,
    /// RTP and RTCP before there were keys.
    pub before_keys: u64,
    /// RTP and RTCP that fail authentication.
    pub unauthentic: u64,
    /// RTP and RTCP that came before.
    pub replayed: u64,
    /// RTP and RTCP so old that whether they came before is not known.
    pub old: u64,
    /// RTP so far ahead that its place cannot be distinguished from that of an old packet.
    pub far_ahead: u64,
    /// RTCP that says it is not encrypted.
    pub unencrypted: u64,
    /// RTP and RTCP of one stream more than there may be.
    pub too_many_streams: u64,
    /// Anything after the end.
    pub after_end: u64,
}

impl Dropped {
    /// All of them.
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

/// What [`Connection::on_datagram`](crate::Connection::on_datagram) made of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// STUN whose integrity check holds: it proves that the peer is at the address it came from.
    Stun,
    /// DTLS, which the handshake takes; whether a record is authentic is not known before its end.
    Dtls,
    /// RTP that is authentic and new.
    Rtp,
    /// RTCP that is authentic and new.
    Rtcp,
    /// Nothing, and why.
    Dropped(Refusal),
}

/// Why nothing was made of a datagram: the fields of [`Dropped`] say it at length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Not what it should be, or cut short.
    Malformed,
    /// From or to an address that is not known.
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
    /// Media that came before.
    Replayed,
    /// Media from before the replay window.
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
