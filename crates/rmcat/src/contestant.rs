//! Who is judged: anything that makes senders within given rates.

use thalweg_lab::contestant::{self, Limits};
use thalweg_sender::scheme::RateLimits;
use thalweg_sender::{Scheme, SenderFactory};
use thalweg_units::ConfigError;

/// A sender that the bench judges: a [`Scheme`] of ours, or another project's estimator inside one.
pub trait Contestant: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its sender within these rates; it has the contestant's name.
    ///
    /// # Errors
    /// When the rates do not suit it.
    fn sender(&self, limits: RateLimits) -> Result<Box<dyn SenderFactory>, ConfigError>;

    /// The same with a weight among its like; `None` if it knows none.
    ///
    /// # Errors
    /// When the rates do not suit it.
    fn weighted(&self, limits: RateLimits, weight: f64) -> Result<Option<Box<dyn SenderFactory>>, ConfigError> {
        let _ = (limits, weight);
        Ok(None)
    }

    /// The scheme that it is: with its parameters, other machines play it too.
    fn as_scheme(&self) -> Option<&Scheme> {
        None
    }
}

impl Contestant for Scheme {
    fn name(&self) -> &str {
        &self.name
    }

    fn sender(&self, limits: RateLimits) -> Result<Box<dyn SenderFactory>, ConfigError> {
        Ok(Box::new(self.within(limits)?))
    }

    fn weighted(&self, limits: RateLimits, weight: f64) -> Result<Option<Box<dyn SenderFactory>>, ConfigError> {
        let weighted = Scheme::weighted(self, weight).map(|scheme| scheme.within(limits)).transpose()?;
        Ok(weighted.map(|scheme| Box::new(scheme) as Box<dyn SenderFactory>))
    }

    fn as_scheme(&self) -> Option<&Scheme> {
        Some(self)
    }
}

/// Another project's estimator: it may ask for what the wire carries, and the encoder takes its own part.
impl Contestant for contestant::Contestant {
    fn name(&self) -> &str {
        SenderFactory::name(self)
    }

    fn sender(&self, limits: RateLimits) -> Result<Box<dyn SenderFactory>, ConfigError> {
        let RateLimits { min, start, wire, .. } = limits;
        Ok(Box::new(self.clone().with_limits(Limits { start, min, max: wire })))
    }
}
