//! The thresholds by which the loop filter distinguishes artefacts from content.

/// The thresholds of the loop filter at one edge, in steps of a pixel's value (RFC 6386 section 15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeLimits {
    /// Maximum step across the edge that is filtered, `|p0 - q0| * 2 + |p1 - q1| / 2`: 0 to 193. For an edge between
    /// macroblocks `(level + 2) * 2 + interior`, for one inside `level * 2 + interior`.
    pub edge: u8,
    /// Maximum step between neighbours on one side that is filtered: 0 to 63. The simple filter does not use it.
    pub interior: u8,
    /// A larger step next to the edge is high edge variance, where fewer pixels are changed: 0 to 3. The simple filter
    /// does not use it.
    pub high_variance: u8,
}
