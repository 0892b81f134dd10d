//! The encoder of a figure, unless a codec is selected.

use thalweg_codecs::Codec;
use thalweg_codecs::model::{
    Account, Config, Content, ContentPreset, Lag, LagPreset, OperatingPoint, Scatter, Variation,
};
use thalweg_units::Span;

/// An encoder for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoder {
    /// A real encoder.
    #[default]
    Real,
    /// The model of libvpx on the built-in scene: for figures about the path alone.
    Model,
    /// The model of libvpx on a talking head.
    TalkingHead,
    /// Frames exactly as large as the rate allows, including keyframes, from the first frame after a change: as in
    /// simulations of rate control (FBRA section 5).
    EqualFrames,
    /// A talking head in groups of 14 pictures, of which the first is four times as large (FBRA's "News"). The model
    /// makes keyframes on request only, so the large frames are delta frames that occur at random, every 14 frames on
    /// average.
    Groups {
        /// Frames per second.
        frame_rate: u32,
    },
}

/// Number of frames in a group (FBRA section 5.5).
const GROUP: i64 = 14;

impl Encoder {
    /// The codec; `None` for a real one.
    pub fn codec(self) -> Option<Codec> {
        let config = match self {
            Encoder::Real => return None,
            Encoder::Model => Config::default(),
            Encoder::TalkingHead => Config { content: ContentPreset::TalkingHead, ..Config::default() },
            Encoder::EqualFrames => equal_frames(),
            Encoder::Groups { frame_rate } => groups(frame_rate),
        };
        Some(Codec::Model(config))
    }
}

/// A lag that ends with the next frame.
const AT_ONCE: Lag = Lag { up: Span::from_nanos(1), down: Span::from_nanos(1), at_once: 0.0 };

fn equal_frames() -> Config {
    let steady = Variation { deviation: 0.0, correlation: 0.0 };
    let scene = Content::default();
    // Every rate is reachable; the quality at such low rates is meaningless.
    let coarsest = OperatingPoint { bits_per_pixel: 1e-5, quantizer: 127, psnr_db: 10.0, ssim_db: 1.0 };
    let content = Content {
        points: std::iter::once(coarsest).chain(scene.points).collect(),
        scatter: Scatter { steered: steady, at_floor: steady, cut_every: None, ..scene.scatter },
        keyframe_ratio: 1.0,
        keyframe_floor: 1e-5,
        ..scene
    };
    // Nothing is saved up or owed, so that every frame meets the rate, not just their mean.
    let at_once = Span::from_millis(1);
    let account =
        Account { payback: Span::from_secs(1_000_000), savings: at_once, debt: at_once, ..Account::default() };
    Config { content: ContentPreset::Custom(content), lag: LagPreset::Custom(AT_ONCE), account, functional: false }
}

fn groups(frame_rate: u32) -> Config {
    let head = ContentPreset::TalkingHead.content();
    let every = Span::from_secs_f64(GROUP as f64 / f64::from(frame_rate.max(1)));
    let scatter = Scatter { cut_every: Some(every), ..head.scatter };
    Config { content: ContentPreset::Custom(Content { scatter, ..head }), ..Config::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use thalweg_codecs::Image;
    use thalweg_sender::frames::{EncodePlan, Target};
    use thalweg_units::{Rate, Seed, Size};

    fn sizes(encoder: Encoder, kbps: impl Fn(u32) -> u64, interval: Span) -> Vec<u64> {
        let size = Size::new(640, 480);
        let mut encoder = encoder.codec().unwrap().build_seeded(size, Seed::new(3)).unwrap().encoder;
        let mut made = |number: u32| {
            let target = Target::Rate(Rate::from_kbps(kbps(number)));
            let plan =
                EncodePlan::new(vec![target], size, interval).with(|plan| plan.keyframe = number.is_multiple_of(50));
            let candidates = encoder.offer(Image::blank(size), &plan).unwrap();
            encoder.commit(Some(0)).unwrap();
            candidates[0].frame.size.get()
        };
        (0..200).map(&mut made).collect()
    }

    #[test]
    fn an_encoder_reads_back_as_it_is_written() {
        for encoder in [Encoder::Model, Encoder::TalkingHead, Encoder::EqualFrames, Encoder::Groups { frame_rate: 30 }]
        {
            let codec = BTreeMap::from([("codec".to_string(), encoder.codec().unwrap())]);
            let text = toml::to_string(&codec).unwrap();
            let read: BTreeMap<String, Codec> = toml::from_str(&text).unwrap();
            assert_eq!(read, codec, "{text}");
        }
    }

    #[test]
    fn equal_frames_are_equal_and_follow_the_rate_with_the_next_one() {
        let interval = Span::from_nanos(33_333_333);
        let kbps = |number: u32| [24, 120, 6_000][number as usize / 70];
        for (number, size) in sizes(Encoder::EqualFrames, kbps, interval).into_iter().enumerate() {
            let exact = kbps(number as u32) * 1000 / 8 / 30;
            assert!(size.abs_diff(exact) <= 1 + exact / 50, "{number}: {size} bytes, not {exact}");
        }
    }

    #[test]
    fn one_frame_in_fourteen_begins_a_group_and_the_rate_is_kept() {
        let made = sizes(Encoder::Groups { frame_rate: 15 }, |_| 300, Span::from_nanos(66_666_667));
        let mean = made.iter().sum::<u64>() as f64 / made.len() as f64;
        let large = made.iter().filter(|size| **size as f64 > 2.5 * mean).count();
        assert!((5..30).contains(&large), "{large} of 200");
        assert!((2_200.0..2_900.0).contains(&mean), "{mean} bytes, not 2500");
    }
}
