//! Rewards of a policy: a number for each interval.

use std::fmt;
use std::str::FromStr;

use thalweg_units::{ConfigError, Rate, Span};

use crate::{Interval, RATES, named};

/// Experience of a sender's viewer in an interval; a laboratory knows it, a sender does not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Viewed {
    /// Frames shown.
    pub frames: u32,
    /// The rate of the frames shown within the last second, in payload bits.
    pub rate: Rate,
    /// The mean time from capture to display of the frames shown; if none was, the age of the one on the screen.
    pub latency: Span,
    /// The share of the interval in which the picture on the screen had stood for more than 200 ms.
    pub frozen: f64,
    /// The mean PSNR of the frames shown, in dB; `None` if it is not measured or none was shown.
    pub psnr_db: Option<f64>,
}

/// The weights of [`Reward::Qoe`], our choice: a second of latency or of a frozen picture costs as much as the whole
/// range of rates is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QoeWeights {
    /// Weight of the video rate, from 0 at 50 kbit/s to 1 at 8 Mbit/s, by a logarithm.
    pub rate: f64,
    /// Weight of the share of time with a frozen picture.
    pub freeze: f64,
    /// Weight of the latency, per second.
    pub latency: f64,
}

impl Default for QoeWeights {
    fn default() -> QoeWeights {
        QoeWeights { rate: 1.0, freeze: 1.0, latency: 1.0 }
    }
}

/// The kind of reward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reward {
    /// Quality of experience: rate of the video, less freezes, less latency.
    Qoe(QoeWeights),
    /// 0.6 ln(4R + 1) - D - 10 L, with the receiving rate R in Mbit/s, the newest round trip D in s and the loss ratio L
    /// (R3Net: Fang et al., "Reinforcement learning for bandwidth estimation and congestion control in real-time
    /// communications", 2019).
    R3Net,
    /// 2 R / 6 Mbit/s - D / 1 s - L, with the receiving rate R, the newest round trip D and the loss ratio L
    /// (docs/learning.md).
    Mowgli,
    /// The mean PSNR of the frames shown, in dB; 0 if none was. With a real codec only.
    Psnr,
}

impl Default for Reward {
    fn default() -> Reward {
        Reward::Qoe(QoeWeights::default())
    }
}

impl Reward {
    /// All kinds, with their default weights.
    pub const ALL: [Reward; 4] =
        [Reward::Qoe(QoeWeights { rate: 1.0, freeze: 1.0, latency: 1.0 }), Reward::R3Net, Reward::Mowgli, Reward::Psnr];

    /// The name: `qoe`, `r3net`, `mowgli` or `psnr`.
    pub const fn name(self) -> &'static str {
        match self {
            Reward::Qoe(_) => "qoe",
            Reward::R3Net => "r3net",
            Reward::Mowgli => "mowgli",
            Reward::Psnr => "psnr",
        }
    }

    /// The reward of an interval. It is finite.
    pub fn of(self, interval: &Interval, viewed: &Viewed) -> f64 {
        let round_trip = interval.round_trip.map_or(0.0, Span::as_secs_f64);
        let received = interval.receive_rate().as_mbps_f64();
        match self {
            Reward::Qoe(weights) => {
                let (low, high) = (RATES.0.as_bps_f64(), RATES.1.as_bps_f64());
                let rate = viewed.rate.as_bps_f64().clamp(low, high);
                let utility = libm::log(rate / low) / libm::log(high / low);
                weights.rate * utility - weights.freeze * viewed.frozen - weights.latency * viewed.latency.as_secs_f64()
            }
            Reward::R3Net => 0.6 * libm::log(4.0 * received + 1.0) - round_trip - 10.0 * interval.loss_ratio(),
            Reward::Mowgli => 2.0 * received / 6.0 - round_trip - interval.loss_ratio(),
            Reward::Psnr => viewed.psnr_db.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Reward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reward {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Reward, ConfigError> {
        named::parse("reward", &Reward::ALL, name)
    }
}
