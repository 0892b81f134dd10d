//! The video content, as far as it affects sizes and quality.
//!
//! The numbers of the presets are from libvpx on two videos at 1280x720 and 30 fps, as `cargo run --release -p
//! thalweg-calibrate -- fit-model curve` prints them (sizes and keyframes: `-- sizes`).

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Span, check};

use super::ageing::Ageing;
use super::layered::Layered;
use super::quality::OperatingPoint;

/// Content parameters of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Content {
    /// Bits per pixel at 1280x720, quantiser and quality, from the coarsest quantiser to the finest: the first is the
    /// floor of the rate, the last its ceiling. At least two points, with bits increasing, quantisers decreasing and
    /// quality not decreasing.
    pub points: Vec<OperatingPoint>,
    /// Exponent with which a frame's bits grow with its pixels, 0.3 to 1: larger pictures of the same content are
    /// smoother.
    pub size_exponent: f64,
    /// Gain in dB of PSNR and of SSIM, at the same quantiser, when the pixel count grows by a factor e, 0 to 10.
    pub per_size_db: [f64; 2],
    /// PSNR and SSIM in dB of an unencoded picture scaled down to half its width and height and back up.
    pub half_size_db: [f64; 2],
    /// Gain of both in dB when width and height of the smaller picture grow by a factor e.
    pub scaling_slope_db: f64,
    /// Random variation of frame sizes around the budget.
    pub scatter: Scatter,
    /// Size of a keyframe in multiples of the target's allowance for a frame; at least 1.
    pub keyframe_ratio: f64,
    /// Bits per pixel of a keyframe at the coarsest quantiser, at 1280x720.
    pub keyframe_floor: f64,
    /// Cost of temporal layers.
    #[serde(skip_serializing_if = "Layered::is_default")]
    pub layered: Layered,
    /// Behaviour of the functional codec where `points` end.
    pub functional: Functional,
    /// Loss of quality of a picture that stays on the screen.
    pub ageing: Ageing,
}

/// The smallest frames of the functional codec, which goes to a coarser quantiser than libvpx in real time: `cargo run
/// --release -p thalweg-calibrate -- fit-model floor` prints them. Asked for less it makes inter frames that
/// correct a part of the last picture; the model does not, and so does not hide that they show little.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Functional {
    /// A whole inter frame at quantiser 127, which goes before the first of [`Content::points`].
    pub floor: OperatingPoint,
    /// Bits per pixel of a keyframe at quantiser 127, at 1280x720: none is smaller.
    pub keyframe_floor: f64,
}

/// Random variation of frame sizes around the budget: log-normal, with positive or negative correlation between
/// successive frames.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scatter {
    /// While rate control steers the quantiser, near the coarsest.
    pub steered: Variation,
    /// The share of that deviation that remains at quantiser 0, 0 to 1; in between it is linear in the quantiser.
    /// libvpx's sizes vary less the finer the quantiser may be.
    pub steadiest: f64,
    /// At the coarsest quantiser, where the content alone determines the size.
    pub at_floor: Variation,
    /// Mean time between scene cuts (or sudden motion), which occur at random; `None` for a single shot.
    // Absent in a file means none, not the default's 25 s: what a run writes reads back unchanged.
    #[serde(default)]
    pub cut_every: Option<Span>,
    /// Size of the frame at a cut as a multiple of its budget; at least 1.
    pub cut_ratio: f64,
}

/// A first-order autoregressive log-normal process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Standard deviation of the logarithm of sizes, 0 to 1.
    pub deviation: f64,
    /// Correlation of that logarithm from frame to frame, above -1 and below 1. In libvpx a small frame follows a large
    /// one.
    pub correlation: f64,
}

/// A named content preset, or custom parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentPreset {
    /// The built-in scene: a hand-held camera with noise, moving people and cuts.
    #[default]
    Scene,
    /// A well-filmed face in front of a still background.
    TalkingHead,
    /// Custom parameters.
    Custom(Content),
}

const fn point(bits_per_pixel: f64, quantizer: u8, psnr_db: f64, ssim_db: f64) -> OperatingPoint {
    OperatingPoint { bits_per_pixel, quantizer, psnr_db, ssim_db }
}

impl Content {
    /// Checks that the parameters are in range, except the points, which [`Curve::new`](super::Curve::new) checks.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.scatter.check()?;
        check("content.size_exponent", self.size_exponent).within(0.3..=1.0, "0.7")?;
        check("content.per_size_db[0]", self.per_size_db[0]).within(0.0..=10.0, "2.1")?;
        check("content.per_size_db[1]", self.per_size_db[1]).within(0.0..=10.0, "1.2")?;
        check("content.half_size_db[0]", self.half_size_db[0]).within(5.0..=100.0, "35.1")?;
        check("content.half_size_db[1]", self.half_size_db[1]).within(5.0..=100.0, "13.7")?;
        check("content.scaling_slope_db", self.scaling_slope_db).within(0.0..=20.0, "8.6")?;
        check("content.keyframe_ratio", self.keyframe_ratio).within(1.0..=100.0, "2.55")?;
        check("content.keyframe_floor", self.keyframe_floor).within(1e-6..=24.0, "0.0736")?;
        check("content.functional.keyframe_floor", self.functional.keyframe_floor).within(1e-6..=24.0, "0.05")?;
        self.ageing.check()
    }

    /// The same content as the functional codec makes it.
    pub(super) fn of_functional(mut self) -> Content {
        self.points.insert(0, self.functional.floor);
        self.keyframe_floor = self.functional.keyframe_floor;
        self
    }
}

impl ContentPreset {
    /// The parameters of this preset.
    pub fn content(&self) -> Content {
        match self {
            ContentPreset::Scene => scene(),
            ContentPreset::TalkingHead => talking_head(),
            ContentPreset::Custom(content) => content.clone(),
        }
    }
}

impl std::fmt::Display for ContentPreset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ContentPreset::Scene => "the built-in scene",
            ContentPreset::TalkingHead => "a talking head",
            ContentPreset::Custom(_) => "custom content",
        })
    }
}

fn scene() -> Content {
    Content {
        points: vec![
            point(0.017_64, 106, 34.07, 9.58),
            point(0.036_09, 67, 37.11, 11.15),
            point(0.072_14, 43, 39.40, 12.66),
            point(0.144_1, 23, 41.71, 14.55),
            point(0.287_8, 10, 44.40, 16.87),
            point(0.575_4, 5, 46.27, 18.51),
            point(0.920_4, 2, 47.72, 19.83),
        ],
        size_exponent: 0.7,
        per_size_db: [2.1, 1.2],
        half_size_db: [35.1, 13.7],
        scaling_slope_db: 8.6,
        scatter: Scatter {
            steered: Variation { deviation: 0.33, correlation: -0.33 },
            steadiest: 0.42,
            at_floor: Variation { deviation: 0.18, correlation: 0.25 },
            cut_every: Some(Span::from_secs(25)),
            cut_ratio: 4.0,
        },
        keyframe_ratio: 2.55,
        keyframe_floor: 0.0736,
        layered: Layered::default(),
        functional: Functional { floor: point(0.009_548, 127, 30.29, 7.49), keyframe_floor: 0.0576 },
        ageing: Ageing { next_db: [25.95, 7.02], fall_db: [2.96, 1.43], grey_db: [16.47, 4.19] },
    }
}

fn talking_head() -> Content {
    Content {
        points: vec![
            point(0.009_275, 106, 38.64, 12.61),
            point(0.018_11, 43, 43.57, 16.15),
            point(0.036_11, 22, 45.66, 17.77),
            point(0.072_04, 11, 47.58, 19.38),
            point(0.144_0, 5, 49.20, 20.72),
            point(0.258_2, 2, 50.49, 21.83),
        ],
        size_exponent: 0.89,
        per_size_db: [1.1, 0.1],
        half_size_db: [46.6, 21.3],
        scaling_slope_db: 8.4,
        scatter: Scatter {
            steered: Variation { deviation: 0.18, correlation: -0.45 },
            steadiest: 1.0,
            at_floor: Variation { deviation: 0.15, correlation: 0.3 },
            cut_every: None,
            cut_ratio: 4.0,
        },
        keyframe_ratio: 1.6,
        keyframe_floor: 0.0529,
        // Base layer 1.32, 1.40 and 1.50 at quantisers 20, 40 and 80; the mean is 1.10, 1.12 and 1.00 times that
        // without layers.
        layered: Layered { at_one_quantizer: [1.39, 1.06, 0.775], cost: 1.08 },
        functional: Functional { floor: point(0.003_388, 127, 34.06, 10.80), keyframe_floor: 0.0355 },
        ageing: Ageing { next_db: [43.87, 19.71], fall_db: [6.63, 4.21], grey_db: [16.92, 6.99] },
    }
}

impl Default for Content {
    fn default() -> Content {
        scene()
    }
}

impl Default for Scatter {
    fn default() -> Scatter {
        scene().scatter
    }
}
