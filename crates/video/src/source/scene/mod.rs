//! A built-in scene that costs an encoder about as much as real video: a wall with shelves and fine texture seen by a
//! hand-held camera, people who talk and wave in front of it, sensor noise, slow changes of light, and occasional cuts.
//!
//! Any picture can be drawn by its number; the same seed gives the same bytes on every machine (integers, and `libm`
//! for sines).
//!
//! [`SceneConfig::easy`] is the same room as a flat drawing, seen by a camera on a tripod in constant light without
//! noise: one person sits still, talks and blinks. An encoder with a limited finest quantiser cannot spend its target
//! on it.

mod name;
mod person;
mod shape;
mod texture;

use std::sync::Arc;

use thalweg_units::{Seed, Size};

use super::{Format, Replay, Source, SourceError};
use crate::picture::{Picture, Plane};
use crate::widest::widest;
use person::Person;
use texture::{Surface, Texture};

/// Parameters of the scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneConfig {
    /// Size and rate of its pictures.
    pub format: Format,
    /// Seed of textures, people and motion.
    pub seed: Seed,
    /// Seconds between cuts to another view; `None` for a single shot.
    pub cut_every: Option<f64>,
    /// Number of people in the picture.
    pub people: u32,
    /// Standard deviation of the sensor noise, in steps of luma.
    pub noise: f64,
    /// True for a hand-held camera and changing light; otherwise both are constant.
    pub hand_held: bool,
    /// How far people move, 0 to 1: at 0 they only talk and blink.
    pub liveliness: f64,
    /// Strength of the texture and shading of walls, clothes and skin, 0 to 1: at 0 everything is flat, as in a
    /// cartoon, and the shelves are empty.
    pub detail: f64,
}

impl SceneConfig {
    /// A scene that costs an encoder little: libvpx as WebRTC configures it makes 0.13 to 0.16 Mbps of it at 360p and
    /// 0.34 to 0.36 at 720p, however high its target is.
    pub fn easy() -> SceneConfig {
        SceneConfig {
            cut_every: None,
            people: 1,
            noise: 0.0,
            hand_held: false,
            liveliness: 0.0,
            detail: 0.0,
            ..SceneConfig::default()
        }
    }
}

impl Default for SceneConfig {
    fn default() -> SceneConfig {
        SceneConfig {
            format: Format { size: Size::HD, frame_rate: (30, 1) },
            seed: Seed::new(1),
            cut_every: Some(25.0),
            people: 3,
            noise: 0.8,
            hand_held: true,
            liveliness: 1.0,
            detail: 1.0,
        }
    }
}

/// How far the camera pans, as a share of the picture.
const MARGIN: f64 = 0.18;
/// Camera positions per sample.
const STEPS: i64 = 16;

/// The scene.
pub struct Scene {
    config: SceneConfig,
    wall: Arc<Texture>,
    cloth: Surface,
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
        let wall =
            Arc::new(Texture::wall(wide(size.width), wide(size.height), unit, config.detail, seed.child("wall")));
        let cloth = Surface::cloth(unit, seed.child("cloth"));
        let mut random = seed.child("noise").random();
        // A table longer than a picture; each picture starts at another offset.
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
        let light =
            if self.config.hand_held { 6.0 * wave(seconds, 0.11, 0.0) + 3.0 * wave(seconds, 0.37, 1.0) } else { 0.0 };
        let light = 128 + light as i32;
        self.draw_wall(&mut picture, seconds, shot, light);
        // The first person sits in front and is drawn last.
        for person in (0..self.config.people).rev() {
            let phase = f64::from(person) * 1.7 + shot as f64 * 0.9;
            Person { number: person, phase, liveliness: self.config.liveliness, detail: self.config.detail }.draw(
                &mut picture,
                &self.cloth,
                seconds,
                light,
            );
        }
        self.add_noise(&mut picture, index);
        picture
    }

    fn draw_wall(&self, picture: &mut Picture, seconds: f64, shot: u64, light: i32) {
        let size = picture.size();
        let phase = shot as f64 * 2.3;
        // A slow pan, and the tremor of the hand.
        let across = 0.5
            + 0.38 * wave(seconds, 0.05, phase)
            + 0.012 * wave(seconds, 1.3, phase)
            + 0.004 * wave(seconds, 3.1, 0.0);
        let down = 0.5 + 0.30 * wave(seconds, 0.037, phase + 1.0) + 0.010 * wave(seconds, 1.7, 0.7);
        let range =
            |length: u16, share: f64| (f64::from(length) * MARGIN * share.clamp(0.0, 1.0) * STEPS as f64) as i64;
        let (across, down) = if self.config.hand_held { (across, down) } else { (0.5, 0.5) };
        let (x, y) = (range(size.width, across), range(size.height, down));
        let mirrored = shot % 2 == 1;
        self.wall.luma.copy_moved(picture, Plane::Y, (x, y), mirrored, light);
        self.wall.u.copy_moved(picture, Plane::U, (x / 2, y / 2), mirrored, 128);
        self.wall.v.copy_moved(picture, Plane::V, (x / 2, y / 2), mirrored, 128);
    }

    fn add_noise(&self, picture: &mut Picture, index: u64) {
        let start = (Seed::new(index).child("noise").get() % NOISE_OFFSETS as u64) as usize;
        let (luma, noise) = (picture.plane_mut(Plane::Y), &self.noise[start..]);
        widest(
            #[inline(always)]
            || {
                for (sample, noise) in luma.iter_mut().zip(noise) {
                    *sample = (i16::from(*sample) + i16::from(*noise)).clamp(0, 255) as u8;
                }
            },
        );
    }
}

/// Number of offsets in the noise table at which a picture's noise may start.
const NOISE_OFFSETS: usize = 65_536;

/// A sine of `hertz`, -1 to 1.
fn wave(seconds: f64, hertz: f64, phase: f64) -> f64 {
    libm::sin(std::f64::consts::TAU * hertz * seconds + phase)
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

impl Replay for Scene {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        Ok(Some(Arc::new(self.picture(number))))
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
    fn the_easy_scene_moves_and_little_of_it() {
        let format = Format { size: Size::new(640, 360), frame_rate: (30, 1) };
        let scene = Scene::new(SceneConfig { format, ..SceneConfig::easy() });
        for number in [100, 749, 2000] {
            let (a, b) = (scene.picture(number), scene.picture(number + 1));
            let luma = a.plane(Plane::Y).iter().zip(b.plane(Plane::Y));
            let changed = luma.filter(|(a, b)| a != b).count();
            assert!((10..2000).contains(&changed), "{changed} samples after picture {number}");
        }
    }

    #[test]
    fn every_size_works() {
        for (width, height) in [(64, 36), (321, 181), (1920, 1080)] {
            let format = Format { size: Size::new(width, height), frame_rate: (60, 1) };
            Scene::new(SceneConfig { format, ..SceneConfig::default() }).picture(7);
        }
    }
}
