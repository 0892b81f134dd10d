//! Sending to a server by WHIP (RFC 9725), and receiving from one by WHEP (draft-ietf-wish-whep), over HTTP.
//!
//! Both use the same exchange: the offer is sent by POST, the answer contains the address of a [`Resource`] on the
//! server, which gets an ICE restart by PATCH and is ended by DELETE. Calls block, each for at most [`Config::timeout`]
//! per request; [`Backoff`] gives the delay before another attempt. Servers by `https` need certificates of the
//! authorities that Mozilla trusts (`webpki-roots`), or of explicit [`Authorities`].
//!
//! STUN and TURN servers in an answer are parsed ([`Resource::ice_servers`]) but not used: our side has host candidates
//! only, which reach a server with a public address. A WHEP server's counter-offer (status 406) is an error here.

mod authorities;
mod backoff;
mod client;
mod endpoint;
mod error;
mod ice_servers;
mod resource;

pub use authorities::Authorities;
pub use backoff::Backoff;
pub use client::{Client, Config};
pub use endpoint::{Endpoint, Token};
pub use error::WhipError;
pub use ice_servers::IceServer;
// For `thalweg-fuzz`.
#[doc(hidden)]
pub use ice_servers::ice_servers;
pub use resource::{Patched, Resource};

#[cfg(test)]
mod tests;
