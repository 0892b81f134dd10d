//! Textures, generated once.

use thalweg_units::{Random, Seed};

use super::STEPS;
use crate::picture::{Picture, Plane};
use crate::widest::widest;

/// One plane of a texture, which can be larger than a picture.
pub(super) struct Surface {
    width: usize,
    samples: Vec<u8>,
}

/// Luma and chroma of a texture.
pub(super) struct Texture {
    pub(super) luma: Surface,
    pub(super) u: Surface,
    pub(super) v: Surface,
}

impl Texture {
    /// A wall with shelves and books, posters and plaster; `unit` is the number of samples per step of detail, `detail`
    /// the strength of its fine texture, and the share of its books.
    pub(super) fn wall(width: usize, height: usize, unit: f64, detail: f64, seed: Seed) -> Texture {
        let mut random = seed.random();
        let mut luma = Surface::fractal(
            width,
            height,
            &mut random,
            &[(0.28, 260.0), (0.10, 60.0), (0.05, 12.0), (0.035, 3.0)]
                .map(|(strength, size)| (strength * detail, size)),
            unit,
        );
        let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
        let mut u = Surface::fractal(half_width, half_height, &mut random, &[(0.05 * detail, 260.0)], unit);
        let mut v = Surface::fractal(half_width, half_height, &mut random, &[(0.05 * detail, 260.0)], unit);
        let shelf = (110.0 * unit) as usize;
        let mut top = (40.0 * unit) as usize;
        while top + shelf < height {
            let mut left = random.below((60.0 * unit) as u64 + 1) as usize;
            while left < width {
                let across = (random.between(10.0, 34.0) * unit) as usize + 2;
                let tall = (random.between(0.55, 0.9) * shelf as f64) as usize;
                if random.chance(0.8 * detail) {
                    let (shade, blue, red) =
                        (random.between(30.0, 200.0), random.between(105.0, 150.0), random.between(105.0, 150.0));
                    let (from_x, to_x) = (left, (left + across).min(width));
                    let (from_y, to_y) = (top + shelf - tall, top + shelf - 3);
                    luma.blend((from_x, to_x), (from_y, to_y), shade);
                    // A title on the book's spine.
                    let middle = usize::midpoint(from_y, to_y);
                    luma.blend(
                        (from_x + across / 4, (from_x + across / 2).min(width)),
                        (middle - tall / 4, middle + tall / 5),
                        255.0 - shade,
                    );
                    u.blend((from_x / 2, to_x / 2), (from_y / 2, to_y / 2), blue);
                    v.blend((from_x / 2, to_x / 2), (from_y / 2, to_y / 2), red);
                }
                left += across + 1 + random.below(4) as usize;
            }
            luma.blend((0, width), (top + shelf - 3, top + shelf + (5.0 * unit) as usize), 60.0);
            top += shelf + (35.0 * unit) as usize;
        }
        Texture { luma, u, v }
    }
}

/// Samples on a side of a piece of cloth.
const CLOTH: usize = 512;

impl Surface {
    /// A piece of cloth that repeats without a seam: folds, patches and threads.
    pub(super) fn cloth(unit: f64, seed: Seed) -> Surface {
        let octaves = [(0.24, 90.0), (0.20, 24.0), (0.20, 7.0), (0.18, 2.0)];
        Surface::noise((CLOTH, CLOTH), &mut seed.random(), &octaves, unit, true)
    }

    /// A sum of smooth noises, each with an amplitude (of 128 steps around the middle) and a scale.
    fn fractal(width: usize, height: usize, random: &mut Random, octaves: &[(f64, f64)], unit: f64) -> Surface {
        Surface::noise((width, height), random, octaves, unit, false)
    }

    /// The same; if it `repeats`, opposite edges match.
    fn noise(
        (width, height): (usize, usize),
        random: &mut Random,
        octaves: &[(f64, f64)],
        unit: f64,
        repeats: bool,
    ) -> Surface {
        let mut sums = vec![0.0f64; width * height];
        for (strength, size) in octaves {
            let mut cell = (size * unit).max(1.0);
            let (mut columns, mut rows) = ((width as f64 / cell) as usize + 2, (height as f64 / cell) as usize + 2);
            if repeats {
                // Whole cells, with the first repeated after the last.
                columns = libm::round(width as f64 / cell).max(1.0) as usize + 1;
                rows = columns;
                cell = width as f64 / (columns - 1) as f64;
            }
            let mut lattice: Vec<f64> = (0..columns * rows).map(|_| random.between(-1.0, 1.0)).collect();
            if repeats {
                (0..rows).for_each(|row| lattice[row * columns + columns - 1] = lattice[row * columns]);
                lattice.copy_within(0..columns, (rows - 1) * columns);
            }
            let places: Vec<(usize, f64)> = (0..width).map(|x| split(x as f64 / cell)).collect();
            for (y, sums) in sums.chunks_exact_mut(width).enumerate() {
                let (row, down) = split(y as f64 / cell);
                // Vertically first, for the few columns of the lattice, then horizontally.
                let line: Vec<f64> = (row * columns..(row + 1) * columns)
                    .map(|at| strength * 128.0 * (lattice[at] + (lattice[at + columns] - lattice[at]) * down))
                    .collect();
                for (sum, (column, across)) in sums.iter_mut().zip(&places) {
                    *sum += line[*column] + (line[column + 1] - line[*column]) * across;
                }
            }
        }
        Surface { width, samples: sums.iter().map(|sum| (128.0 + sum).clamp(20.0, 230.0) as u8).collect() }
    }

    /// Blends a rectangle with a value, leaving some of the texture.
    fn blend(&mut self, columns: (usize, usize), rows: (usize, usize), value: f64) {
        let height = self.samples.len() / self.width;
        for y in rows.0..rows.1.min(height) {
            for x in columns.0..columns.1.min(self.width) {
                let sample = &mut self.samples[y * self.width + x];
                *sample = (value + (f64::from(*sample) - 128.0) * 0.6).clamp(16.0, 235.0) as u8;
            }
        }
    }

    /// A row, with wraparound.
    pub(super) fn row(&self, y: i64) -> &[u8] {
        let height = (self.samples.len() / self.width) as i64;
        let y = y.rem_euclid(height) as usize;
        &self.samples[y * self.width..(y + 1) * self.width]
    }

    /// Copies the view of a camera at `at` (in sixteenths of a sample) to a plane, by bilinear interpolation, at a
    /// brightness of `light` in 128ths.
    pub(super) fn copy_moved(&self, picture: &mut Picture, plane: Plane, at: (i64, i64), mirrored: bool, light: i32) {
        let (width, height) = Picture::plane_size(picture.size(), plane);
        let (x, across) = ((at.0 / STEPS) as usize, at.0 % STEPS);
        let (y, down) = ((at.1 / STEPS) as usize, at.1 % STEPS);
        let (across, down, light) = (across as u16, down as u16, light as u16);
        let target = picture.plane_mut(plane);
        for (line, out) in target.chunks_exact_mut(width).enumerate().take(height) {
            let above = &self.samples[(y + line) * self.width + x..][..width + 1];
            let below = &self.samples[(y + line + 1) * self.width + x..][..width + 1];
            widest(
                #[inline(always)]
                || mix_rows(above, below, (across, down), light, out),
            );
            if mirrored {
                out.reverse();
            }
        }
    }
}

/// A row between two others, `across` and `down` sixteenths of a sample further, at a brightness of `light` in 128ths.
/// 256ths of a sample value, and a sample at any brightness (at most doubled), fit 16 bits.
#[inline(always)]
fn mix_rows(above: &[u8], below: &[u8], (across, down): (u16, u16), light: u16, out: &mut [u8]) {
    let (above_next, below_next) = (&above[1..], &below[1..]);
    for (i, sample) in out.iter_mut().enumerate() {
        let upper = u16::from(above[i]) * (16 - across) + u16::from(above_next[i]) * across;
        let lower = u16::from(below[i]) * (16 - across) + u16::from(below_next[i]) * across;
        let value = (upper * (16 - down) + lower * down + 128) >> 8;
        *sample = ((value * light + 64) >> 7).min(255) as u8;
    }
}

fn split(value: f64) -> (usize, f64) {
    let whole = libm::floor(value);
    let rest = value - whole;
    // Smooth between lattice points.
    (whole as usize, rest * rest * (3.0 - 2.0 * rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cloth_goes_on_at_its_other_side_without_a_seam() {
        let cloth = Surface::cloth(1.0, Seed::new(3));
        // The mean step from one row to the next, within the cloth and from the last row to the first; and the same for
        // columns.
        let step = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
        let side = CLOTH as i64;
        let within = (0..side - 1).map(|y| step(cloth.row(y), cloth.row(y + 1))).max().unwrap();
        assert!(step(cloth.row(side - 1), cloth.row(side)) <= within);
        let column = |x: usize| (0..side).map(|y| cloth.row(y)[x]).collect::<Vec<_>>();
        let within = (0..CLOTH - 1).map(|x| step(&column(x), &column(x + 1))).max().unwrap();
        assert!(step(&column(CLOTH - 1), &column(0)) <= within);
    }
}
