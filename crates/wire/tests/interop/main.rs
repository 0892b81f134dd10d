//! The wire crate against what others wrote: packets, captures and fuzz corpora in `../shared/data/rtp-interop`
//! (its README says whose they are).

mod captures;
mod control;
mod corpus;
mod packets;
mod video;
