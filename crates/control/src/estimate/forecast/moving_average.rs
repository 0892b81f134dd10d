//! The exponentially weighted moving average: the baseline for forecasts.

use thalweg_units::{ConfigError, Rate, check};

use super::Predictor;

/// Forecasts the exponentially weighted average of the samples, the newest with the largest weight.
#[derive(Debug, Clone, Copy)]
pub struct MovingAverage {
    gain: f64,
    /// In bit/s.
    average: Option<f64>,
}

impl MovingAverage {
    /// An average in which a new sample has weight `gain` and the average before it the rest; the first sample sets the
    /// average.
    ///
    /// # Errors
    /// When the gain is not within 0..=1.
    pub fn new(gain: f64) -> Result<MovingAverage, ConfigError> {
        check("forecast.moving_average", gain).within(0.0..=1.0, "0.5")?;
        Ok(MovingAverage { gain, average: None })
    }
}

impl Predictor for MovingAverage {
    fn observe(&mut self, sample: Rate) {
        let sample = sample.as_bps_f64();
        let average = self.average.unwrap_or(sample);
        self.average = Some(self.gain * sample + (1.0 - self.gain) * average);
    }

    fn forecast(&self) -> Option<Rate> {
        self.average.map(Rate::from_bps_f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_of_one_repeats_the_last_sample_and_of_nothing_the_first() {
        let after = |gain: f64| {
            let mut average = MovingAverage::new(gain).unwrap();
            [400, 600, 500].map(Rate::from_kbps).into_iter().for_each(|sample| average.observe(sample));
            average.forecast()
        };
        assert_eq!([0.0, 0.5, 1.0].map(after), [400, 500, 500].map(|kbps| Some(Rate::from_kbps(kbps))));
        assert!(MovingAverage::new(1.1).is_err() && MovingAverage::new(f64::NAN).is_err());
    }
}
