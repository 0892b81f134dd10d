//! Target forecast for any scheme: its encoder is aimed at a forecast of the base rate (Rebera's filter where its paper
//! has none; specs/rebera.md 4).
//!
//! A controller says what the path can carry now, but the frames encoded at that rate leave in the moments after. The
//! encoder's base at equal intervals is a time series; its next value is forecast, and until that value is known the
//! base is multiplied by the forecast growth. Pacing is unaffected.

use thalweg_control::estimate::forecast::{self, Guarded, MarginConfig, Predictor};
use thalweg_units::{ConfigError, Rate, Span, Time, above, check};

/// The forecast's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The predictor of the next value.
    pub predictor: forecast::Config,
    /// How far below the forecast the encoder stays: a quantile of the forecast's errors, here the lower quartile, and
    /// nothing until there are enough of them.
    pub margin: MarginConfig,
    /// How far ahead it forecasts: the time between two values of the series.
    pub interval: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            predictor: forecast::Config::default(),
            margin: MarginConfig { delta: 0.25, before: 0.0, ..MarginConfig::default() },
            interval: Span::from_millis(200),
        }
    }
}

impl Config {
    /// A target forecast without history.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<TargetForecast, ConfigError> {
        check("target_forecast.interval", self.interval).within(above(Span::ZERO), "200ms")?;
        Ok(TargetForecast {
            interval: self.interval,
            forecast: Guarded::new(self.predictor, self.margin)?,
            next: Time::ZERO,
            ratio: 1.0,
        })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct TargetForecast {
    interval: Span,
    forecast: Guarded,
    /// When the next value of the series is due.
    next: Time,
    ratio: f64,
}

impl TargetForecast {
    /// The base is `rate` at `now`; returns its forecast.
    pub fn of(&mut self, now: Time, rate: Rate) -> Rate {
        if now >= self.next {
            self.next = now + self.interval;
            self.step(rate);
        }
        rate.scale(self.ratio)
    }

    /// The forecast of the base one interval later, as a share of its present value; 1 while there is no forecast.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    fn step(&mut self, sample: Rate) {
        self.forecast.observe(sample);
        let next = self.forecast.forecast().zip(self.forecast.margin()).filter(|_| sample > Rate::ZERO);
        self.ratio =
            next.map_or(1.0, |(forecast, margin)| (forecast.as_bps_f64() + margin).max(0.0) / sample.as_bps_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forecast after the base had these values in kbps, one every 200 ms.
    fn reported(kbps: impl Iterator<Item = u64>) -> (TargetForecast, Rate) {
        let mut target_forecast = Config::default().build().unwrap();
        let mut last = Rate::ZERO;
        for (step, kbps) in (0..).zip(kbps) {
            for part in 0..10 {
                last = target_forecast.of(Time::from_millis(200 * step + 20 * part), Rate::from_kbps(kbps));
            }
        }
        (target_forecast, last)
    }

    #[test]
    fn a_base_that_stays_is_forecast_to_stay() {
        let (_, rate) = reported((0..50).map(|_| 800));
        assert!((790..=810).contains(&(rate.as_bps() / 1000)), "{rate}");
    }

    #[test]
    fn a_base_that_has_always_swung_is_forecast_to_swing() {
        let swing = |step: u64| if step % 4 < 2 { 600 } else { 1200 };
        let (before_a_fall, _) = reported((0..104).map(swing));
        let (before_a_rise, _) = reported((0..102).map(swing));
        // Two slow steps follow two fast ones.
        assert!(before_a_fall.ratio() < 0.75 && before_a_rise.ratio() > 1.2, "{before_a_fall:?} {before_a_rise:?}");
    }

    #[test]
    fn nothing_known_or_nothing_left_leaves_the_base_as_it_is() {
        let (target_forecast, rate) = reported([500].into_iter());
        assert_eq!((target_forecast.ratio(), rate), (1.0, Rate::from_kbps(500)));
        let (target_forecast, rate) = reported((0..20).map(|_| 0));
        assert_eq!((target_forecast.ratio(), rate), (1.0, Rate::ZERO));
    }

    #[test]
    fn an_interval_of_nothing_is_refused() {
        assert!(Config { interval: Span::ZERO, ..Config::default() }.build().is_err());
    }
}
