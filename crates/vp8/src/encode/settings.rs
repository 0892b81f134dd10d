//! The encoder's effort, and the layout of frames.

use crate::syntax::Partitions;

/// Trade-off between speed and quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Speed {
    /// As fast as libvpx in real-time mode at `cpu_used` -8.
    Fast,
    /// For calls and live video on one core.
    #[default]
    Standard,
    /// For encoding without time limits.
    Slow,
}

impl Speed {
    /// All speeds, the fastest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Slow];
}

/// Settings that stay the same for all frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Settings {
    /// Trade-off between speed and quality.
    pub speed: Speed,
    /// Number of coefficient partitions, so that multi-threaded decoders can work on rows in parallel, at a cost of a
    /// few bytes each.
    pub partitions: Partitions,
}
