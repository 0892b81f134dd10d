//! The loop filters (RFC 6386 section 15), a position along an edge at a time.

use super::super::EdgeLimits;

/// The distances, in a plane, of two pixels beside each other across an edge and along it.
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

/// A pixel as the signed number the filters reckon with.
fn signed(pixel: u8) -> i32 {
    i32::from(pixel) - 128
}

/// And back, the nearest pixel there is.
fn pixel(value: i32) -> u8 {
    (clamp(value) + 128) as u8
}

/// To the range of a signed byte.
fn clamp(value: i32) -> i32 {
    value.clamp(-128, 127)
}

/// How much an edge is moved by the two pixels on each side of it.
fn step(outer: [i32; 2], inner: [i32; 2], uses_outer: bool) -> i32 {
    let outer = if uses_outer { clamp(outer[0] - outer[1]) } else { 0 };
    clamp(outer + 3 * (inner[1] - inner[0]))
}

/// Moves the two pixels at an edge an eighth of the step towards each other; what is half rounds up on one side and
/// down on the other. Returns what the right one was moved by.
fn common_adjust(step: i32, left: &mut i32, right: &mut i32) -> i32 {
    let (of_right, of_left) = (clamp(step + 4) >> 3, clamp(step + 3) >> 3);
    (*left, *right) = (clamp(*left + of_left), clamp(*right - of_right));
    of_right
}

/// Whether the step across an edge, of the pixels before and after it, is small enough for an artefact.
fn is_within(edge: u8, before: [u8; 2], after: [u8; 2]) -> bool {
    let (inner, outer) = (before[0].abs_diff(after[0]), before[1].abs_diff(after[1]));
    inner.saturating_mul(2).saturating_add(outer / 2) <= edge // 255 is beyond every limit there is
}

/// The eight pixels across an edge, whether the normal filter is for them at all, and whether their edge is of high
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
            // About 3/7, 2/7 and 1/7 of the step, the nearer the edge the more.
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
