//! The probabilities that a stream adapts.

pub use super::tables::CoefficientProbabilities;
use super::tables::DEFAULT_COEFFICIENTS;
use crate::bool_coder::Probability;

/// Probabilities of a motion vector's two components, vertical first (RFC 6386 section 17.1): whether it is long; the
/// sign; seven nodes of the tree of short magnitudes; ten bits of long ones.
pub type VectorProbabilities = [[Probability; 19]; 2];

/// The probabilities that are kept from frame to frame. A key frame starts from [`Probabilities::default`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probabilities {
    /// Probabilities of coefficient tokens.
    pub coefficients: CoefficientProbabilities,
    /// Probabilities of motion vectors.
    pub vectors: VectorProbabilities,
    /// Probabilities of intra luma modes outside key frames.
    pub luma_modes: [Probability; 4],
    /// Probabilities of intra chroma modes outside key frames.
    pub chroma_modes: [Probability; 3],
}

impl Default for Probabilities {
    fn default() -> Self {
        Self {
            coefficients: DEFAULT_COEFFICIENTS,
            vectors: DEFAULT_VECTORS,
            luma_modes: [112, 86, 140, 37],
            chroma_modes: [162, 101, 204],
        }
    }
}

/// The values at a key frame (RFC 6386 section 17.2).
const DEFAULT_VECTORS: VectorProbabilities = [
    [162, 128, 225, 146, 172, 147, 214, 39, 156, 128, 129, 132, 75, 145, 178, 206, 239, 254, 254],
    [164, 128, 204, 170, 119, 235, 140, 230, 228, 128, 130, 130, 74, 148, 180, 203, 236, 254, 254],
];

/// The probability that a frame's header keeps each value (RFC 6386 section 17.2).
pub const VECTOR_UPDATES: VectorProbabilities = [
    [237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254],
    [231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254],
];
