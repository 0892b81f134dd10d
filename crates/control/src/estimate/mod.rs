//! Filters that controllers share.
//!
//! * [`WindowedMin`], [`WindowedMax`]: the extreme of the last while, or of the last rounds;
//! * [`BaseDelay`]: the delay of an empty path;
//! * [`Percentiles`]: below which value what share of the last while is;
//! * [`Ewma`]: an average that forgets with time and not with samples;
//! * [`Line`], [`slope`]: a straight line through the points of a window;
//! * [`DeliveryRate`]: how fast the path delivered what was under way;
//! * [`forecast`]: what it will deliver next, from what it did;
//! * [`Measurement`], [`Average`]: what the path bears by trains, and the time between arrivals. Receivers run them too.

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
