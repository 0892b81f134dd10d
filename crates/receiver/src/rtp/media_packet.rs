//! A packet of a video, parsed, and what its header extensions say.

use thalweg_units::Bytes;
use thalweg_wire::rtp::{FragmentGrace, FrameStates, Header};

use super::output::Origin;
use super::references::Dependency;

/// What a packet says by its header extensions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) grace: FragmentGrace,
    pub(super) states: Option<FrameStates>,
    /// The packet on the wire.
    pub(super) size: Bytes,
}

/// A packet of the video's stream, as it came or as it was put together.
#[derive(Debug, Clone, Copy)]
pub(super) struct MediaPacket<'a> {
    /// Its sequence number without end.
    pub(super) number: u64,
    pub(super) header: Header,
    /// Empty for padding.
    pub(super) payload: &'a [u8],
    /// What it says of functional video.
    pub(super) said: Option<Said>,
    /// What it says in a dependency descriptor.
    pub(super) dependency: Option<&'a Dependency>,
    pub(super) origin: Origin,
}
