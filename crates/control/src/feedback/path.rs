//! Receiver reports that measure the path itself instead of listing single packets.

use thalweg_units::{Bytes, Rate};

/// The side that measures the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum End {
    /// The sender, from the arrivals reported to it: works with any receiver of today.
    #[default]
    Sender,
    /// The receiver, which reports its measurements. If it sends none, the sender measures.
    Receiver,
}

/// A receiver's own measurement of the path (specs/rebera.md 3), sent periodically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathReport {
    /// Recent capacity of the path, measured on packets that queued one behind the other; `None` if none did.
    pub capacity: Option<Rate>,
    /// Wire bytes received so far.
    pub received: Bytes,
    /// Bytes sent before the last arrival that have not arrived.
    pub lost: Bytes,
}
