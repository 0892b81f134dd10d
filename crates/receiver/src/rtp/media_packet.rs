//! A parsed video packet with its header extensions.

use thalweg_units::Bytes;
use thalweg_wire::rtp::{FragmentGrace, FrameStates, Header};

use super::output::Origin;
use super::references::Dependency;

/// A packet's header extensions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) grace: FragmentGrace,
    pub(super) states: Option<FrameStates>,
    /// The packet's size on the wire.
    pub(super) size: Bytes,
}

/// A packet of the video stream, as received or as recovered.
#[derive(Debug, Clone, Copy)]
pub(super) struct MediaPacket<'a> {
    /// Its unwrapped sequence number.
    pub(super) number: u64,
    pub(super) header: Header,
    /// Empty for padding.
    pub(super) payload: &'a [u8],
    /// Its header extensions of functional video.
    pub(super) said: Option<Said>,
    /// Its dependency descriptor.
    pub(super) dependency: Option<&'a Dependency>,
    pub(super) origin: Origin,
}
