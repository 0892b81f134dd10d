//! Synthetic links, generated from a seed: cellular ones that resemble recordings, Sprout's model as published, and the
//! simple shapes that papers use. [`Synthetic`] is any of them by name.

mod cellular;
mod doubly_stochastic;
mod named;
mod poisson;
mod presets;
mod shapes;

pub use cellular::CellularModel;
pub use doubly_stochastic::DoublyStochastic;
pub use named::{KINDS, Kind, Synthetic, SyntheticError};
pub use poisson::Poisson;
pub use presets::{Preset, presets};
pub use shapes::{Dropout, Intermittent, Ramp};

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Span, check};

use crate::trace::Trace;

/// Bits of a delivery opportunity that count as throughput: one packet of 1500 bytes.
const OPPORTUNITY_BITS: f64 = 12_000.0;

/// Max opportunities of any generated trace; that many take a few hundred megabytes.
const MAX_OPPORTUNITIES: f64 = 3e7;

/// Checks that a trace of `duration` at up to `rate` can be generated.
fn check_extent(duration: Span, rate: Rate) -> Result<(), ConfigError> {
    check("duration", duration)
        .is(duration >= Span::from_millis(100) && duration <= Span::from_secs(86_400), "100ms to 24 hours")?;
    check("rate", format_args!("{rate} for {duration}")).is(
        rate >= Rate::from_kbps(1)
            && rate.as_bps_f64() * duration.as_secs_f64() <= MAX_OPPORTUNITIES * OPPORTUNITY_BITS,
        "1kbps or more, and at most 30 million packets of 1500 bytes in all: make it slower or shorter",
    )?;
    Ok(())
}

/// The trace of these opportunities, in order; one at `duration` ends it, so that a gap at the end is part of the loop.
fn ending_at(mut millis: Vec<u64>, duration: Span) -> Result<Trace, ConfigError> {
    millis.push((duration.as_millis() as u64).max(1));
    Trace::new(millis)
        .map_err(|error| ConfigError::out_of_range("synthetic trace", error, "one that delivers something"))
}
