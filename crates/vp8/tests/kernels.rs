//! Every table of kernels of this machine computes the same as the scalar one, for random and extreme inputs.

use proptest::prelude::*;
use thalweg_vp8::kernels::{Block, BlockQuantizer, EdgeLimits, Fraction, Kernels};

/// Rows and columns of the planes below: room for the largest block with eight pixels on each side.
const ROWS: usize = 32;

/// The tables other than the scalar one.
fn vector_tables() -> Vec<&'static Kernels> {
    Kernels::available().split_off(1)
}

/// The content of a plane of pixels.
#[derive(Debug, Clone, Copy)]
enum Texture {
    /// Any values.
    Noise,
    /// Only the minimum and maximum values, where sums saturate.
    Extremes,
    /// Values that differ by at most this much, for the loop filters' thresholds.
    Smooth(u8),
}

fn textures() -> impl Strategy<Value = Texture> {
    prop_oneof![Just(Texture::Noise), Just(Texture::Extremes), (1..40_u8).prop_map(Texture::Smooth)]
}

/// Pseudo-random numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pixels(&mut self, count: usize, texture: Texture) -> Vec<u8> {
        let base = self.next() as u8;
        let mut pixel = || match texture {
            Texture::Noise => self.next() as u8,
            Texture::Extremes => [0, 255][self.next() as usize % 2],
            Texture::Smooth(range) => base.saturating_add((self.next() % u64::from(range)) as u8),
        };
        (0..count).map(|_| pixel()).collect()
    }
}

/// A plane: its pixels and its stride.
#[derive(Debug, Clone)]
struct Plane {
    pixels: Vec<u8>,
    stride: usize,
}

fn planes() -> impl Strategy<Value = Plane> {
    (any::<u64>(), textures(), 32..80_usize)
        .prop_map(|(seed, texture, stride)| Plane { pixels: Numbers(seed).pixels(ROWS * stride, texture), stride })
}

/// Blocks at the end of their slice, so that a read beyond the block is out of bounds.
fn blocks_at_the_end(plane: &Plane, columns: usize, rows: usize) -> &[u8] {
    &plane.pixels[plane.pixels.len() - ((rows - 1) * plane.stride + columns)..]
}

fn coefficients() -> impl Strategy<Value = Block> {
    prop_oneof![
        proptest::array::uniform16(any::<i16>()),
        proptest::array::uniform16(-2048..2048_i16),
        proptest::array::uniform16(prop_oneof![Just(0_i16), -40..40_i16]),
        proptest::array::uniform16(prop_oneof![Just(i16::MIN), Just(i16::MAX), Just(0)]),
    ]
}

/// Compares kernels that take two blocks.
macro_rules! comparisons_agree {
    ($tables:expr, $a:expr, $b:expr, $($kernel:ident: $columns:literal x $rows:literal,)*) => {$(
        let (block, reference) = (blocks_at_the_end($a, $columns, $rows), blocks_at_the_end($b, $columns, $rows));
        let expected = Kernels::scalar().$kernel(block, $a.stride, reference, $b.stride);
        for table in $tables {
            let found = table.$kernel(block, $a.stride, reference, $b.stride);
            prop_assert_eq!(found, expected, "{} {}", table.name(), stringify!($kernel));
        }
    )*};
}

/// Compares kernels that take a block and four others.
macro_rules! comparisons_of_four_agree {
    ($tables:expr, $a:expr, $b:expr, $at:expr, $($kernel:ident: $columns:literal x $rows:literal,)*) => {$(
        let block = blocks_at_the_end($a, $columns, $rows);
        let room = $b.pixels.len() - (($rows - 1) * $b.stride + $columns);
        let at = $at.map(|at: usize| at.min(room));
        let expected = Kernels::scalar().$kernel(block, $a.stride, &$b.pixels, at, $b.stride);
        for table in $tables {
            let found = table.$kernel(block, $a.stride, &$b.pixels, at, $b.stride);
            prop_assert_eq!(found, expected, "{} {}", table.name(), stringify!($kernel));
        }
    )*};
}

/// Compares kernels that predict from a reference, given exactly the pixels that they may read.
macro_rules! predictions_agree {
    (
        $tables:expr, $reference:expr, $fraction:expr, $before:expr, $after:expr,
        $($kernel:ident: $columns:literal x $rows:literal,)*
    ) => {$(
        let (x, y) = (usize::from($fraction.x() != 0), usize::from($fraction.y() != 0));
        let stride = $reference.stride;
        let at = y * $before * stride + x * $before;
        let length = at + ($rows - 1 + y * $after) * stride + $columns + x * $after;
        let reference = &$reference.pixels[$reference.pixels.len() - length..];
        let mut expected = vec![7; 40 * $rows];
        Kernels::scalar().$kernel(reference, at, stride, $fraction, &mut expected, 40);
        for table in $tables {
            let mut found = vec![7; 40 * $rows];
            let used = 40 * ($rows - 1) + $columns;
            table.$kernel(reference, at, stride, $fraction, &mut found[..used], 40);
            prop_assert_eq!(&found, &expected, "{} {} {:?}", table.name(), stringify!($kernel), $fraction);
        }
    )*};
}

/// Compares kernels that change pixels of one or two planes.
macro_rules! filters_agree {
    ($tables:expr, $planes:expr, $limits:expr, $($kernel:ident($($plane:tt),*),)*) => {$(
        let mut expected = $planes.clone();
        let stride = expected[0].stride;
        let at = 8 * stride + 8;
        {
            let [u, v] = &mut expected;
            let planes = [&mut u.pixels, &mut v.pixels];
            filters_agree!(@call Kernels::scalar(), $kernel, planes, ($($plane),*), at, stride, $limits);
        }
        for table in $tables {
            let mut found = $planes.clone();
            {
                let [u, v] = &mut found;
                let planes = [&mut u.pixels, &mut v.pixels];
                filters_agree!(@call table, $kernel, planes, ($($plane),*), at, stride, $limits);
            }
            for i in 0..2 {
                prop_assert_eq!(&found[i].pixels, &expected[i].pixels, "{} {}", table.name(), stringify!($kernel));
            }
        }
    )*};
    (@call $table:expr, $kernel:ident, $planes:ident, (luma), $at:ident, $stride:ident, $limits:expr) => {
        $table.$kernel($planes.into_iter().next().unwrap(), $at, $stride, $limits)
    };
    (@call $table:expr, $kernel:ident, $planes:ident, (u, v), $at:ident, $stride:ident, $limits:expr) => {{
        let [u, v] = $planes;
        $table.$kernel(u, v, $at, $stride, $limits)
    }};
}

/// A thousand cases, and a few where Miri looks at every access (`.ci/nightly miri`), which takes seconds a case and has no
/// files.
fn config() -> ProptestConfig {
    if cfg!(miri) {
        ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() }
    } else {
        ProptestConfig::with_cases(1000)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_are_compared_as_the_scalar_kernels_compare_them(a in planes(), b in planes()) {
        comparisons_agree!(vector_tables(), &a, &b,
            sad_16x16: 16 x 16, sad_8x8: 8 x 8,
            satd_16x16: 16 x 16, satd_8x8: 8 x 8, satd_4x4: 4 x 4,
        );
    }

    #[test]
    fn four_positions_are_compared_as_one_at_a_time(
        a in planes(), b in planes(), at in proptest::array::uniform4(0..2000_usize),
    ) {
        comparisons_of_four_agree!(vector_tables(), &a, &b, at,
            sad_16x16_at: 16 x 16, sad_8x8_at: 8 x 8,
        );
    }

    #[test]
    fn coefficients_are_quantised_as_the_scalar_kernel_does(
        coefficients in coefficients(),
        steps in (4..441_i16, 4..441_i16),
        rounding in proptest::array::uniform16(any::<u8>()),
        zero_bins in proptest::array::uniform16(any::<u8>()),
    ) {
        let quantizer = BlockQuantizer::new(steps.0, steps.1, &rounding, &zero_bins);
        let quantize = |table: &Kernels| {
            let (mut levels, mut restored) = ([1; 16], [1; 16]);
            let coded = table.quantize(&coefficients, &quantizer, &mut levels, &mut restored);
            (levels, restored, coded)
        };
        for table in vector_tables() {
            prop_assert_eq!(quantize(table), quantize(Kernels::scalar()), "{}", table.name());
        }
    }

    #[test]
    fn coefficients_become_pixels_as_the_scalar_kernels_make_them(
        blocks in proptest::array::uniform4(coefficients()), plane in planes(),
    ) {
        let [a, b, ..] = blocks;
        let dc = blocks.map(|block| block[0]);
        let after = |length: usize, change: &dyn Fn(&mut [u8], usize)| {
            let mut pixels = plane.pixels[..3 * plane.stride + length].to_vec();
            change(&mut pixels, plane.stride);
            pixels
        };
        let all = |table: &Kernels| [
            after(4, &|pixels, stride| table.idct_add(&a, pixels, stride)),
            after(8, &|pixels, stride| table.idct_add_pair(&[a, b], pixels, stride)),
            after(16, &|pixels, stride| table.idct_add_four(&blocks, pixels, stride)),
            after(4, &|pixels, stride| table.idct_dc_add(dc[0], pixels, stride)),
            after(8, &|pixels, stride| table.idct_dc_add_pair([dc[0], dc[1]], pixels, stride)),
            after(16, &|pixels, stride| table.idct_dc_add_four(dc, pixels, stride)),
        ];
        for table in vector_tables() {
            prop_assert_eq!(all(table), all(Kernels::scalar()), "{}", table.name());
            prop_assert_eq!(table.inverse_walsh(&a), Kernels::scalar().inverse_walsh(&a), "{}", table.name());
        }
    }

    #[test]
    fn residuals_are_transformed_as_the_scalar_kernels_do(
        a in planes(), b in planes(), values in coefficients(),
    ) {
        comparisons_agree!(vector_tables(), &a, &b,
            forward_dct: 4 x 4, forward_dct_pair: 8 x 4, forward_dct_four: 16 x 4,
        );
        for table in vector_tables() {
            prop_assert_eq!(table.forward_walsh(&values), Kernels::scalar().forward_walsh(&values), "{}", table.name());
        }
    }

    #[test]
    fn references_are_interpolated_as_the_scalar_kernels_do(reference in planes(), x in 0..8_i32, y in 0..8_i32) {
        let fraction = Fraction::of_vector(x, y);
        predictions_agree!(vector_tables(), reference, fraction, 2, 3,
            sixtap_16x16: 16 x 16, sixtap_8x8: 8 x 8, sixtap_8x4: 8 x 4, sixtap_4x4: 4 x 4,
        );
        predictions_agree!(vector_tables(), reference, fraction, 0, 1,
            bilinear_16x16: 16 x 16, bilinear_8x8: 8 x 8, bilinear_8x4: 8 x 4, bilinear_4x4: 4 x 4,
        );
    }

    #[test]
    fn edges_are_filtered_as_the_scalar_kernels_do(
        seed in any::<u64>(), texture in textures(), stride in 32..80_usize,
        edge in any::<u8>(), interior in 0..64_u8, high_variance in 0..4_u8,
    ) {
        let mut numbers = Numbers(seed);
        let planes = [0, 1].map(|_| Plane { pixels: numbers.pixels(ROWS * stride, texture), stride });
        let limits = EdgeLimits { edge, interior, high_variance };
        filters_agree!(vector_tables(), planes, limits,
            filter_left_edge(luma), filter_upper_edge(luma),
            filter_inner_left_edges(luma), filter_inner_upper_edges(luma),
            filter_left_edge_chroma(u, v), filter_upper_edge_chroma(u, v),
            filter_inner_left_edge_chroma(u, v), filter_inner_upper_edge_chroma(u, v),
        );
        filters_agree!(vector_tables(), planes, edge,
            filter_left_edge_simply(luma), filter_upper_edge_simply(luma),
            filter_inner_left_edges_simply(luma), filter_inner_upper_edges_simply(luma),
        );
    }
}

#[test]
fn miri_looks_at_every_table() {
    let names: Vec<_> = vector_tables().iter().map(|table| table.name()).collect();
    assert!(!cfg!(miri) || names == ["sse4.1", "avx2"], "{names:?}: compile for them, -C target-feature=+avx2");
}

/// Returns true if a call panics.
fn is_refused(call: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err()
}

#[test]
fn a_block_that_is_not_inside_its_slice_is_refused_by_every_table() {
    let limits = EdgeLimits { edge: 40, interior: 10, high_variance: 1 };
    let half = Fraction::of_vector(4, 4);
    let enough = vec![0; 64 * 64];
    for table in Kernels::available() {
        // One pixel too few for rows 40 apart, after an exact fit.
        for (missing, is_missing) in [(0, false), (1, true)] {
            let short = |columns: usize, rows: usize| &enough[..(rows - 1) * 40 + columns - missing];
            let mut copy = enough.clone();
            let mut other = enough.clone();
            let refused = [
                is_refused(|| _ = table.sad_16x16(short(16, 16), 40, &enough, 40)),
                is_refused(|| _ = table.sad_8x8(&enough, 40, short(8, 8), 40)),
                is_refused(|| _ = table.sad_8x8_at(&enough, 40, &enough[..2000 - missing], [0, 1, 2, 1712], 40)),
                is_refused(|| _ = table.satd_4x4(&enough, 40, short(4, 4), 40)),
                is_refused(|| _ = table.satd_16x16(&enough, 40, short(16, 16), 40)),
                is_refused(|| _ = table.forward_dct_four(&enough, 40, short(16, 4), 40)),
                is_refused(|| table.idct_add(&[1; 16], &mut copy[..3 * 40 + 4 - missing], 40)),
                is_refused(|| table.idct_dc_add_four([8; 4], &mut copy[..3 * 40 + 16 - missing], 40)),
                is_refused(|| table.sixtap_16x16(short(21, 21), 82, 40, half, &mut copy, 16)),
                is_refused(|| table.sixtap_8x8(&enough, 82 - missing, 40, half, &mut copy, 16)),
                is_refused(|| table.sixtap_4x4(&enough, 82, 40, half, &mut copy[..16 - missing], 4)),
                is_refused(|| table.bilinear_8x4(short(9, 5), 0, 40, half, &mut copy, 16)),
                is_refused(|| table.filter_left_edge(&mut copy, 4 - missing, 40, limits)),
                is_refused(|| table.filter_upper_edge(&mut copy, 160 - missing, 40, limits)),
                is_refused(|| table.filter_inner_left_edges(&mut copy[..15 * 40 + 16 - missing], 0, 40, limits)),
                is_refused(|| table.filter_inner_upper_edges(&mut copy[..15 * 40 + 16 - missing], 0, 40, limits)),
                is_refused(|| {
                    let v = &mut other[..7 * 40 + 8 - missing];
                    table.filter_inner_left_edge_chroma(&mut copy, v, 0, 40, limits);
                }),
                is_refused(|| table.filter_upper_edge_simply(&mut copy, 80 - missing, 40, 9)),
            ];
            assert_eq!(refused, [is_missing; 18], "{}", table.name());
        }
        assert!(is_refused(|| _ = table.sad_16x16(&enough, usize::MAX / 8, &enough, 40)), "{}", table.name());
        assert!(is_refused(|| _ = table.sad_16x16(&enough, 40, &enough, usize::MAX / 15 + 1)), "{}", table.name());
    }
}
