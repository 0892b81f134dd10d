//! How much work the encoder does, and how it lays out frames.

use crate::syntax::Partitions;

/// Speed against quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Speed {
    /// As quick as libvpx in real time at `cpu_used` -8.
    Fast,
    /// For calls and live video on one core.
    #[default]
    Standard,
    /// Where there is time.
    Slow,
}

impl Speed {
    /// All speeds, the quickest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Slow];
}

/// What stays the same from frame to frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Settings {
    /// Speed against quality.
    pub speed: Speed,
    /// Into how many partitions the coefficients are divided, so that decoders with threads can work on rows side by
    /// side: a few bytes each.
    pub partitions: Partitions,
}
