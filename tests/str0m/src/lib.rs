//! A controller of Thalweg beside str0m: [`Controlled`] listens to raw packets and paces by writing later. [`play`] is a call
//! between two of str0m's connections in virtual time.

mod call;
mod controlled;

pub use call::{Control, Error, Path, Seen, play};
pub use controlled::Controlled;
