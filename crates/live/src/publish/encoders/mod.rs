//! The origin of a viewer's frames: an encoder of its own, one that it shares, or frames that come encoded.
//!
//! [`placement`] decides who shares an encoder, by a [`ladder`] of rates; [`pool`] runs the shared ones, each a [`rung`].
//! [`coder`] is one viewer's side of it, and [`passthrough`] chooses among frames that were not encoded for it alone.
//! [`keyframes`] and [`upstream`] decide when a keyframe is made or asked for.

pub(crate) mod coder;
mod keyframes;
pub(crate) mod ladder;
pub(crate) mod passthrough;
pub(crate) mod placement;
pub(crate) mod pool;
pub(crate) mod rung;
mod upstream;
