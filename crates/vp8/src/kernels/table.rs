//! The table: every kernel's name, arguments and meaning.
#![allow(unsafe_code)] // The functions are compiled for more than the target's baseline.

use super::{Block, BlockQuantizer, EdgeLimits, Fraction};

/// Makes the table of functions and a method that calls each.
macro_rules! kernels {
    ($($(#[$documentation:meta])* fn $kernel:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The inner loops of the codec, for one instruction set. See the [module](super) for how blocks are given.
        pub struct Kernels {
            /// Name of the instruction set: "scalar", "sse4.1", "avx2".
            pub(super) name: &'static str,
            $(pub(super) $kernel: unsafe fn($($type),*) $(-> $result)?,)*
        }

        impl Kernels {
            /// Name of this table's instruction set: `scalar`, `sse4.1`, `avx2`.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                self.name
            }

            $($(#[$documentation])*
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            pub fn $kernel(&self, $($argument: $type),*) $(-> $result)? {
                // SAFETY: a table leaves this module only on a processor with the instructions its functions are
                // compiled for, which is all they ask of a caller: each checks its slices' lengths itself.
                unsafe { (self.$kernel)($($argument),*) }
            })*
        }

        impl std::fmt::Debug for Kernels {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.debug_tuple("Kernels").field(&self.name).finish()
            }
        }
    };
}

kernels! {
    // Transforms.

    /// Adds the inverse DCT of a block to the 4x4 pixels of the prediction in `pixels` (RFC 6386 section 14.3), in
    /// 16-bit arithmetic with wraparound, as libvpx's vector versions do; no valid stream causes wraparound.
    fn idct_add(coefficients: &Block, pixels: &mut [u8], stride: usize);
    /// [`idct_add`](Self::idct_add) for two blocks beside each other: 8x4 pixels.
    fn idct_add_pair(coefficients: &[Block; 2], pixels: &mut [u8], stride: usize);
    /// [`idct_add`](Self::idct_add) for four blocks beside each other: 16x4 pixels.
    fn idct_add_four(coefficients: &[Block; 4], pixels: &mut [u8], stride: usize);
    /// [`idct_add`](Self::idct_add) of a block whose only coefficient is its first, `dc`.
    fn idct_dc_add(dc: i16, pixels: &mut [u8], stride: usize);
    /// [`idct_dc_add`](Self::idct_dc_add) for two blocks beside each other: 8x4 pixels.
    fn idct_dc_add_pair(dc: [i16; 2], pixels: &mut [u8], stride: usize);
    /// [`idct_dc_add`](Self::idct_dc_add) for four blocks beside each other: 16x4 pixels.
    fn idct_dc_add_four(dc: [i16; 4], pixels: &mut [u8], stride: usize);
    /// The inverse Walsh-Hadamard transform of a Y2 block: the first coefficients of the sixteen luma blocks, in their
    /// order (RFC 6386 section 14.3).
    fn inverse_walsh(coefficients: &Block) -> Block;
    /// The DCT of the difference of a 4x4 block and its prediction: the transform that [`idct_add`](Self::idct_add)
    /// inverts, rounded to minimise the error of the inverse. Zero difference gives zero coefficients.
    fn forward_dct(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> Block;
    /// [`forward_dct`](Self::forward_dct) of two blocks beside each other: 8x4 pixels.
    fn forward_dct_pair(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> [Block; 2];
    /// [`forward_dct`](Self::forward_dct) of four blocks beside each other: 16x4 pixels.
    fn forward_dct_four(block: &[u8], block_stride: usize, prediction: &[u8], prediction_stride: usize) -> [Block; 4];
    /// The Walsh-Hadamard transform of the sixteen luma blocks' first coefficients (each from -2047 to 2047);
    /// [`inverse_walsh`](Self::inverse_walsh) inverts it.
    fn forward_walsh(coefficients: &Block) -> Block;
    /// Quantises a block: gives its levels, the coefficients that a decoder will restore, and a bit for each position
    /// of the zigzag scan, from the lowest: whether its level is not 0.
    fn quantize(coefficients: &Block, quantizer: &BlockQuantizer, levels: &mut Block, restored: &mut Block) -> u16;

    // Prediction from a reference frame.

    /// Predicts 16x16 pixels from the reference at index `at`, with the six-tap filters (RFC 6386 section 18): where
    /// the horizontal (vertical) fraction is not 0, the two columns (rows) before and the three after are read as well.
    /// If these are outside of the reference, the caller must pass a copy that has them. With a fraction of 0 in both
    /// directions the pixels are copied.
    fn sixtap_16x16(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`sixtap_16x16`](Self::sixtap_16x16) for 8x8 pixels.
    fn sixtap_8x8(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`sixtap_16x16`](Self::sixtap_16x16) for 8 columns and 4 rows.
    fn sixtap_8x4(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`sixtap_16x16`](Self::sixtap_16x16) for 4x4 pixels.
    fn sixtap_4x4(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// Predicts 16x16 pixels from the reference at index `at`, with the bilinear filters of versions 1 and 2: where the
    /// horizontal (vertical) fraction is not 0, the column (row) after is read as well.
    fn bilinear_16x16(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`bilinear_16x16`](Self::bilinear_16x16) for 8x8 pixels.
    fn bilinear_8x8(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`bilinear_16x16`](Self::bilinear_16x16) for 8 columns and 4 rows.
    fn bilinear_8x4(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );
    /// [`bilinear_16x16`](Self::bilinear_16x16) for 4x4 pixels.
    fn bilinear_4x4(
        reference: &[u8],
        at: usize,
        reference_stride: usize,
        fraction: Fraction,
        prediction: &mut [u8],
        stride: usize,
    );

    // Loop filters (RFC 6386 section 15). `at` is the first pixel of the macroblock whose edge is filtered.

    /// The normal filter at the left edge of a macroblock's 16 rows of luma: reads four pixels on each side of it and
    /// changes three.
    fn filter_left_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the upper edge of a macroblock's 16 columns of luma.
    fn filter_upper_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the left edges of the subblocks inside a macroblock's luma, 4, 8 and 12 to the right of
    /// `at`: reads four pixels on each side of each and changes two.
    fn filter_inner_left_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the upper edges of the subblocks inside a macroblock's luma, 4, 8 and 12 below `at`.
    fn filter_inner_upper_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the left edge of a macroblock's 8 rows of each chroma plane.
    fn filter_left_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the upper edge of a macroblock's 8 columns of each chroma plane.
    fn filter_upper_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the left edges of the subblocks inside a macroblock's chroma, 4 to the right of `at`.
    fn filter_inner_left_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The normal filter at the upper edges of the subblocks inside a macroblock's chroma, 4 below `at`.
    fn filter_inner_upper_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits);
    /// The simple filter at the left edge of a macroblock's 16 rows of luma, up to a step of `edge` (see
    /// [`EdgeLimits::edge`]): uses two pixels on each side of it and changes one; four must exist.
    fn filter_left_edge_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8);
    /// The simple filter at the upper edge of a macroblock's 16 columns of luma.
    fn filter_upper_edge_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8);
    /// The simple filter at the left edges of the subblocks inside a macroblock's luma, 4, 8 and 12 to the right of
    /// `at`.
    fn filter_inner_left_edges_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8);
    /// The simple filter at the upper edges of the subblocks inside a macroblock's luma, 4, 8 and 12 below `at`.
    fn filter_inner_upper_edges_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8);

    // Difference metrics of two blocks.

    /// The sum of the absolute differences of 16x16 pixels.
    fn sad_16x16(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32;
    /// The sum of the absolute differences of 8x8 pixels.
    fn sad_8x8(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32;
    /// [`sad_16x16`](Self::sad_16x16) with the reference blocks that start at each of four indices.
    fn sad_16x16_at(
        block: &[u8],
        block_stride: usize,
        reference: &[u8],
        at: [usize; 4],
        reference_stride: usize,
    ) -> [u32; 4];
    /// [`sad_8x8`](Self::sad_8x8) with the reference blocks that start at each of four indices.
    fn sad_8x8_at(
        block: &[u8],
        block_stride: usize,
        reference: &[u8],
        at: [usize; 4],
        reference_stride: usize,
    ) -> [u32; 4];
    /// The sum of the absolute values of the differences' 4x4 Hadamard transforms, halved: a better estimate of the
    /// cost of a 16x16 residual than the plain sum. A flat difference of `d` is 8 `d` per 4x4 block.
    fn satd_16x16(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32;
    /// [`satd_16x16`](Self::satd_16x16) for 8x8 pixels.
    fn satd_8x8(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32;
    /// [`satd_16x16`](Self::satd_16x16) for 4x4 pixels.
    fn satd_4x4(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32;
}
