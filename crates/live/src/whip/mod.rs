//! Sending to a server by WHIP (RFC 9725), and receiving from one by WHEP (draft-ietf-wish-whep), over HTTP.
//!
//! Both are the same exchange: the offer goes out by POST, the answer comes back with the address of a [`Resource`] on the
//! server, which is notified of an ICE restart by PATCH and that all is over by DELETE. Calls block, each for at most
//! [`Config::timeout`] a request; [`Backoff`] says when to try again. Servers by `https` show certificates of the authorities that
//! Mozilla trusts (`webpki-roots`), or of [`Authorities`] that are named instead.
//!
//! Servers for STUN and TURN that an answer lists are read ([`Resource::ice_servers`]) and not used: an end of ours has
//! host candidates only, which reach a server that has a public address. A WHEP server's counter-offer (status 406) is
//! an error here.

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
pub use resource::{Patched, Resource};

#[cfg(test)]
mod tests;
