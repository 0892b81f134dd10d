//! A WebRTC connection: ICE, DTLS, SRTP and SDP, without clock or sockets.
//!
//! A [`Connection`] is given datagrams and the time and gives datagrams back; what signalling carries between the two ends
//! is [`Remote`] and, for this end, [`Connection::credentials`] and [`Identity::fingerprint`]. Everything that comes is
//! authenticated before it has an effect: STUN by the credentials, DTLS by the fingerprint, RTP and RTCP by the keys of
//! the handshake; nothing leaves in the clear. What an end that floods can cost is bounded: memory by
//! [`Config::max_streams`], [`Config::max_addresses`] and [`Config::replay_window`], time per datagram by one
//! authentication. What was dropped, and why, is counted in [`Statistics`].
#![forbid(unsafe_code)]

mod config;
mod connection;
mod demultiplex;
mod dtls;
mod error;
mod ice;
mod identity;
mod output;
mod parameters;
pub mod sdp;
pub mod srtp;
mod statistics;

pub use config::{Config, DtlsVersions};
pub use connection::Connection;
pub use demultiplex::ufrag_of;
pub use error::{SendError, TransportError};
pub use identity::Identity;
pub use output::{Datagram, Event, Output};
pub use parameters::{Credentials, DtlsRole, Fingerprint, FingerprintError, Remote};
pub use srtp::Profile;
pub use statistics::{Dropped, Received, Refusal, Statistics};
