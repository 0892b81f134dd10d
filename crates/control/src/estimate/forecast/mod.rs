//! One-step forecasts of a path's capacity from a series of measured rates (specs/rebera.md 4).
//!
//! [`Predictor`] is the common trait: [`Rls`] learns a linear filter while it predicts, [`MovingAverage`] is the
//! baseline, and [`Guarded`] adds a margin from the errors of either. None depends on the source of the samples, so any
//! controller that measures its path periodically can use them, and so can code that sets an encoder's target for a
//! controller that does not (`thalweg_sender::frames::target_forecast`).
//!
//! ```
//! use thalweg_control::estimate::forecast::{Config, Forecast, Predictor, RlsConfig};
//! use thalweg_units::Rate;
//!
//! let mut forecast = Forecast::new(Config::Rls(RlsConfig::default())).unwrap();
//! for kbps in [400, 420, 380, 450, 500, 480, 470, 520] {
//!     forecast.observe(Rate::from_kbps(kbps));
//! }
//! assert_eq!(forecast.forecast(), Some(Rate::from_bps(527_854)));
//! ```

mod guarded;
mod margin;
mod moving_average;
mod rls;

use thalweg_units::{ConfigError, Rate};

pub use guarded::Guarded;
use margin::Margin;
pub use margin::{Errors, MarginConfig};
pub use moving_average::MovingAverage;
pub use rls::{Rls, RlsConfig};

/// Predicts the next of a series of rates that were measured at equal intervals.
pub trait Predictor {
    /// Adds the next sample of the series.
    fn observe(&mut self, sample: Rate);

    /// The forecast of the next sample; `None` before the first sample.
    fn forecast(&self) -> Option<Rate>;
}

/// Which predictor, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// Recursive least squares.
    Rls(RlsConfig),
    /// An exponentially weighted moving average with this weight for each new sample, 0..=1: the paper's alpha.
    MovingAverage(f64),
}

impl Default for Config {
    fn default() -> Config {
        Config::Rls(RlsConfig::default())
    }
}

/// A predictor of either kind.
#[derive(Debug, Clone)]
pub enum Forecast {
    /// See [`Rls`].
    Rls(Rls),
    /// See [`MovingAverage`].
    MovingAverage(MovingAverage),
}

impl Forecast {
    /// The predictor before its first sample.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Forecast, ConfigError> {
        Ok(match config {
            Config::Rls(config) => Forecast::Rls(Rls::new(config)?),
            Config::MovingAverage(gain) => Forecast::MovingAverage(MovingAverage::new(gain)?),
        })
    }
}

impl Predictor for Forecast {
    fn observe(&mut self, sample: Rate) {
        match self {
            Forecast::Rls(rls) => rls.observe(sample),
            Forecast::MovingAverage(average) => average.observe(sample),
        }
    }

    fn forecast(&self) -> Option<Rate> {
        match self {
            Forecast::Rls(rls) => rls.forecast(),
            Forecast::MovingAverage(average) => average.forecast(),
        }
    }
}

/// The root mean squared error of one-step forecasts of `series`, without the first `skip` samples; `None` when none is
/// left.
pub fn rms(predictor: &mut impl Predictor, series: &[Rate], skip: usize) -> Option<Rate> {
    let (mut squares, mut count) = (0.0, 0u32);
    for (index, sample) in series.iter().enumerate() {
        if let Some(forecast) = predictor.forecast().filter(|_| index >= skip) {
            let error = sample.as_mbps_f64() - forecast.as_mbps_f64();
            squares += error * error;
            count += 1;
        }
        predictor.observe(*sample);
    }
    (count > 0).then(|| Rate::from_mbps_f64(libm::sqrt(squares / f64::from(count))))
}
