//! How quickly the encoder's rate follows its target.

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Rate, Span, check};

/// Response times as measured when the target steps up, or down, by a factor of four.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lag {
    /// Time until the rate has reached 90 % of a target four times as high; longer than 0.
    pub up: Span,
    /// Time until the rate is down to 110 % of a target four times as low; longer than 0.
    pub down: Span,
    /// Share of a step down that takes effect at once, 0 to below 0.96: the encoder uses a coarser quantiser for the
    /// very next frame, and only the remainder takes time.
    pub at_once: f64,
}

/// A named lag preset, or custom parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LagPreset {
    /// libvpx as [`libvpx::Settings`](crate::libvpx::Settings) configures it, between the built-in scene and a talking
    /// head.
    #[default]
    Libvpx,
    /// libvpx in Chromium according to Vidaptive's Fig. 2: 2.0 s up, 0.7 s down.
    Paper,
    /// Custom parameters.
    Custom(Lag),
}

impl LagPreset {
    /// The parameters of this preset.
    pub const fn lag(self) -> Lag {
        match self {
            LagPreset::Libvpx => Lag { up: Span::from_millis(1350), down: Span::from_millis(800), at_once: 0.6 },
            LagPreset::Paper => Lag { up: Span::from_millis(2000), down: Span::from_millis(700), at_once: 0.0 },
            LagPreset::Custom(lag) => lag,
        }
    }
}

impl Default for Lag {
    fn default() -> Lag {
        LagPreset::Libvpx.lag()
    }
}

/// ln(0.75 / 0.1): after a step up by four the rate starts three quarters of the new target below it and counts as
/// arrived at a tenth.
const UP: f64 = 2.014_903_020_542_265;

/// A first-order low-pass process with one time constant up and one down.
#[derive(Debug, Clone)]
pub struct Follower {
    up_s: f64,
    down_s: f64,
    at_once: f64,
    /// The followed rate in bit/s; `None` before the first target, which is followed immediately.
    followed: Option<f64>,
}

impl Follower {
    /// Creates a follower with this lag.
    ///
    /// # Errors
    /// When a span is not longer than 0, or `at_once` leaves less than the tenth that counts as arrived.
    pub fn new(lag: Lag) -> Result<Follower, ConfigError> {
        check("lag", format_args!("{} up, {} down", lag.up, lag.down))
            .is(lag.up > Span::ZERO && lag.down > Span::ZERO, "both longer than 0, such as 1.35s and 0.8s")?;
        check("lag.at_once", lag.at_once).within(0.0..0.96, "0.6")?;
        // After a step down by four the excess is three times the new target, less the immediate share; it ends at a
        // tenth.
        let down = libm::log(3.0 * (1.0 - lag.at_once) / 0.1);
        Ok(Follower {
            up_s: lag.up.as_secs_f64() / UP,
            down_s: lag.down.as_secs_f64() / down,
            at_once: lag.at_once,
            followed: None,
        })
    }

    /// The rate of the next frame, made `interval` after the previous one.
    pub fn follow(&mut self, target: Rate, interval: Span) -> Rate {
        let (target, interval) = (target.as_bps_f64(), interval.as_secs_f64());
        let before = self.followed.unwrap_or(target);
        let constant = if target > before { self.up_s } else { self.down_s };
        // Implicit Euler step: never overshoots the target, however long the interval.
        let after = before + (target - before) * interval / (constant + interval);
        self.followed = Some(after);
        Rate::from_bps_f64(if after > target { target + (1.0 - self.at_once) * (after - target) } else { after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_nanos(33_333_333);

    /// Seconds from a step until the rate is within a tenth of the new target.
    fn seconds(lag: Lag, from: u64, to: u64) -> f64 {
        let mut follower = Follower::new(lag).unwrap();
        let (from, to) = (Rate::from_kbps(from), Rate::from_kbps(to));
        for _ in 0..300 {
            follower.follow(from, INTERVAL);
        }
        let near = |rate: Rate| (rate.as_bps_f64() / to.as_bps_f64() - 1.0).abs() <= 0.1;
        let frames = (1..1000).find(|_| near(follower.follow(to, INTERVAL))).unwrap();
        f64::from(frames) * INTERVAL.as_secs_f64()
    }

    #[test]
    fn a_step_of_four_takes_as_long_as_the_figures_say() {
        for lag in [LagPreset::Paper.lag(), LagPreset::Libvpx.lag()] {
            let (up, down) = (seconds(lag, 500, 2000), seconds(lag, 2000, 500));
            assert!((up / lag.up.as_secs_f64() - 1.0).abs() < 0.06, "{up} s for {}", lag.up);
            assert!((down / lag.down.as_secs_f64() - 1.0).abs() < 0.1, "{down} s for {}", lag.down);
        }
    }

    #[test]
    fn the_rate_never_leaves_the_way_between_where_it_was_and_its_target() {
        let mut follower = Follower::new(Lag::default()).unwrap();
        follower.follow(Rate::from_kbps(1000), INTERVAL);
        let mut last = 1000e3;
        for _ in 0..200 {
            let rate = follower.follow(Rate::from_kbps(3000), INTERVAL).as_bps_f64();
            assert!(rate > last && rate <= 3000e3, "{last} then {rate}");
            last = rate.min(2_999_000.0);
        }
        let first = follower.follow(Rate::from_kbps(1000), Span::from_secs(3600)).as_kbps_f64();
        assert!((1000.0..1001.0).contains(&first), "an hour is enough: {first}");
    }

    #[test]
    fn a_target_that_trembles_is_followed_without_a_bias() {
        let mut follower = Follower::new(Lag::default()).unwrap();
        let mut random = thalweg_units::Seed::new(1).random();
        let mean = (0..3000)
            .map(|_| follower.follow(Rate::from_bps_f64(1e6 * random.between(0.95, 1.05)), INTERVAL).as_bps_f64())
            .sum::<f64>()
            / 3000.0;
        assert!((0.97e6..1.03e6).contains(&mean), "{mean}");
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        let message = |lag: Lag| Follower::new(lag).err().unwrap().to_string();
        let up = message(Lag { up: Span::ZERO, ..Lag::default() });
        assert!(up.contains("lag is 0ms up"), "{up}");
        let share = message(Lag { at_once: 1.0, ..Lag::default() });
        assert!(share.contains("lag.at_once is 1") && share.contains("0.96"), "{share}");
    }
}
