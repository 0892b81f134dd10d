//! Media that is sent without being encoded here: Opus packets ([`audio`]) and already encoded video ([`encoded`]).
//!
//! Reading blocks: on files for as long as a disk takes, on devices for as long as the audio does. Each reader
//! therefore runs in its own thread. Formats that are not read here are read by the program `ffmpeg`, if it is
//! installed.

pub mod audio;
pub mod encoded;
#[cfg(test)]
pub(crate) mod testing;

/// Behaviour at the end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeat {
    /// The source ends.
    #[default]
    Once,
    /// The file starts again, without a gap in time.
    Forever,
}
