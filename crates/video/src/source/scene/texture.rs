//! Surfaces, made once.

use thalweg_units::{Random, Seed};

use super::STEPS;
use crate::picture::{Picture, Plane};

/// One plane of a surface, which can be larger than a picture.
pub(super) struct Surface {
    width: usize,
    samples: Vec<u8>,
}

/// Luma and chroma of a surface.
pub(super) struct Texture {
    pub(super) luma: Surface,
    pub(super) u: Surface,
    pub(super) v: Surface,
}

impl Texture {
    /// A wall with shelves and books, posters and plaster; `unit` is how many samples make a step of detail.
    pub(super) fn wall(width: usize, height: usize, unit: f64, seed: Seed) -> Texture {
        let mut random = seed.random();
        let mut luma = Surface::fractal(
            width,
            height,
            &mut random,
            &[(0.28, 260.0), (0.10, 60.0), (0.05, 12.0), (0.035, 3.0)],
            unit,
        );
        let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
        let mut u = Surface::fractal(half_width, half_height, &mut random, &[(0.05, 260.0)], unit);
        let mut v = Surface::fractal(half_width, half_height, &mut random, &[(0.05, 260.0)], unit);
        let shelf = (110.0 * unit) as usize;
        let mut top = (40.0 * unit) as usize;
        while top + shelf < height {
            let mut left = random.below((60.0 * unit) as u64 + 1) as usize;
            while left < width {
                let across = (random.between(10.0, 34.0) * unit) as usize + 2;
                let tall = (random.between(0.55, 0.9) * shelf as f64) as usize;
                if random.chance(0.8) {
                    let (shade, blue, red) =
                        (random.between(30.0, 200.0), random.between(105.0, 150.0), random.between(105.0, 150.0));
                    let (from_x, to_x) = (left, (left + across).min(width));
                    let (from_y, to_y) = (top + shelf - tall, top + shelf - 3);
                    luma.blend((from_x, to_x), (from_y, to_y), shade);
                    // A title on its spine.
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

    /// A piece of cloth that repeats.
    pub(super) fn cloth(width: usize, height: usize, seed: Seed) -> Texture {
        let mut random = seed.random();
        let luma = Surface::fractal(width, height, &mut random, &[(0.35, 32.0), (0.2, 8.0), (0.15, 2.0)], 1.0);
        let flat = || Surface { width: 1, samples: vec![128] };
        Texture { luma, u: flat(), v: flat() }
    }
}

impl Surface {
    /// A sum of smooth noises, each with a strength (of 128 steps around the middle) and a size.
    fn fractal(width: usize, height: usize, random: &mut Random, octaves: &[(f64, f64)], unit: f64) -> Surface {
        let mut sums = vec![0.0f64; width * height];
        for (strength, size) in octaves {
            let cell = (size * unit).max(1.0);
            let (columns, rows) = ((width as f64 / cell) as usize + 2, (height as f64 / cell) as usize + 2);
            let lattice: Vec<f64> = (0..columns * rows).map(|_| random.between(-1.0, 1.0)).collect();
            for y in 0..height {
                let (row, down) = split(y as f64 / cell);
                for x in 0..width {
                    let (column, across) = split(x as f64 / cell);
                    let at = |c: usize, r: usize| lattice[(row + r) * columns + column + c];
                    let above = at(0, 0) + (at(1, 0) - at(0, 0)) * across;
                    let below = at(0, 1) + (at(1, 1) - at(0, 1)) * across;
                    sums[y * width + x] += strength * 128.0 * (above + (below - above) * down);
                }
            }
        }
        Surface { width, samples: sums.iter().map(|sum| (128.0 + sum).clamp(20.0, 230.0) as u8).collect() }
    }

    /// Paints a rectangle, leaving some of the texture.
    fn blend(&mut self, columns: (usize, usize), rows: (usize, usize), value: f64) {
        let height = self.samples.len() / self.width;
        for y in rows.0..rows.1.min(height) {
            for x in columns.0..columns.1.min(self.width) {
                let sample = &mut self.samples[y * self.width + x];
                *sample = (value + (f64::from(*sample) - 128.0) * 0.6).clamp(16.0, 235.0) as u8;
            }
        }
    }

    /// A row, counted around.
    pub(super) fn row(&self, y: i64) -> &[u8] {
        let height = (self.samples.len() / self.width) as i64;
        let y = y.rem_euclid(height) as usize;
        &self.samples[y * self.width..(y + 1) * self.width]
    }

    /// Copies what a camera at `at` (in sixteenths of a sample) sees into a plane, by bilinear interpolation, at `light` of 128.
    pub(super) fn copy_moved(&self, picture: &mut Picture, plane: Plane, at: (i64, i64), mirrored: bool, light: i32) {
        let (width, height) = Picture::plane_size(picture.size(), plane);
        let (x, across) = ((at.0 / STEPS) as usize, (at.0 % STEPS) as u32);
        let (y, down) = ((at.1 / STEPS) as usize, (at.1 % STEPS) as u32);
        let light = light as u32;
        let target = picture.plane_mut(plane);
        for (line, out) in target.chunks_exact_mut(width).enumerate().take(height) {
            let above = &self.samples[(y + line) * self.width + x..][..width + 1];
            let below = &self.samples[(y + line + 1) * self.width + x..][..width + 1];
            for (i, sample) in out.iter_mut().enumerate() {
                let mix = |row: &[u8]| u32::from(row[i]) * (16 - across) + u32::from(row[i + 1]) * across;
                let value = (mix(above) * (16 - down) + mix(below) * down + 128) >> 8;
                *sample = (((value * light + 64) >> 7).min(255)) as u8;
            }
            if mirrored {
                out.reverse();
            }
        }
    }
}

fn split(value: f64) -> (usize, f64) {
    let whole = value.floor();
    let rest = value - whole;
    // Smooth between lattice points.
    (whole as usize, rest * rest * (3.0 - 2.0 * rest))
}
