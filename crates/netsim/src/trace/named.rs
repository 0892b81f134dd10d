//! Traces by name.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use thalweg_units::{Rate, Seed, Span};

use super::Trace;
use crate::synthesize::Synthetic;

impl Trace {
    /// The trace of this name: a rate such as `2Mbps`, rates in turn such as `2Mbps/500kbps@40s`, or a synthetic link
    /// such as `lte-driving` or `poisson:rate=2Mbps`, which has this duration and is generated from this seed.
    ///
    /// # Errors
    /// When there is none of this name, or a parameter in it is out of range.
    pub fn named(name: &str, duration: Span, seed: Seed) -> Result<Trace, NameError> {
        if let Some((rates, half)) = name.split_once('@')
            && let Some((first, second)) = rates.split_once('/')
        {
            let half = half.parse().map_err(NameError::of)?;
            let [first, second] = [first, second].map(|rate| rate.parse::<Rate>().map_err(NameError::of));
            return Trace::periodic(first?, second?, half).map_err(NameError::of);
        }
        if let Ok(rate) = name.parse() {
            return Trace::constant(rate).map_err(NameError::of);
        }
        match name.parse::<Synthetic>() {
            Ok(link) => link.synthesize(duration, seed.child("link")).map_err(NameError::of),
            Err(unknown) => Err(NameError(format!(
                "{unknown}; or a rate such as 2Mbps, or rates in turn such as 2Mbps/500kbps@40s"
            ))),
        }
    }
}

/// There is no trace of this name; the message lists what exists, or says what is wrong with a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError(String);

impl NameError {
    fn of(error: impl fmt::Display) -> NameError {
        NameError(error.to_string())
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Result<Trace, NameError> {
        Trace::named(name, Span::from_secs(10), Seed::new(1))
    }

    #[test]
    fn a_name_is_a_rate_rates_in_turn_or_a_synthetic_link() {
        assert_eq!(named("2Mbps").unwrap(), Trace::constant(Rate::from_kbps(2000)).unwrap());
        let (high, low) = (Rate::from_kbps(2000), Rate::from_kbps(500));
        assert_eq!(named("2Mbps/500kbps@4s").unwrap(), Trace::periodic(high, low, Span::from_secs(4)).unwrap());
        assert!(named("lte-driving").is_ok() && named("poisson:rate=2Mbps").is_ok());
        let error = named("nowhere").unwrap_err().to_string();
        assert!(["'nowhere'", "lte-driving", "2Mbps/500kbps@40s"].iter().all(|part| error.contains(part)), "{error}");
        assert!(named("2Mbps/fast@4s").unwrap_err().to_string().contains("'fast'"));
    }
}
