//! Every frame exactly its share of a target that is taken up late: the media of verdicts, the same for every
//! estimator.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Random, Rate, Span, check};

use super::Made;
use super::noise::{check_scale, lateness};

/// syncodecs' SimpleFps with a delay of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fixfps {
    /// How late a target is taken up, to the nearest frame; the first one at once. Counted in pictures that were
    /// encoded, because an encoder has no clock. RFC 8867 allows 100 ms (specs/rmcat.md 1).
    pub delay: Span,
    /// Scale of the Laplace noise of the interval, 0 to 1: 0.15 in syncodecs, 0 for verdicts.
    pub interval_noise: f64,
}

impl Default for Fixfps {
    fn default() -> Fixfps {
        Fixfps { delay: Span::from_millis(100), interval_noise: 0.0 }
    }
}

impl Fixfps {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("fixfps.delay", self.delay).within(Span::ZERO..=Span::from_secs(60), "100ms")?;
        check_scale("fixfps.interval_noise", self.interval_noise)
    }
}

/// Its state.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Sum of the intervals so far.
    now: Span,
    target: Option<Rate>,
    /// Targets to come, each with when it is taken up.
    coming: VecDeque<(Span, Rate)>,
}

impl State {
    pub(super) fn next(&mut self, config: &Fixfps, target: Rate, interval: Span, random: &mut Random) -> Made {
        let newest = self.coming.back().map(|(_, rate)| *rate).or(self.target);
        if newest != Some(target) {
            self.coming.push_back((self.now + config.delay, target));
        }
        // Half an interval early: intervals of 33.333333 ms never add up to 100 ms.
        while let Some((due, rate)) = self.coming.front()
            && (*due <= self.now + interval / 2 || self.target.is_none())
        {
            self.target = Some(*rate);
            self.coming.pop_front();
        }
        self.now += interval;
        let rate = self.target.unwrap_or(target);
        Made {
            bytes: Some(libm::ceil(rate.as_bps_f64() * interval.as_secs_f64() / 8.0)),
            late: lateness(random, config.interval_noise),
        }
    }
}
