//! A forecast with a margin from its own past errors.

use thalweg_units::{ConfigError, Rate};

use super::{Config, Forecast, Margin, MarginConfig, Predictor};

/// A predictor and the margin that follows from its errors: each sample is first compared with its forecast.
#[derive(Debug, Clone)]
pub struct Guarded {
    pub(crate) predictor: Forecast,
    pub(crate) margin: Margin,
}

impl Guarded {
    /// A predictor and a margin without samples.
    ///
    /// # Errors
    /// When a parameter of either is out of range.
    pub fn new(predictor: Config, margin: MarginConfig) -> Result<Guarded, ConfigError> {
        Ok(Guarded { predictor: Forecast::new(predictor)?, margin: Margin::new(margin)? })
    }

    /// u in bit/s, to be added to the forecast; `None` before the first sample.
    pub fn margin(&self) -> Option<f64> {
        self.forecast().map(|forecast| self.margin.of(forecast))
    }
}

impl Predictor for Guarded {
    fn observe(&mut self, sample: Rate) {
        if let Some(forecast) = self.predictor.forecast() {
            self.margin.add(sample, forecast);
        }
        self.predictor.observe(sample);
    }

    fn forecast(&self) -> Option<Rate> {
        self.predictor.forecast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::forecast::Errors;

    #[test]
    fn each_sample_is_held_against_what_was_forecast_of_it() {
        // The forecast is the last sample: of two steps up and one down, in kbps, the lowest error is the fall of 200.
        let margin = MarginConfig { errors: Errors::Absolute, first: 0, min: 3, ..MarginConfig::default() };
        let mut guarded = Guarded::new(Config::MovingAverage(1.0), margin).unwrap();
        assert_eq!((guarded.forecast(), guarded.margin()), (None, None));
        for kbps in [400, 500, 300, 350] {
            guarded.observe(Rate::from_kbps(kbps));
        }
        assert_eq!((guarded.forecast(), guarded.margin()), (Some(Rate::from_kbps(350)), Some(-200_000.0)));
    }
}
