//! Over which links a figure is played.

use thalweg_link::{LossModel, QueueConfig};
use thalweg_units::{Rate, Span};

/// Over which links.
#[derive(Debug, Clone, PartialEq)]
pub enum Links {
    /// Two rates in turn, each for `half`, behind a drop-tail queue of 1.5 MB, for `duration`.
    SquareWave {
        /// The first.
        high: Rate,
        /// The second.
        low: Rate,
        /// How long each.
        half: Span,
        /// How long to play.
        duration: Span,
    },
    /// Every recorded cellular link with the recorded way back and an endless queue.
    Recorded,
    /// The recorded cellular link whose name begins so.
    OneRecorded(&'static str),
    /// These.
    Listed(Vec<Link>),
}

/// A link with what stands before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What it is called in tables.
    pub name: &'static str,
    /// Where its trace is from.
    pub origin: Origin,
    /// What waits before it.
    pub queue: QueueConfig,
    /// What is lost before it.
    pub loss: Option<LossModel>,
}

/// Where a trace is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Two of the recorded cellular links: the way forth, and the way back with an endless queue.
    Recorded {
        /// From the sender to the receiver.
        forth: &'static str,
        /// From the receiver to the sender.
        back: &'static str,
    },
    /// A file of the paper's authors, and the link of this project's own to play where it is absent. The way back is unlimited.
    Authors {
        /// The file.
        file: &'static str,
        /// The link by name.
        instead: &'static str,
    },
}
