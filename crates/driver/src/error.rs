//! Errors of a driver.

/// A call that makes no sense; nothing of it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// A packet with this key was sent before and is remembered.
    #[error("a packet with key {0} was sent before: give each packet a key of its own")]
    DuplicateKey(u64),
    /// Departures are shown one by one in some calls and joined with their fate in others.
    #[error("departures are either shown as they happen (on_sent) or joined with their fate (join), not both")]
    Mode,
}
