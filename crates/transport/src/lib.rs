//! A WebRTC connection: ICE, DTLS, SRTP and SDP, without clock or sockets.
#![forbid(unsafe_code)]

mod parameters;
pub mod sdp;

pub use parameters::{Credentials, DtlsRole, Fingerprint, FingerprintError, Remote};
