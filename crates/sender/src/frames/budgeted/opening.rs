//! The first second: larger frames, of the size that the first measurement allows.
//!
//! The margin has seen no frames yet and is careful, so a fifth of what is free leaves half of the path idle. And the first
//! frame was small, so that a slow path could bear it: once its packets have measured the path, the largest picture is
//! tried whose keyframe fits, instead of one rung each second.

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, above_to, check};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct OpeningConfig {
    /// The share of what is free, if that is more than the usual.
    pub share: f64,
    /// No frame takes more than the path carries in this time, keyframes included.
    pub longest: Span,
    /// How long it lasts, from the first arrival of a frame's packet on.
    pub lasts: Span,
}

impl Default for OpeningConfig {
    fn default() -> OpeningConfig {
        OpeningConfig { share: 0.6, longest: Span::from_millis(65), lasts: Span::from_secs(1) }
    }
}

impl OpeningConfig {
    pub(super) fn build(self) -> Result<Opening, ConfigError> {
        check("opening.share", self.share).within(above_to(0.0, 1.0), "0.6")?;
        check("opening.longest", self.longest).within(above(Span::ZERO), "65ms")?;
        check("opening.lasts", self.lasts).within(above(Span::ZERO), "1s")?;
        Ok(Opening { config: self, began: None })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    config: OpeningConfig,
    /// When the first packet of a frame was reported.
    began: Option<Time>,
}

impl Opening {
    /// A packet of a frame has arrived; returns true if it is the first.
    pub(super) fn on_arrival(&mut self, now: Time) -> bool {
        let is_first = self.began.is_none();
        self.began.get_or_insert(now);
        is_first
    }

    /// Returns true while it lasts.
    pub(super) fn lasts(&self, now: Time) -> bool {
        self.began.is_some_and(|began| now - began < self.config.lasts)
    }

    /// The share of what is free that a frame may take.
    pub(super) fn share(&self) -> f64 {
        self.config.share
    }

    /// The most bytes that a frame may have on a path of this capacity.
    pub(super) fn most(&self, capacity: Rate) -> Bytes {
        capacity.over(self.config.longest)
    }
}
