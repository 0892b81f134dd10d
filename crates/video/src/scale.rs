//! Another size of the same picture.

use thalweg_units::Size;

use crate::picture::{Picture, Plane};

/// Bits of a filter weight.
const WEIGHT_BITS: i32 = 14;
/// Bits that the first pass keeps beyond the sample's eight.
const EXTRA_BITS: i32 = 6;

/// Scales by a bicubic filter (Catmull and Rom's, as ffmpeg's default is one), stretched when shrinking so that nothing
/// aliases. Whole numbers only: the same on every machine.
pub fn scale(picture: &Picture, size: Size) -> Picture {
    if picture.size() == size {
        return picture.clone();
    }
    let mut scaled = Picture::filled(size, 0, 0, 0);
    for plane in Plane::ALL {
        let from = Picture::plane_size(picture.size(), plane);
        let to = Picture::plane_size(size, plane);
        scale_plane(picture.plane(plane), from, scaled.plane_mut(plane), to);
    }
    scaled
}

/// For each output sample, where its input samples begin and what each weighs.
struct Filter {
    taps: usize,
    starts: Vec<usize>,
    /// `taps` for each output.
    weights: Vec<i16>,
}

impl Filter {
    fn new(from: usize, to: usize) -> Filter {
        let ratio = from as f64 / to as f64;
        let stretch = ratio.max(1.0);
        let taps = ((4.0 * stretch).ceil() as usize).min(from);
        let mut starts = Vec::with_capacity(to);
        let mut weights = Vec::with_capacity(to * taps);
        for output in 0..to {
            let centre = (output as f64 + 0.5) * ratio - 0.5;
            let wanted = (centre - taps as f64 / 2.0).floor() as i64 + 1;
            let start = wanted.clamp(0, (from - taps) as i64);
            // Samples beyond the edge repeat the edge: their weight goes to the nearest sample there is.
            let mut raw = vec![0.0; taps];
            for tap in 0..taps as i64 + 4 {
                let position = wanted - 2 + tap;
                let weight = cubic((position as f64 - centre) / stretch);
                let held = position.clamp(start, start + taps as i64 - 1) - start;
                raw[held as usize] += weight;
            }
            let sum: f64 = raw.iter().sum();
            let one = f64::from(1 << WEIGHT_BITS);
            let mut rounded: Vec<i16> = raw.iter().map(|weight| (weight / sum * one).round() as i16).collect();
            let error = (1i32 << WEIGHT_BITS) - rounded.iter().map(|weight| i32::from(*weight)).sum::<i32>();
            let largest = (0..taps).max_by_key(|tap| rounded[*tap]).unwrap_or(0);
            rounded[largest] += error as i16;
            starts.push(start as usize);
            weights.extend_from_slice(&rounded);
        }
        Filter { taps, starts, weights }
    }

    fn of(&self, output: usize) -> (usize, &[i16]) {
        (self.starts[output], &self.weights[output * self.taps..(output + 1) * self.taps])
    }
}

/// Catmull and Rom's cubic.
fn cubic(x: f64) -> f64 {
    let x = x.abs();
    if x < 1.0 {
        (1.5 * x - 2.5) * x * x + 1.0
    } else if x < 2.0 {
        ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    } else {
        0.0
    }
}

fn scale_plane(source: &[u8], from: (usize, usize), target: &mut [u8], to: (usize, usize)) {
    let across = Filter::new(from.0, to.0);
    let down = Filter::new(from.1, to.1);
    let mut middle = vec![0i16; to.0 * from.1];
    let round = 1 << (WEIGHT_BITS - EXTRA_BITS - 1);
    for (row, out) in source.chunks_exact(from.0).zip(middle.chunks_exact_mut(to.0)) {
        for (x, value) in out.iter_mut().enumerate() {
            let (start, weights) = across.of(x);
            let sum: i32 = row[start..start + weights.len()]
                .iter()
                .zip(weights)
                .map(|(sample, weight)| i32::from(*sample) * i32::from(*weight))
                .sum();
            let scaled = (sum + round) >> (WEIGHT_BITS - EXTRA_BITS);
            *value = scaled.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
    }
    let mut sums = vec![0i32; to.0];
    let shift = WEIGHT_BITS + EXTRA_BITS;
    for (y, out) in target.chunks_exact_mut(to.0).enumerate() {
        let (start, weights) = down.of(y);
        sums.fill(1 << (shift - 1));
        for (row, weight) in middle[start * to.0..].chunks_exact(to.0).zip(weights) {
            let weight = i32::from(*weight);
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += i32::from(*value) * weight;
            }
        }
        for (sample, sum) in out.iter_mut().zip(&sums) {
            *sample = (sum >> shift).clamp(0, 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::psnr;

    fn waves(size: Size) -> Picture {
        let mut picture = Picture::filled(size, 0, 100, 150);
        let width = usize::from(size.width);
        for (index, sample) in picture.plane_mut(Plane::Y).iter_mut().enumerate() {
            let (x, y) =
                ((index % width) as f64 / f64::from(size.width), (index / width) as f64 / f64::from(size.height));
            *sample = (128.0 + 60.0 * (x * 40.0).sin() + 50.0 * (y * 25.0).cos()).round() as u8;
        }
        picture
    }

    #[test]
    fn a_flat_picture_stays_flat_at_every_size() {
        let picture = Picture::filled(Size::new(37, 21), 77, 90, 200);
        for (width, height) in [(2, 2), (37, 21), (640, 361), (19, 200)] {
            let size = Size::new(width, height);
            assert_eq!(scale(&picture, size), Picture::filled(size, 77, 90, 200));
        }
    }

    #[test]
    fn smooth_content_survives_being_made_smaller_and_larger_again() {
        let picture = waves(Size::HD);
        for height in [540, 360, 1080] {
            let other = scale(&picture, Size::HD.scale(f64::from(height) / 720.0));
            let back = scale(&other, Size::HD);
            let db = psnr(&picture, &back);
            assert!((40.0..90.0).contains(&db), "{height}: {db}");
        }
    }
}
