//! The inner loops over pixels and coefficients, written for every instruction set that makes them faster.
//!
//! A decoder and an encoder spend most of their time in about forty small functions. [`Kernels`] is the table of them,
//! with one method each. Their results are identical on every machine, so the table in use affects speed, but never a
//! picture or a bitstream. [`Kernels::detected`] is the fastest one for this processor. [`Kernels::scalar`] is plain
//! Rust: the definition that the others are tested against, and the fallback for architectures without their own
//! kernels (NEON would be a sibling of `x86` with its own line in [`Kernels::available`]).
//!
//! Blocks are given as a slice of a plane and the plane's stride (the distance between two rows, in pixels). A kernel
//! that reads only the block takes a slice that starts at its first pixel; one that also reads to the left of it or
//! above it (the interpolations and the loop filters) takes the whole plane and the block's index in it. A slice too
//! short for its block causes a panic, as with any index; the pixels beside a block in the same row are never changed.
//!
//! Unsafe code for vectors is in three places: the call of a function compiled for instructions that not every
//! processor has (`table`), and loads and stores through pointers (`x86::pixels` and `x86::coefficients`). All other
//! code is safe, as enforced by the compiler.
//!
//! ```
//! use thalweg_vp8::kernels::Kernels;
//!
//! let kernels = Kernels::detected();
//! let (block, reference) = ([100; 16 * 16], [103; 16 * 16]);
//! assert_eq!(kernels.sad_16x16(&block, 16, &reference, 16), 3 * 256);
//! assert_eq!(kernels.sse_16x16(&block, 16, &reference, 16), 9 * 256);
//! ```

mod fraction;
mod quantizer;
mod scalar;
mod table;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use fraction::Fraction;
pub use quantizer::{BlockQuantizer, LARGEST_LEVEL};
pub use table::Kernels;

/// Sixteen coefficients of a 4x4 block, row by row (not in zigzag order).
pub type Block = [i16; 16];

/// The sum of the differences of two blocks' pixels, and of their squares; the variance follows from both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    /// The sum of the differences, block minus reference.
    pub sum: i32,
    /// The sum of the squared differences.
    pub squares: u32,
}

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

/// The position of each coefficient of a [`Block`] in the zigzag scan (RFC 6386 section 13: the inverse of its `zigzag`
/// table).
pub const SCAN_POSITIONS: [u8; 16] = [0, 1, 5, 6, 2, 4, 7, 12, 3, 8, 11, 13, 9, 10, 14, 15];

impl Kernels {
    /// The fastest table for this processor, looked up once.
    #[must_use]
    pub fn detected() -> &'static Self {
        use std::sync::OnceLock;
        static FASTEST: OnceLock<&'static Kernels> = OnceLock::new();
        FASTEST.get_or_init(|| Self::available().last().copied().unwrap_or(Self::scalar()))
    }

    /// Plain Rust, which every other table is tested against.
    #[must_use]
    pub fn scalar() -> &'static Self {
        static SCALAR: Kernels = scalar::TABLE;
        &SCALAR
    }

    /// Every table that this processor supports, the slowest (the scalar one) first: for tests and measurements.
    #[must_use]
    pub fn available() -> Vec<&'static Self> {
        let mut tables = vec![Self::scalar()];
        #[cfg(target_arch = "x86_64")]
        tables.extend(x86::available());
        tables
    }
}
