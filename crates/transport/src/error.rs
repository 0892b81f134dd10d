//! Errors of a connection.

use thalweg_units::{ConfigError, Span};

use crate::Fingerprint;

/// Why a connection could not be established or ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// A configuration value is out of range.
    #[error("{0}")]
    Config(ConfigError),
    /// The certificate or the credentials of this endpoint could not be created.
    #[error("no identity could be made: {0}")]
    Identity(String),
    /// A local address from which nothing can be sent.
    #[error("local address {address} cannot be a candidate ({why}): give the address of one interface, with its port")]
    Address {
        /// The address.
        address: std::net::SocketAddr,
        /// The reason.
        why: String,
    },
    /// A candidate that cannot be parsed.
    #[error(
        "candidate {line:?} cannot be read ({why}), must be as in RFC 8839 section 5.1: `candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host`"
    )]
    Candidate {
        /// The line, shortened.
        line: String,
        /// The reason.
        why: String,
    },
    /// The ufrag or password has a length that RFC 8839 section 5.4 does not allow.
    #[error("{field} has {length} characters, must have {min} to 256")]
    Credentials {
        /// `ice-ufrag` or `ice-pwd`.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// The min length.
        min: usize,
    },
    /// The peer's certificate differs from the one announced by signalling: possibly a man in the middle. Nothing is
    /// decrypted.
    #[error("the certificate shown is {found}, signalling announced {expected}: the connection is refused")]
    Fingerprint {
        /// The announced fingerprint.
        expected: Fingerprint,
        /// The fingerprint of the certificate in the handshake.
        found: Fingerprint,
    },
    /// After an ICE restart the peer announced a different certificate, which requires a new connection.
    #[error("the certificate announced changed from {before} to {after}: make a new connection")]
    OtherIdentity {
        /// The fingerprint announced first.
        before: Fingerprint,
        /// The fingerprint announced now.
        after: Fingerprint,
    },
    /// The handshake ended without a certificate of the peer.
    #[error("the peer showed no certificate: the connection is refused")]
    NoCertificate,
    /// The handshake ended without media keys: the peer does not support DTLS-SRTP (RFC 5764).
    #[error("the handshake agreed on no SRTP profile: the peer must offer use_srtp")]
    NoKeys,
    /// The handshake failed.
    #[error("DTLS: {0}")]
    Dtls(String),
    /// The keys did not fit the profile.
    #[error("SRTP: {0}")]
    Srtp(String),
    /// No path was found, or no handshake completed, within the time limit.
    #[error("not connected after {0}: no candidate of the peer can be reached, or it does not answer")]
    NotConnected(Span),
}

impl From<ConfigError> for TransportError {
    fn from(error: ConfigError) -> TransportError {
        TransportError::Config(error)
    }
}

/// Why a packet was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There are no keys yet, or no longer: nothing is sent unprotected.
    #[error("not connected: a packet is sent only protected, wait for Event::Connected")]
    NotConnected,
    /// Not an RTP or RTCP packet.
    #[error("not a packet: {0}")]
    Malformed(&'static str),
    /// The sequence number is not after the last one of its stream.
    ///
    /// Under one key a packet index must never protect two different packets (RFC 7714 section 8.1 for AES-GCM, RFC
    /// 3711 section 9.1 for counter mode). Distinguishing a repetition from a different packet would need the packets
    /// themselves, and a window of indices would need bounds that a caller can exceed. A sender's own streams only
    /// count up (retransmissions use the retransmission stream), so any other index is rejected.
    #[error("packet {sequence} of stream {ssrc:#010x} is not after packet {last}, the last that was sent")]
    NotNewer {
        /// SSRC of the stream.
        ssrc: u32,
        /// The packet's sequence number.
        sequence: u16,
        /// The sequence number of the last packet sent.
        last: u16,
    },
    /// More streams than [`crate::Config::max_streams`].
    #[error("stream {ssrc:#010x} would be one more than the {max} allowed: raise `max_streams`")]
    TooManyStreams {
        /// SSRC of the stream.
        ssrc: u32,
        /// The max number of streams.
        max: usize,
    },
    /// The stream has used all the packets that one key may protect (RFC 3711 section 9.2: 2^48 RTP or 2^31 RTCP).
    #[error("stream {ssrc:#010x} has used up its key: make a new connection")]
    Exhausted {
        /// SSRC of the stream.
        ssrc: u32,
    },
    /// The cipher rejected the packet; does not happen with packet sizes that fit a datagram.
    #[error("the cipher refused the packet")]
    Cipher,
}
