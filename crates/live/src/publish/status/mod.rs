//! Reports on a running publisher: figures for the page and for Prometheus, and whether this machine keeps up.

pub(crate) mod keeping_up;
pub(crate) mod metrics;
pub(crate) mod snapshot;
