//! Links that never were, seeded: cellular ones in the manner of recordings, Sprout's model as its authors have it, and the plain
//! shapes that papers ask for. [`Synthetic`] is any of them by name.

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

/// Bits of a delivery opportunity that count as throughput: a packet of 1500 bytes.
const OPPORTUNITY_BITS: f64 = 12_000.0;

/// No generator makes more opportunities than this, a few hundred megabytes of them.
const MAX_OPPORTUNITIES: f64 = 3e7;

/// Whether a trace of `duration` at up to `rate` can be made.
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

/// The trace of these opportunities, in order; the duration is its last, so that a silent end is part of the loop.
fn ending_at(mut millis: Vec<u64>, duration: Span) -> Result<Trace, ConfigError> {
    millis.push((duration.as_millis() as u64).max(1));
    Trace::new(millis)
        .map_err(|error| ConfigError::out_of_range("synthetic trace", error, "one that delivers something"))
}
