//! The web server of `thalweg publish`: a page that anyone with the link can watch, its WHEP endpoint, and its live
//! statistics.
//!
//! ```text
//! connections   accepts, bounds and times out what comes in over TCP; hyper reads HTTP
//! slots         how many connections and event streams there are, and may be
//! guard         who may ask (token, origin, host), and the headers of every answer
//! whep          offer in, answer out, in the manner of draft-ietf-wish-whep
//! viewers       the figures of one viewer ten times a second, its switch of scheme, its change of the link
//! site          the page itself, what it should know, the clock, the metrics
//! ```
//!
//! None of these modules handles packets: they use a [`Hub`].

mod connections;
mod guard;
mod hub;
mod refused;
mod reply;
mod server;
mod site;
mod slots;
mod snapshot;
#[cfg(test)]
mod tests;
mod token;
mod viewers;
mod whep;

pub use connections::Limits;
pub use hub::{Condition, Hub, Join, Joined, Patched};
pub use refused::{Refused, RefusedKind};
pub use server::{Server, WebConfig, WebError};
pub use snapshot::{About, Channel, LinkChange, LinkFigures, SchemeLine, Snapshot};
pub use token::{Token, TokenError};
