//! What decides what the functional encoder makes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// How many times smaller, each way, the picture is that a quantiser is guessed from (Salsify's authors decimate by as much as
/// their time allows; this takes a quarter of the time of the frame itself).
pub(super) const GUESS_SCALE: u16 = 2;

/// Speed against quality: [`thalweg_vp8::encode::Speed`] by its name in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// As quick as libvpx in real time at `cpu_used` -8.
    Fast,
    /// For calls and live video on one core.
    #[default]
    Standard,
    /// Where there is time.
    Slow,
}

/// How the functional encoder makes frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Speed against quality.
    pub preset: Preset,
    /// The finest quantiser, 0 to 127 (y_ac_qi): no frame of easy content is made larger than it needs. 4 is what WebRTC's
    /// smallest quantiser of libvpx, 2, stands for.
    pub min_quantizer: u8,
    /// Over how long a rate target is kept on average: what one frame takes too much, or leaves, the next ones have this
    /// long to give back, or take. The encoder comes near every frame's target itself, so this is its whole lag.
    pub rate_window: Span,
    /// How many frames' worth of the rate a keyframe may take, in percent; the window pays for it. 900 is what WebRTC lets libvpx do
    /// (half of an optimal buffer of 600 ms at 30 fps).
    pub keyframe_percent: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            preset: Preset::Standard,
            min_quantizer: 4,
            rate_window: Span::from_millis(200),
            keyframe_percent: 900,
        }
    }
}

impl Preset {
    pub(super) fn speed(self) -> thalweg_vp8::encode::Speed {
        match self {
            Preset::Fast => thalweg_vp8::encode::Speed::Fast,
            Preset::Standard => thalweg_vp8::encode::Speed::Standard,
            Preset::Slow => thalweg_vp8::encode::Speed::Slow,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preset::Fast => "fast",
            Preset::Standard => "standard",
            Preset::Slow => "slow",
        })
    }
}

impl FromStr for Preset {
    type Err = String;
    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Preset, String> {
        [Preset::Fast, Preset::Standard, Preset::Slow]
            .into_iter()
            .find(|preset| preset.to_string() == text)
            .ok_or_else(|| format!("'{text}' is no preset: choose fast, standard or slow"))
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "functional VP8, {}, quantiser {} or coarser, rate kept over {}, keyframes up to {} %",
            self.preset, self.min_quantizer, self.rate_window, self.keyframe_percent
        )
    }
}
