//! When the loop filter takes a step between pixels for an artefact.

/// The thresholds of the loop filter at one edge, in steps of a pixel's value (RFC 6386 section 15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeLimits {
    /// The step across the edge that is filtered at most, `|p0 - q0| * 2 + |p1 - q1| / 2`: 0 to 193. For an edge
    /// between macroblocks `(level + 2) * 2 + interior`, for one inside `level * 2 + interior`.
    pub edge: u8,
    /// The step between neighbours on one side that is filtered at most: 0 to 63. The simple filter has no use for it.
    pub interior: u8,
    /// A step next to the edge beyond this one is high edge variance, where fewer pixels are changed: 0 to 3.
    /// The simple filter has no use for it.
    pub high_variance: u8,
}
