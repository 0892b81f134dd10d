//! The server as its clients see it: over real sockets on loopback where sockets matter, else through its router alone.

mod abuse;
mod fake;
mod protocol;
mod secure;
