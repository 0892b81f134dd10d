//! What a receiver says that measures the path itself instead of reporting single packets.

use thalweg_units::{Bytes, Rate};

/// The end of the path that measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum End {
    /// The sender, by the arrivals that are reported to it: with any receiver of today.
    #[default]
    Sender,
    /// The receiver, which tells what it measured. Where it does not, the sender measures.
    Receiver,
}

/// A receiver's own account of the path (specs/rebera.md 3), reported once in a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathReport {
    /// What the path bore of late, by packets that queued one behind the other; `None` where none did.
    pub capacity: Option<Rate>,
    /// Everything that arrived so far, on the wire.
    pub received: Bytes,
    /// Everything that was sent before the last arrival and did not arrive.
    pub lost: Bytes,
}
