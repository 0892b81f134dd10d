//! The loop filter (RFC 6386 section 15): smooths the edges between blocks of the whole frame after its reconstruction;
//! intra prediction uses unfiltered pixels.
//!
//! A row of macroblocks can be filtered as soon as the row below is reconstructed, while both are in the cache.

mod levels;

pub use levels::{FilterLevels, MacroblockFilter};

use crate::image::PlanesMut;
use crate::kernels::{EdgeLimits, Kernels};
use crate::syntax::header::FilterHeader;

/// Number of levels.
const LEVELS: usize = 64;

/// The loop filter of a frame.
#[derive(Debug, Clone)]
pub struct LoopFilter {
    kernels: &'static Kernels,
    is_simple: bool,
    /// By level: the limits at edges between macroblocks, and between subblocks.
    limits: [(EdgeLimits, EdgeLimits); LEVELS],
}

impl LoopFilter {
    /// The filter for a frame's settings; `None` when its level is 0, which leaves the frame unchanged.
    #[must_use]
    pub fn new(kernels: &'static Kernels, header: &FilterHeader, is_key: bool) -> Option<Self> {
        let limits = || std::array::from_fn(|level| limits(level as u8, header.sharpness, is_key));
        (header.level > 0).then(|| Self { kernels, is_simple: header.is_simple, limits: limits() })
    }

    /// Filters a row of macroblocks, each with its parameters. The rows above must be filtered already, and the row
    /// below must not be.
    pub fn filter_row(&self, planes: &mut PlanesMut<'_>, row: usize, macroblocks: &[MacroblockFilter]) {
        for (column, macroblock) in macroblocks.iter().enumerate() {
            if macroblock.level == 0 {
                continue;
            }
            let (outer, inner) = self.limits[usize::from(macroblock.level)];
            let inner = macroblock.has_inner_edges.then_some(inner);
            if self.is_simple {
                self.filter_simply(planes, column, row, outer.edge, inner.map(|limits| limits.edge));
            } else {
                self.filter(planes, column, row, outer, inner);
            }
        }
    }

    fn filter(
        &self,
        planes: &mut PlanesMut<'_>,
        column: usize,
        row: usize,
        outer: EdgeLimits,
        inner: Option<EdgeLimits>,
    ) {
        let (stride, chroma_stride, kernels) = (planes.stride, planes.stride / 2, self.kernels);
        let (at, chroma_at) = (row * 16 * stride + column * 16, row * 8 * chroma_stride + column * 8);
        let PlanesMut { y, u, v, .. } = planes;
        if column > 0 {
            kernels.filter_left_edge(y, at, stride, outer);
            kernels.filter_left_edge_chroma(u, v, chroma_at, chroma_stride, outer);
        }
        if let Some(inner) = inner {
            kernels.filter_inner_left_edges(y, at, stride, inner);
            kernels.filter_inner_left_edge_chroma(u, v, chroma_at, chroma_stride, inner);
        }
        if row > 0 {
            kernels.filter_upper_edge(y, at, stride, outer);
            kernels.filter_upper_edge_chroma(u, v, chroma_at, chroma_stride, outer);
        }
        if let Some(inner) = inner {
            kernels.filter_inner_upper_edges(y, at, stride, inner);
            kernels.filter_inner_upper_edge_chroma(u, v, chroma_at, chroma_stride, inner);
        }
    }

    fn filter_simply(&self, planes: &mut PlanesMut<'_>, column: usize, row: usize, outer: u8, inner: Option<u8>) {
        let (stride, kernels) = (planes.stride, self.kernels);
        let at = row * 16 * stride + column * 16;
        if column > 0 {
            kernels.filter_left_edge_simply(planes.y, at, stride, outer);
        }
        if let Some(inner) = inner {
            kernels.filter_inner_left_edges_simply(planes.y, at, stride, inner);
        }
        if row > 0 {
            kernels.filter_upper_edge_simply(planes.y, at, stride, outer);
        }
        if let Some(inner) = inner {
            kernels.filter_inner_upper_edges_simply(planes.y, at, stride, inner);
        }
    }
}

/// The thresholds of a level at the edges between macroblocks and between subblocks (section 15.4).
fn limits(level: u8, sharpness: u8, is_key: bool) -> (EdgeLimits, EdgeLimits) {
    let mut interior = level >> (u8::from(sharpness > 0) + u8::from(sharpness > 4));
    if sharpness > 0 {
        interior = interior.min(9 - sharpness);
    }
    let interior = interior.max(1);
    let high_variance = match (level, is_key) {
        (40.., true) => 2,
        (15.., true) => 1,
        (40.., false) => 3,
        (20.., false) => 2,
        (15.., false) => 1,
        _ => 0,
    };
    let at = |level: u8| EdgeLimits { edge: level * 2 + interior, interior, high_variance };
    (at(level + 2), at(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_level_sharpness_and_kind_of_frame() {
        let edges =
            |(outer, inner): (EdgeLimits, EdgeLimits)| (outer.edge, inner.edge, inner.interior, inner.high_variance);
        assert_eq!(edges(limits(63, 0, false)), (193, 189, 63, 3));
        assert_eq!(edges(limits(63, 0, true)), (193, 189, 63, 2));
        assert_eq!(edges(limits(32, 4, false)), (73, 69, 5, 2));
        assert_eq!(edges(limits(32, 7, true)), (70, 66, 2, 1));
        assert_eq!(edges(limits(15, 5, false)), (37, 33, 3, 1));
        assert_eq!(edges(limits(1, 1, false)), (7, 3, 1, 0));
    }
}
