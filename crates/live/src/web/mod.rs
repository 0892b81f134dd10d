//! The web servers of `thalweg publish`, `receive`, `relay` and `call`: a page that anyone with the link can watch, or
//! send a camera from, its WHEP or WHIP endpoint, and its live statistics.
//!
//! ```text
//! connections   accepts, bounds and times out what comes in over TCP; hyper reads HTTP
//! seats         which connections there are, and which gives way to another
//! tls           the certificate that is shown
//! slots         how many event streams each viewer has, and may have
//! guard         who may ask (token, origin, host), and the headers of every answer
//! signalling    offer in, answer out: WHEP and WHIP
//! receiving     the page that sends a camera, and the figures of one sender
//! calling       the page that does both
//! viewers       the figures of one viewer ten times a second, its switch of scheme, its change of the link
//! site          the page itself, what it should know, the clock, the metrics
//! ```
//!
//! None of these modules handles packets: they use a [`Hub`], or [`Receivers`].

mod calling;
mod connections;
mod guard;
mod hub;
mod receiving;
mod refused;
mod reply;
mod seats;
mod server;
mod signalling;
mod site;
mod slots;
mod snapshot;
#[cfg(test)]
mod tests;
mod tls;
mod token;
mod viewers;

pub use connections::Limits;
pub use hub::{Condition, Hub, Join, Joined, Patched, Receivers, Relayed, Sessions};
pub use refused::{Refused, RefusedKind};
#[cfg(feature = "fuzzing")]
pub(crate) use server::router;
pub use server::{Server, WebConfig, WebError};
pub use snapshot::{About, Channel, LinkChange, LinkFigures, SchemeLine, Snapshot};
pub use tls::{Tls, TlsError};
pub use token::{Token, TokenError};
