//! A WebRTC connection: ICE, DTLS, SRTP and SDP, without clock or sockets.
//!
//! A [`Connection`] takes datagrams and the time, and produces datagrams. The signalled parameters are [`Remote`] for
//! the peer and [`Connection::credentials`] and [`Identity::fingerprint`] for this endpoint. All input is authenticated
//! before it has an effect: STUN by the credentials, DTLS by the fingerprint, RTP and RTCP by the keys of the
//! handshake; nothing is sent unprotected. The cost of a flooding peer is bounded: memory by [`Config::max_streams`],
//! [`Config::max_addresses`] and [`Config::replay_window`], time per datagram by one authentication. Dropped input is
//! counted by reason in [`Statistics`].
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
mod paths;
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
