//! The loop filters (RFC 6386 section 15), one position along an edge at a time.

use super::super::EdgeLimits;

/// The distances in a plane between neighbouring pixels across an edge and along it.
#[derive(Clone, Copy)]
struct Steps {
    across: usize,
    along: usize,
}

/// For an edge between two columns.
const fn vertical(stride: usize) -> Steps {
    Steps { across: 1, along: stride }
}

/// For an edge between two rows.
const fn horizontal(stride: usize) -> Steps {
    Steps { across: stride, along: 1 }
}

pub fn left_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    macroblock_edge::<16>(luma, at, vertical(stride), limits);
}

pub fn upper_edge(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    macroblock_edge::<16>(luma, at, horizontal(stride), limits);
}

pub fn inner_left_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for x in [4, 8, 12] {
        subblock_edge::<16>(luma, at + x, vertical(stride), limits);
    }
}

pub fn inner_upper_edges(luma: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for y in [4, 8, 12] {
        subblock_edge::<16>(luma, at + y * stride, horizontal(stride), limits);
    }
}

pub fn left_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for plane in [u, v] {
        macroblock_edge::<8>(plane, at, vertical(stride), limits);
    }
}

pub fn upper_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for plane in [u, v] {
        macroblock_edge::<8>(plane, at, horizontal(stride), limits);
    }
}

pub fn inner_left_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for plane in [u, v] {
        subblock_edge::<8>(plane, at + 4, vertical(stride), limits);
    }
}

pub fn inner_upper_edge_chroma(u: &mut [u8], v: &mut [u8], at: usize, stride: usize, limits: EdgeLimits) {
    for plane in [u, v] {
        subblock_edge::<8>(plane, at + 4 * stride, horizontal(stride), limits);
    }
}

pub fn left_edge_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    simple_edge(luma, at, vertical(stride), edge);
}

pub fn upper_edge_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    simple_edge(luma, at, horizontal(stride), edge);
}

pub fn inner_left_edges_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    for x in [4, 8, 12] {
        simple_edge(luma, at + x, vertical(stride), edge);
    }
}

pub fn inner_upper_edges_simply(luma: &mut [u8], at: usize, stride: usize, edge: u8) {
    for y in [4, 8, 12] {
        simple_edge(luma, at + y * stride, horizontal(stride), edge);
    }
}

/// A pixel as a signed number for the filters.
fn signed(pixel: u8) -> i32 {
    i32::from(pixel) - 128
}

/// The nearest pixel value of a signed number.
fn pixel(value: i32) -> u8 {
    (clamp(value) + 128) as u8
}

/// Clamps to the range of a signed byte.
fn clamp(value: i32) -> i32 {
    value.clamp(-128, 127)
}

/// The filter step of an edge, from the two pixels on each side of it.
fn step(outer: [i32; 2], inner: [i32; 2], uses_outer: bool) -> i32 {
    let outer = if uses_outer { clamp(outer[0] - outer[1]) } else { 0 };
    clamp(outer + 3 * (inner[1] - inner[0]))
}

/// Moves the two pixels at an edge towards each other by an eighth of the step; halves are rounded up on one side and
/// down on the other. Returns the change of the right one.
fn common_adjust(step: i32, left: &mut i32, right: &mut i32) -> i32 {
    let (of_right, of_left) = (clamp(step + 4) >> 3, clamp(step + 3) >> 3);
    (*left, *right) = (clamp(*left + of_left), clamp(*right - of_right));
    of_right
}

/// Returns true if the step across an edge, from the pixels before and after it, is small enough to be an artefact.
fn is_within(edge: u8, before: [u8; 2], after: [u8; 2]) -> bool {
    let (inner, outer) = (before[0].abs_diff(after[0]), before[1].abs_diff(after[1]));
    inner.saturating_mul(2).saturating_add(outer / 2) <= edge // 255 is beyond every limit there is
}

/// The eight pixels across an edge, whether the normal filter applies to them, and whether their edge has high
/// variance.
fn across(plane: &[u8], at: usize, across: usize, limits: EdgeLimits) -> ([u8; 8], bool, bool) {
    let pixels: [u8; 8] = std::array::from_fn(|i| plane[at + i * across - 4 * across]);
    let steps: [u8; 7] = std::array::from_fn(|i| pixels[i].abs_diff(pixels[i + 1]));
    let is_smooth = steps.iter().enumerate().all(|(i, step)| i == 3 || *step <= limits.interior);
    let is_filtered = is_smooth && is_within(limits.edge, [pixels[3], pixels[2]], [pixels[4], pixels[5]]);
    (pixels, is_filtered, steps[2].max(steps[4]) > limits.high_variance)
}

fn macroblock_edge<const LENGTH: usize>(plane: &mut [u8], at: usize, steps: Steps, limits: EdgeLimits) {
    for at in (0..LENGTH).map(|i| at + i * steps.along) {
        let (pixels, is_filtered, is_high_variance) = across(plane, at, steps.across, limits);
        if !is_filtered {
            continue;
        }
        let [_, p2, p1, mut p0, mut q0, q1, q2, _] = pixels.map(signed);
        let step = step([p1, q1], [p0, q0], true);
        let filtered = if is_high_variance {
            common_adjust(step, &mut p0, &mut q0);
            [p2, p1, p0, q0, q1, q2]
        } else {
            // About 3/7, 2/7 and 1/7 of the step, larger nearer to the edge.
            let [near, middle, far] = [27, 18, 9].map(|share| (share * step + 63) >> 7);
            [p2 + far, p1 + middle, p0 + near, q0 - near, q1 - middle, q2 - far]
        };
        for (i, value) in filtered.into_iter().enumerate() {
            plane[at + i * steps.across - 3 * steps.across] = pixel(value);
        }
    }
}

fn subblock_edge<const LENGTH: usize>(plane: &mut [u8], at: usize, steps: Steps, limits: EdgeLimits) {
    for at in (0..LENGTH).map(|i| at + i * steps.along) {
        let (pixels, is_filtered, is_high_variance) = across(plane, at, steps.across, limits);
        if !is_filtered {
            continue;
        }
        let [_, _, mut p1, mut p0, mut q0, mut q1, _, _] = pixels.map(signed);
        let moved = common_adjust(step([p1, q1], [p0, q0], is_high_variance), &mut p0, &mut q0);
        if !is_high_variance {
            let outer = (moved + 1) >> 1;
            (p1, q1) = (p1 + outer, q1 - outer);
        }
        for (i, value) in [p1, p0, q0, q1].into_iter().enumerate() {
            plane[at + i * steps.across - 2 * steps.across] = pixel(value);
        }
    }
}

fn simple_edge(plane: &mut [u8], at: usize, steps: Steps, edge: u8) {
    for at in (0..16).map(|i| at + i * steps.along) {
        let [p1, p0, q0, q1]: [u8; 4] = std::array::from_fn(|i| plane[at + i * steps.across - 2 * steps.across]);
        if is_within(edge, [p0, p1], [q0, q1]) {
            let [p1, mut p0, mut q0, q1] = [p1, p0, q0, q1].map(signed);
            common_adjust(step([p1, q1], [p0, q0], true), &mut p0, &mut q0);
            (plane[at - steps.across], plane[at]) = (pixel(p0), pixel(q0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: EdgeLimits = EdgeLimits { edge: 40, interior: 10, high_variance: 2 };

    /// Filters sixteen rows of the eight pixels across an edge; returns the first row.
    fn across(pixels: [u8; 8], filter: impl Fn(&mut [u8], usize, usize)) -> [u8; 8] {
        let mut plane = pixels.repeat(16);
        filter(&mut plane, 4, 8);
        assert!(plane.chunks(8).all(|row| row == &plane[..8]));
        plane[..8].try_into().unwrap()
    }

    #[test]
    fn a_macroblocks_step_is_spread_over_three_pixels_each_side() {
        // The step is clamp(clamp(100 - 110) + 3 * (110 - 100)) = 20: moves of (27, 18, 9) * 20 + 63 over 128: 4, 3, 1.
        let pixels = [100, 100, 100, 100, 110, 110, 110, 110];
        let filtered = across(pixels, |plane, at, stride| left_edge(plane, at, stride, LIMITS));
        assert_eq!(filtered, [100, 101, 103, 104, 106, 107, 109, 110]);
    }

    #[test]
    fn a_subblocks_step_is_spread_over_two_pixels_each_side() {
        // The step is 3 * 10 = 30: (30 + 3) / 8 = 4 and (30 + 4) / 8 = 4 next to the edge, and (4 + 1) / 2 = 2 beyond.
        let pixels = [100, 100, 100, 100, 110, 110, 110, 110];
        let filtered = across(pixels, |plane, at, stride| subblock_edge::<16>(plane, at, vertical(stride), LIMITS));
        assert_eq!(filtered, [100, 100, 102, 104, 106, 108, 110, 110]);
    }

    #[test]
    fn where_the_variance_is_high_only_the_pixels_at_the_edge_move() {
        // 97 and 100 differ by more than 2. The step is clamp(97 - 110) + 3 * 10 = 17: (17 + 3) / 8 = 2 and 21 / 8 = 2.
        let pixels = [97, 97, 97, 100, 110, 110, 110, 110];
        let expected = [97, 97, 97, 102, 108, 110, 110, 110];
        assert_eq!(across(pixels, |plane, at, stride| left_edge(plane, at, stride, LIMITS)), expected);
        let subblock = across(pixels, |plane, at, stride| subblock_edge::<16>(plane, at, vertical(stride), LIMITS));
        assert_eq!(subblock, expected);
    }

    #[test]
    fn a_step_beyond_the_limits_is_a_picture_and_stays() {
        let step = [100, 100, 100, 100, 120, 120, 120, 120]; // 20 * 2 + 20 / 2 is above 40
        assert_eq!(across(step, |plane, at, stride| left_edge(plane, at, stride, LIMITS)), step);
        assert_eq!(across(step, |plane, at, stride| left_edge_simply(plane, at, stride, 49)), step);
        let texture = [100, 111, 100, 100, 110, 110, 110, 110]; // 11 between neighbours is above 10
        assert_eq!(across(texture, |plane, at, stride| left_edge(plane, at, stride, LIMITS)), texture);
    }

    #[test]
    fn the_simple_filter_moves_the_two_pixels_at_the_edge() {
        // clamp(100 - 120) + 3 * 20 = 40: 43 / 8 = 5 and 44 / 8 = 5.
        let step = [100, 100, 100, 100, 120, 120, 120, 120];
        let filtered = across(step, |plane, at, stride| left_edge_simply(plane, at, stride, 50));
        assert_eq!(filtered, [100, 100, 100, 105, 115, 120, 120, 120]);
    }

    #[test]
    fn an_edge_between_rows_is_filtered_as_one_between_columns() {
        let plane: Vec<u8> = (0..32 * 32_u32).map(|i| 100 + (i.wrapping_mul(2_654_435_761) >> 28) as u8).collect();
        let turned: Vec<u8> = (0..32 * 32).map(|i| plane[i % 32 * 32 + i / 32]).collect();
        type Filter = fn(&mut [u8], usize, usize, EdgeLimits);
        let pairs: [(Filter, Filter); 2] = [(left_edge, upper_edge), (inner_left_edges, inner_upper_edges)];
        for (of_columns, of_rows) in pairs {
            let (mut columns, mut rows) = (plane.clone(), turned.clone());
            of_columns(&mut columns, 8 * 32 + 8, 32, LIMITS);
            of_rows(&mut rows, 8 * 32 + 8, 32, LIMITS);
            assert_ne!(columns, plane);
            assert!((0..32 * 32).all(|i| columns[i] == rows[i % 32 * 32 + i / 32]));
        }
    }
}
