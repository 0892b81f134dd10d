//! A sender around an [`Estimator`].

use std::fmt;
use std::sync::Arc;

use thalweg_sender::frames::rate_targeted::EncoderBounds;
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{Parts, Scheme, SenderFactory};
use thalweg_units::{ConfigError, Size};

use super::controller::Adapted;
use super::estimator::{Estimator, Limits};

type Make = dyn Fn(Limits) -> Result<Box<dyn Estimator>, ConfigError> + Send + Sync;

/// An estimator of another project in a sender that is otherwise our `gcc`: frames at the target rate, its pacing and
/// repair, transport-wide feedback.
#[derive(Clone)]
pub struct Contestant {
    name: String,
    from: String,
    around: Scheme,
    limits: Limits,
    make: Arc<Make>,
}

impl Contestant {
    /// A sender of this name whose estimators `make` creates, one for each run.
    pub fn new(
        name: &str,
        make: impl Fn(Limits) -> Result<Box<dyn Estimator>, ConfigError> + Send + Sync + 'static,
    ) -> Contestant {
        let Ok(around) = "gcc".parse::<Scheme>() else { unreachable!("gcc is a scheme") };
        Contestant { name: name.into(), from: String::new(), around, limits: Limits::default(), make: Arc::new(make) }
            .with_limits(Limits::default())
    }

    /// Says what the estimator is, such as its command and version, for `run.toml`.
    pub fn from(self, from: &str) -> Contestant {
        Contestant { from: from.into(), ..self }
    }

    /// Replaces `gcc` as the sender around the estimator; its controller is not used.
    pub fn around(self, scheme: Scheme) -> Contestant {
        let limits = self.limits;
        Contestant { around: scheme, ..self }.with_limits(limits)
    }

    /// Sets what its estimators are created with; the encoder has the same bounds.
    pub fn with_limits(mut self, limits: Limits) -> Contestant {
        self.limits = limits;
        if let FramesConfig::RateTargeted(frames) = &mut self.around.frames {
            frames.encoder = EncoderBounds { min: limits.min, max: limits.max, demand: None };
        }
        self
    }

    /// Parameters of its estimators.
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contestant").field(&self.name).finish()
    }
}

impl SenderFactory for Contestant {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.around.parts(source)?;
        parts.controller = Box::new(Adapted::new((self.make)(self.limits)?));
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&self.around)
    }

    fn describe(&self) -> String {
        let Limits { start, min, max } = self.limits;
        let text = [("contestant", self.from.clone()), ("around", self.around.name.clone())];
        let rates = [("start", start), ("min", min), ("max", max)].map(|(key, rate)| (key, rate.to_string()));
        text.into_iter().chain(rates).map(|(key, value)| format!("{key} = {}\n", toml::Value::String(value))).collect()
    }
}
