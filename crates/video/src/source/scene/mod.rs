//! A built-in scene that costs an encoder about what real video does: a wall with shelves and fine texture seen by a hand-held
//! camera, people who talk and move before it, the noise of a sensor, slow changes of light, and a cut now and then.
//!
//! Any picture can be had by its number; the same seed gives the same bytes on every machine (whole numbers, and `libm` where
//! a sine is needed).

mod texture;

use std::sync::Arc;

use thalweg_units::{Seed, Size};

use super::{Format, Source, SourceError};
use crate::picture::{Picture, Plane};
use texture::Texture;

/// What the scene is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneConfig {
    /// Size and rate of its pictures.
    pub format: Format,
    /// Decides textures, people and motion.
    pub seed: Seed,
    /// Seconds between cuts to another view; `None` for a single shot.
    pub cut_every: Option<f64>,
    /// People in the picture.
    pub people: u32,
    /// Deviation of the sensor's noise, in steps of luma.
    pub noise: f64,
}

impl Default for SceneConfig {
    fn default() -> SceneConfig {
        SceneConfig {
            format: Format { size: Size::HD, frame_rate: (30, 1) },
            seed: Seed::new(1),
            cut_every: Some(25.0),
            people: 3,
            noise: 0.8,
        }
    }
}

/// How far the camera pans, as a share of the picture.
const MARGIN: f64 = 0.18;
/// Positions within a sample that the camera can stand at.
const STEPS: i64 = 16;

/// The scene.
pub struct Scene {
    config: SceneConfig,
    wall: Arc<Texture>,
    cloth: Texture,
    noise: Vec<i8>,
    next: u64,
}

impl Scene {
    /// Prepares the textures; the pictures come from [`Scene::picture`] or as a [`Source`].
    pub fn new(config: SceneConfig) -> Scene {
        let size = config.format.size;
        let wide = |length: u16| (f64::from(length) * (1.0 + MARGIN)) as usize + 8;
        let seed = config.seed.child("scene");
        let unit = f64::from(size.height) / 720.0;
        let wall = Arc::new(Texture::wall(wide(size.width), wide(size.height), unit, seed.child("wall")));
        let cloth = Texture::cloth(256, 256, seed.child("cloth"));
        let mut random = seed.child("noise").random();
        // A table longer than a picture, of which each picture begins elsewhere.
        let length = usize::from(size.width) * usize::from(size.height) + NOISE_OFFSETS;
        let noise = (0..length).map(|_| (random.normal() * config.noise).round().clamp(-20.0, 20.0) as i8).collect();
        Scene { config, wall, cloth, noise, next: 0 }
    }

    /// The `index`-th picture.
    pub fn picture(&self, index: u64) -> Picture {
        let size = self.config.format.size;
        let (rate, per) = self.config.format.frame_rate;
        let seconds = index as f64 * f64::from(per) / f64::from(rate);
        let shot = self.config.cut_every.map_or(0, |every| (seconds / every) as u64);
        let mut picture = Picture::filled(size, 0, 128, 128);
        let light = 128 + (6.0 * wave(seconds, 0.11, 0.0) + 3.0 * wave(seconds, 0.37, 1.0)) as i32;
        self.draw_wall(&mut picture, seconds, shot, light);
        // The first sits in front and is drawn last.
        for person in (0..self.config.people).rev() {
            self.draw_person(&mut picture, seconds, shot, person, light);
        }
        self.add_noise(&mut picture, index);
        picture
    }

    fn draw_wall(&self, picture: &mut Picture, seconds: f64, shot: u64, light: i32) {
        let size = picture.size();
        let phase = shot as f64 * 2.3;
        // A slow pan, and the tremor of a hand.
        let across = 0.5
            + 0.38 * wave(seconds, 0.05, phase)
            + 0.012 * wave(seconds, 1.3, phase)
            + 0.004 * wave(seconds, 3.1, 0.0);
        let down = 0.5 + 0.30 * wave(seconds, 0.037, phase + 1.0) + 0.010 * wave(seconds, 1.7, 0.7);
        let range =
            |length: u16, share: f64| (f64::from(length) * MARGIN * share.clamp(0.0, 1.0) * STEPS as f64) as i64;
        let (x, y) = (range(size.width, across), range(size.height, down));
        let mirrored = shot % 2 == 1;
        self.wall.luma.copy_moved(picture, Plane::Y, (x, y), mirrored, light);
        self.wall.u.copy_moved(picture, Plane::U, (x / 2, y / 2), mirrored, 128);
        self.wall.v.copy_moved(picture, Plane::V, (x / 2, y / 2), mirrored, 128);
    }

    fn draw_person(&self, picture: &mut Picture, seconds: f64, shot: u64, person: u32, light: i32) {
        let size = picture.size();
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        let p = f64::from(person) * 1.7 + shot as f64 * 0.9;
        // The first sits in front; the others walk about behind.
        let front = person == 0;
        let scale = if front { 0.30 } else { 0.17 + 0.03 * f64::from(person % 2) };
        let head = height * scale * 0.5;
        let walk = if front { 0.02 } else { 0.33 };
        let middle =
            width * (0.5 + walk * wave(seconds, if front { 0.21 } else { 0.09 }, p) + if front { 0.0 } else { 0.1 });
        let nod = head * 0.10 * wave(seconds, 0.8, p) + head * 0.05 * wave(seconds, 2.2, p);
        let top = height * (if front { 0.30 } else { 0.42 }) + nod;
        let tone = 20 * (person as i32 % 3);
        // Torso, arm, head, hair, eyes and mouth, each an ellipse with its own cloth.
        let part = |picture: &mut Picture, cx: f64, cy: f64, rx: f64, ry: f64, luma: i32, u: u8, v: u8, grain: i32| {
            self.ellipse(picture, (cx, cy), (rx, ry), luma * light / 128, (u, v), grain, (cx, cy));
        };
        part(
            picture,
            middle,
            top + head * 2.5,
            head * 1.35,
            head * 1.7,
            70 + tone,
            118 + 9 * person as u8,
            120 + 5 * person as u8,
            38,
        );
        let gesture = wave(seconds, 0.9, p + 2.0).max(-0.2);
        let hand = (middle + head * (1.3 + 0.3 * gesture), top + head * (2.6 - 1.6 * gesture));
        part(picture, hand.0, hand.1, head * 0.42, head * 0.55, 150 + tone / 2, 110, 150, 12);
        part(picture, middle, top, head * 0.78, head, 150 + tone / 2, 110, 152, 14);
        part(picture, middle - head * 0.05, top - head * 0.72, head * 0.80, head * 0.45, 40 + tone, 124, 132, 26);
        let blink = if wave(seconds, 0.31, p) > 0.96 { 0.02 } else { 0.09 };
        for side in [-0.32, 0.32] {
            part(picture, middle + head * side, top - head * 0.12, head * 0.13, head * blink, 30, 128, 128, 4);
        }
        let talk = 0.05 + 0.09 * (wave(seconds, 4.3, p) * wave(seconds, 0.6, p)).abs();
        part(picture, middle, top + head * 0.45, head * 0.28, head * talk, 60, 112, 160, 4);
    }

    /// An ellipse of cloth: `grain` is how strong its texture is.
    fn ellipse(
        &self,
        picture: &mut Picture,
        centre: (f64, f64),
        radius: (f64, f64),
        luma: i32,
        chroma: (u8, u8),
        grain: i32,
        anchor: (f64, f64),
    ) {
        let size = picture.size();
        let rows = span(centre.1, radius.1, usize::from(size.height));
        let anchor = (anchor.0.round() as i64, anchor.1.round() as i64);
        for y in rows {
            let Some(columns) = chord(centre, radius, y as f64, usize::from(size.width)) else { continue };
            let shade = luma + ((centre.1 - y as f64) / radius.1 * 14.0) as i32;
            let row = &mut picture.plane_mut(Plane::Y)[y * usize::from(size.width)..][columns.clone()];
            let texture = self.cloth.luma.row(y as i64 - anchor.1);
            let first = (columns.start as i64 - anchor.0).rem_euclid(256) as usize;
            for (offset, sample) in row.iter_mut().enumerate() {
                let thread = i32::from(texture[(first + offset) & 255]) - 128;
                *sample = (shade + thread * grain / 128).clamp(16, 235) as u8;
            }
        }
        let (half_width, half_height) = Picture::plane_size(size, Plane::U);
        let (centre, radius) = ((centre.0 / 2.0, centre.1 / 2.0), (radius.0 / 2.0, radius.1 / 2.0));
        for y in span(centre.1, radius.1, half_height) {
            let Some(columns) = chord(centre, radius, y as f64, half_width) else { continue };
            picture.plane_mut(Plane::U)[y * half_width..][columns.clone()].fill(chroma.0);
            picture.plane_mut(Plane::V)[y * half_width..][columns].fill(chroma.1);
        }
    }

    fn add_noise(&self, picture: &mut Picture, index: u64) {
        let start = (Seed::new(index).child("noise").get() % NOISE_OFFSETS as u64) as usize;
        let luma = picture.plane_mut(Plane::Y);
        for (sample, noise) in luma.iter_mut().zip(&self.noise[start..]) {
            *sample = sample.saturating_add_signed(*noise);
        }
    }
}

/// Places in the noise table where a picture's noise may begin.
const NOISE_OFFSETS: usize = 65_536;

/// A sine of `hertz`, -1 to 1.
fn wave(seconds: f64, hertz: f64, phase: f64) -> f64 {
    libm::sin(std::f64::consts::TAU * hertz * seconds + phase)
}

fn span(centre: f64, radius: f64, length: usize) -> std::ops::Range<usize> {
    let from = (centre - radius).ceil().clamp(0.0, length as f64) as usize;
    let to = (centre + radius).floor().clamp(-1.0, length as f64 - 1.0) + 1.0;
    from..(to as usize).max(from)
}

/// The columns of an ellipse in row `y`.
fn chord(centre: (f64, f64), radius: (f64, f64), y: f64, width: usize) -> Option<std::ops::Range<usize>> {
    let height = (y - centre.1) / radius.1;
    let half = 1.0 - height * height;
    (half > 0.0).then(|| span(centre.0, radius.0 * libm::sqrt(half), width)).filter(|columns| !columns.is_empty())
}

impl Source for Scene {
    fn format(&self) -> Format {
        self.config.format
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.picture(self.next);
        self.next += 1;
        Ok(Some(Arc::new(picture)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::psnr;

    #[test]
    fn the_same_seed_and_number_give_the_same_picture() {
        let config =
            SceneConfig { format: Format { size: Size::new(320, 180), frame_rate: (30, 1) }, ..SceneConfig::default() };
        let (a, b) = (Scene::new(config), Scene::new(config));
        assert_eq!(a.picture(100), b.picture(100));
        assert_ne!(a.picture(100), a.picture(101));
        let other = Scene::new(SceneConfig { seed: Seed::new(2), ..config });
        assert_ne!(a.picture(100), other.picture(100));
    }

    #[test]
    fn neighbouring_pictures_are_alike_and_a_cut_is_not() {
        let config =
            SceneConfig { format: Format { size: Size::new(640, 360), frame_rate: (30, 1) }, ..SceneConfig::default() };
        let scene = Scene::new(config);
        let next = psnr(&scene.picture(100), &scene.picture(101));
        let cut = psnr(&scene.picture(749), &scene.picture(750));
        assert!((20.0..38.0).contains(&next), "{next}");
        assert!(cut < next - 4.0, "{cut} against {next}");
    }

    #[test]
    fn every_size_works() {
        for (width, height) in [(64, 36), (321, 181), (1920, 1080)] {
            let format = Format { size: Size::new(width, height), frame_rate: (60, 1) };
            Scene::new(SceneConfig { format, ..SceneConfig::default() }).picture(7);
        }
    }
}
