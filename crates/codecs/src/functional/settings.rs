//! Settings of the functional encoder.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Span, above, check};

/// Factor by which the picture used for guessing a quantiser is smaller in each dimension (Salsify's authors decimate
/// as far as their time allows; this takes a quarter of the time of the frame itself).
pub(super) const GUESS_SCALE: u16 = 2;

/// Trade-off between speed and quality: [`thalweg_vp8::encode::Speed`] by its name in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// As fast as libvpx in real time at `cpu_used` -8.
    Fast,
    /// For calls and live video on one core.
    #[default]
    Standard,
    /// For use without real-time limits.
    Slow,
}

/// How the functional encoder makes frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Trade-off between speed and quality.
    pub preset: Preset,
    /// The finest quantiser, 0 to 127 (y_ac_qi), so that frames of easy content are not made larger than necessary. 4
    /// corresponds to WebRTC's smallest libvpx quantiser, 2.
    pub min_quantizer: u8,
    /// Window over which the mean rate is kept to the target: following frames compensate a frame's excess or saving
    /// within this time. It is the encoder's whole rate lag, because the encoder comes near every single frame's
    /// target.
    pub rate_window: Span,
    /// Largest keyframe, in percent of a frame's share of the rate; the window repays it. 900 is what WebRTC allows
    /// libvpx (half of an optimal buffer of 600 ms at 30 fps).
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

impl Settings {
    /// Checks that the settings are in range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("min_quantizer", self.min_quantizer).within(0..=127, "4")?;
        check("rate_window", self.rate_window).within(above(Span::ZERO), "200ms")?;
        let percent = self.keyframe_percent;
        check("keyframe_percent", format_args!("{percent} %")).is(percent >= 100, "100 % or more, such as 400")
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
    /// Reads the format that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Preset, String> {
        [Preset::Fast, Preset::Standard, Preset::Slow]
            .into_iter()
            .find(|preset| preset.to_string() == text)
            .ok_or_else(|| format!("unknown preset '{text}': expected fast, standard or slow"))
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
