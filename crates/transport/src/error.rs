//! What can go wrong.

use thalweg_units::{ConfigError, Span};

use crate::Fingerprint;

/// A connection could not be made or did not last.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// A configuration value is out of range.
    #[error("{0}")]
    Config(ConfigError),
    /// The certificate or the secrets of this end could not be made.
    #[error("no identity could be made: {0}")]
    Identity(String),
    /// A local address that nothing can be sent to.
    #[error("local address {address} cannot be a candidate ({why}): give the address of one interface, with its port")]
    Address {
        /// The address.
        address: std::net::SocketAddr,
        /// What is wrong with it.
        why: String,
    },
    /// A candidate that cannot be read.
    #[error(
        "candidate {line:?} cannot be read ({why}), must be as in RFC 8839 section 5.1: `candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host`"
    )]
    Candidate {
        /// The line, shortened.
        line: String,
        /// What is wrong with it.
        why: String,
    },
    /// More candidates than [`crate::Config::max_addresses`].
    #[error("the peer has more than {max} candidates: raise `max_addresses` or send fewer")]
    Candidates {
        /// How many there may be.
        max: usize,
    },
    /// A text of the credentials has a length that RFC 8839 section 5.4 does not allow.
    #[error("{field} has {length} characters, must have {min} to 256")]
    Credentials {
        /// `ice-ufrag` or `ice-pwd`.
        field: &'static str,
        /// How long it is.
        length: usize,
        /// How long it must be.
        min: usize,
    },
    /// The peer's certificate is not the one signalling announced: somebody is in between. Nothing is decrypted.
    #[error("the certificate shown is {found}, signalling announced {expected}: the connection is refused")]
    Fingerprint {
        /// What signalling said.
        expected: Fingerprint,
        /// What the handshake showed.
        found: Fingerprint,
    },
    /// After a restart of ICE the peer announced another certificate, which needs a new connection.
    #[error("the certificate announced changed from {before} to {after}: make a new connection")]
    OtherIdentity {
        /// What signalling said at first.
        before: Fingerprint,
        /// What it says now.
        after: Fingerprint,
    },
    /// The handshake ended without a certificate to check.
    #[error("the peer showed no certificate: the connection is refused")]
    NoCertificate,
    /// The handshake ended without keys for media: the peer does not do DTLS-SRTP (RFC 5764).
    #[error("the handshake agreed on no SRTP profile: the peer must offer use_srtp")]
    NoKeys,
    /// The handshake failed.
    #[error("DTLS: {0}")]
    Dtls(String),
    /// The keys did not fit the profile.
    #[error("SRTP: {0}")]
    Srtp(String),
    /// No path was found, or no handshake finished on it, in the time for it.
    #[error("not connected after {0}: no candidate of the peer can be reached, or it does not answer")]
    NotConnected(Span),
}

impl From<ConfigError> for TransportError {
    fn from(error: ConfigError) -> TransportError {
        TransportError::Config(error)
    }
}

/// A packet was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There are no keys yet, or no more: nothing leaves unprotected.
    #[error("not connected: a packet is sent only protected, wait for Event::Connected")]
    NotConnected,
    /// No RTP or RTCP packet.
    #[error("not a packet: {0}")]
    Malformed(&'static str),
    /// The sequence number is not after the last one of its stream.
    ///
    /// Under one key a packet index must never protect two different packets (RFC 7714 section 8.1 for AES-GCM, RFC
    /// 3711 section 9.1 for counter mode). Telling a repetition from a difference would need the packets themselves, a
    /// window of indices would need bounds that a caller can outrun; a sender's own streams only ever count up (what
    /// is sent again goes on the retransmission stream), so an index that does not is refused.
    #[error("packet {sequence} of stream {ssrc:#010x} is not after packet {last}, the last that was sent")]
    NotNewer {
        /// The stream.
        ssrc: u32,
        /// The packet's sequence number.
        sequence: u16,
        /// The last one sent.
        last: u16,
    },
    /// More streams than [`crate::Config::max_streams`].
    #[error("stream {ssrc:#010x} would be one more than the {max} allowed: raise `max_streams`")]
    TooManyStreams {
        /// The stream.
        ssrc: u32,
        /// How many there may be.
        max: usize,
    },
    /// The stream has used all the packets one key may protect (RFC 3711 section 9.2: 2^48 RTP or 2^31 RTCP).
    #[error("stream {ssrc:#010x} has used up its key: make a new connection")]
    Exhausted {
        /// The stream.
        ssrc: u32,
    },
    /// The cipher refused; does not happen with packets of a size that fits a datagram.
    #[error("the cipher refused the packet")]
    Cipher,
}
