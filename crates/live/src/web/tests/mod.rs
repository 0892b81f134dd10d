//! The server as its clients see it: over real sockets of loopback where sockets matter, else by its router alone.

mod abuse;
mod fake;
mod protocol;
