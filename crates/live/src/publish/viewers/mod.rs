//! Viewers: each with its connection and sender, and all of them as an audience.

pub(crate) mod audience;
mod backlog;
pub(crate) mod ceilings;
mod gauges;
pub(crate) mod played;
pub(crate) mod schedule;
pub(crate) mod viewer;
