//! Filters that controllers share.
//!
//! * [`WindowedMin`], [`WindowedMax`]: the extreme of a time window, or of the last rounds;
//! * [`BaseDelay`]: the delay of an empty path;
//! * [`Percentiles`]: percentiles of a time window;
//! * [`Ewma`]: an average that decays with time instead of per sample;
//! * [`Line`], [`slope`]: a straight line through the points of a window;
//! * [`DeliveryRate`]: the rate at which the path delivered the packets in flight;
//! * [`forecast`]: the next capacity of the path, predicted from past samples;
//! * [`Measurement`], [`Average`]: path capacity from trains, and the average interarrival time. Receivers run them
//!   too.

mod base_delay;
mod delivery_rate;
mod ewma;
pub mod forecast;
mod interarrival;
mod least_squares;
mod line;
mod measurement;
mod percentiles;
mod windowed;

pub use base_delay::BaseDelay;
pub use delivery_rate::{DeliveryRate, RateSample};
pub use ewma::Ewma;
pub use interarrival::{Average, Grace, Smoothing, Unit};
pub use least_squares::slope;
pub use line::{Fit, Line};
pub use measurement::{Arrival, Measurement, MeasurementConfig, Short};
pub use percentiles::Percentiles;
pub use windowed::{Extreme, Max, Min, Windowed, WindowedMax, WindowedMin};
