//! An estimate of the intra prediction error of a macroblock, before its frame is coded.

use crate::kernels::Kernels;

/// The pixels around a macroblock of luma.
struct Edges {
    above: [u8; 16],
    left: [u8; 16],
    corner: u8,
    has_above: bool,
    has_left: bool,
}

/// Sum of absolute Hadamard coefficients of a macroblock's luma residual, in the best of the four modes, predicted from
/// the source's own pixels around it.
pub fn estimate(kernels: &Kernels, plane: &[u8], stride: usize, (column, row): (usize, usize)) -> u32 {
    let at = 16 * (row * stride + column);
    let edges = Edges::of(plane, stride, at, column > 0, row > 0);
    let source = &plane[at..];
    let mut prediction = [edges.mean(); 256];
    let mut best = kernels.satd_16x16(source, stride, &prediction, 16);
    if edges.has_above {
        best = best.min(kernels.satd_16x16(source, stride, &edges.above, 0));
    }
    if edges.has_left {
        for (row, &left) in prediction.chunks_exact_mut(16).zip(&edges.left) {
            row.fill(left);
        }
        best = best.min(kernels.satd_16x16(source, stride, &prediction, 16));
    }
    if edges.has_above && edges.has_left {
        for (row, &left) in prediction.chunks_exact_mut(16).zip(&edges.left) {
            let offset = i16::from(left) - i16::from(edges.corner);
            for (pixel, &above) in row.iter_mut().zip(&edges.above) {
                *pixel = (i16::from(above) + offset).clamp(0, 255) as u8;
            }
        }
        best = best.min(kernels.satd_16x16(source, stride, &prediction, 16));
    }
    best
}

impl Edges {
    fn of(plane: &[u8], stride: usize, at: usize, has_left: bool, has_above: bool) -> Self {
        let mut edges = Self { above: [127; 16], left: [129; 16], corner: 128, has_above, has_left };
        if has_above {
            edges.above.copy_from_slice(&plane[at - stride..][..16]);
        }
        if has_left {
            edges.left = std::array::from_fn(|row| plane[at + row * stride - 1]);
        }
        if has_above && has_left {
            edges.corner = plane[at - stride - 1];
        }
        edges
    }

    fn mean(&self) -> u8 {
        let sum = |pixels: &[u8; 16], is_there: bool| {
            if is_there { pixels.iter().map(|&pixel| u32::from(pixel)).sum() } else { 0 }
        };
        let both = sum(&self.above, self.has_above) + sum(&self.left, self.has_left);
        match (self.has_above, self.has_left) {
            (true, true) => ((both + 16) >> 5) as u8,
            (false, false) => 128,
            _ => ((both + 8) >> 4) as u8,
        }
    }
}
