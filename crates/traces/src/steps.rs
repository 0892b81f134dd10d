//! Traces from rates in turn.

use thalweg_netsim::{Trace, TraceError};
use thalweg_units::Rate;

use crate::error::ReadError;

/// Rates, each for a number of milliseconds.
pub(crate) type Steps = Vec<(u64, Rate)>;

/// Bits of an opportunity that count as throughput: a packet of 1500 bytes.
const OPPORTUNITY_BITS: f64 = 12_000.0;

/// The trace of a file's rates, of up to this number of opportunities: a file may ask for more than memory holds.
///
/// # Errors
/// When nothing is ever delivered, or too much.
pub(crate) fn trace(steps: Steps, most: u64) -> Result<Trace, ReadError> {
    let bits: f64 = steps.iter().map(|(millis, rate)| rate.as_bps_f64() * *millis as f64 / 1e3).sum();
    let packets = bits / OPPORTUNITY_BITS;
    if packets > most as f64 {
        return Err(ReadError::unclear(format!(
            "it has {:.1} million packets of 1500 bytes, must be at most {} million: are its units right? If so, cut it",
            packets / 1e6,
            most as f64 / 1e6
        )));
    }
    Trace::from_rates(steps).map_err(|error| match error {
        TraceError::Empty => {
            ReadError::unclear("all its rates together do not carry one packet of 1500 bytes: are its units right?")
        }
        other => other.into(),
    })
}
