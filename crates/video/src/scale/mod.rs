//! Scaling of pictures.

mod filter;

use filter::{Filter, WEIGHT_BITS};
use thalweg_units::Size;

use crate::picture::{Picture, Plane};
use crate::widest::{array, widest};

/// Bits of precision that the first pass keeps beyond the sample's eight.
const EXTRA_BITS: i32 = 6;
/// Columns that the second pass processes at once.
const LANES: usize = 32;

/// Scales by a bicubic filter (Catmull-Rom; ffmpeg's default is bicubic too), widened when shrinking to avoid aliasing.
/// Integers only: the same result on every machine.
///
/// # Panics
/// When one of the sizes has a side of zero.
pub fn scale(picture: &Picture, size: Size) -> Picture {
    if picture.size() == size {
        return picture.clone();
    }
    for size in [picture.size(), size] {
        assert!(size.pixels() > 0, "a picture of {size} has no samples to scale");
    }
    let mut scaled = Picture::filled(size, 0, 0, 0);
    let filters = |plane| {
        let (from, to) = (Picture::plane_size(picture.size(), plane), Picture::plane_size(size, plane));
        (Filter::new(from.0, to.0), Filter::new(from.1, to.1))
    };
    // Both chroma planes have the same size.
    let (luma, chroma) = (filters(Plane::Y), filters(Plane::U));
    for (plane, (across, down)) in [(Plane::Y, &luma), (Plane::U, &chroma), (Plane::V, &chroma)] {
        let (width, _) = Picture::plane_size(picture.size(), plane);
        let (source, target) = (picture.plane(plane), scaled.plane_mut(plane));
        widest(
            #[inline(always)]
            || scale_plane(source, width, target, across, down),
        );
    }
    scaled
}

/// Scales a plane: each row horizontally, then the rows, with more than eight bits, vertically.
#[inline(always)]
fn scale_plane(source: &[u8], width: usize, target: &mut [u8], across: &Filter, down: &Filter) {
    let (to_width, height) = (across.starts.len(), source.len() / width);
    // Whole chunks of columns, so that the second pass has no remainder.
    let stride = to_width.next_multiple_of(LANES);
    let mut middle = vec![0i16; stride * height];
    match across.taps {
        0..=4 => rows_across::<4>(source, width, &mut middle, stride, across),
        5..=8 => rows_across::<8>(source, width, &mut middle, stride, across),
        9..=16 => rows_across::<16>(source, width, &mut middle, stride, across),
        _ => rows_across_any(source, width, &mut middle, stride, across),
    }
    for (y, out) in target.chunks_exact_mut(to_width).enumerate() {
        let (start, weights) = down.of(y);
        row_down(&middle[start * stride..], stride, weights, out);
    }
}

/// The first pass with a number of taps known at compile time; `across` has at most that many.
#[inline(always)]
fn rows_across<const TAPS: usize>(source: &[u8], width: usize, middle: &mut [i16], stride: usize, across: &Filter) {
    let weights = across.padded(TAPS);
    // Zeros beyond the row, which only have zero weights.
    let mut row = vec![0i16; width + TAPS];
    for (samples, out) in source.chunks_exact(width).zip(middle.chunks_exact_mut(stride)) {
        for (to, sample) in row.iter_mut().zip(samples) {
            *to = i16::from(*sample);
        }
        for ((value, start), weights) in out.iter_mut().zip(&across.starts).zip(weights.chunks_exact(TAPS)) {
            let (samples, weights): (&[i16; TAPS], &[i16; TAPS]) = (array(&row[*start..]), array(weights));
            let mut sum = 0;
            for tap in 0..TAPS {
                sum += i32::from(samples[tap]) * i32::from(weights[tap]);
            }
            *value = narrow(sum);
        }
    }
}

/// The first pass with any number of taps: for a picture scaled down several times.
#[inline(always)]
fn rows_across_any(source: &[u8], width: usize, middle: &mut [i16], stride: usize, across: &Filter) {
    for (samples, out) in source.chunks_exact(width).zip(middle.chunks_exact_mut(stride)) {
        for (x, value) in out[..across.starts.len()].iter_mut().enumerate() {
            let (start, weights) = across.of(x);
            let product = |(sample, weight): (&u8, &i16)| i32::from(*sample) * i32::from(*weight);
            *value = narrow(samples[start..].iter().zip(weights).map(product).sum());
        }
    }
}

/// A sum of the first pass, with [`EXTRA_BITS`] kept.
#[inline(always)]
fn narrow(sum: i32) -> i16 {
    let shift = WEIGHT_BITS - EXTRA_BITS;
    ((sum + (1 << (shift - 1))) >> shift).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

/// The second pass: one output row of the rows at the start of `rows`.
#[inline(always)]
fn row_down(rows: &[i16], stride: usize, weights: &[i16], out: &mut [u8]) {
    let shift = WEIGHT_BITS + EXTRA_BITS;
    for (chunk, out) in out.chunks_mut(LANES).enumerate() {
        let mut sums = [1i32 << (shift - 1); LANES];
        for (row, weight) in rows.chunks_exact(stride).zip(weights) {
            let row: &[i16; LANES] = array(&row[chunk * LANES..]);
            for i in 0..LANES {
                sums[i] += i32::from(row[i]) * i32::from(*weight);
            }
        }
        let mut samples = [0; LANES];
        for i in 0..LANES {
            samples[i] = (sums[i] >> shift).clamp(0, 255) as u8;
        }
        out.copy_from_slice(&samples[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::psnr;
    use proptest::prelude::*;
    use thalweg_units::Seed;

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
        for (width, height) in [(1, 1), (2, 2), (37, 21), (640, 361), (19, 200)] {
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

    proptest! {
        #[test]
        fn the_instructions_picked_do_not_change_a_sample(
            from in (1usize..90, 1usize..50), to in (1usize..90, 1usize..50), seed in any::<u64>()
        ) {
            let mut random = Seed::new(seed).random();
            let source: Vec<u8> = (0..from.0 * from.1).map(|_| random.below(256) as u8).collect();
            let (across, down) = (Filter::new(from.0, to.0), Filter::new(from.1, to.1));
            let [mut picked, mut plain] = [0; 2].map(|zero| vec![zero; to.0 * to.1]);
            widest(#[inline(always)] || scale_plane(&source, from.0, &mut picked, &across, &down));
            scale_plane(&source, from.0, &mut plain, &across, &down);
            prop_assert_eq!(picked, plain);
        }
    }
}
