//! What is sent without being encoded here: Opus packets ([`audio`]) and video somebody else has encoded ([`encoded`]).
//!
//! Reading blocks, on files for as long as a disk takes, on devices for as long as audio does: its reader runs in a thread of its own. What
//! is no file of the right kind is read by the program `ffmpeg`, where it is installed.

pub mod audio;
pub mod encoded;
#[cfg(test)]
mod testing;

/// What comes after the end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeat {
    /// Nothing.
    #[default]
    Once,
    /// Its beginning, without a gap in time.
    Forever,
}
