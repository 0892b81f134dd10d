//! Two ends over a network in virtual time, and SRTP beside its reference.

mod checks;
mod connect;
mod ecn;
mod handshake;
mod hostile;
#[cfg(feature = "libsrtp")]
mod libsrtp;
mod lite;
mod reference;
mod srtp_hostile;
mod srtp_vectors;
mod world;
