//! Actions of a policy.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thalweg_units::{Bytes, ConfigError, Rate, Span};

use crate::named;

/// The rates that actions reach (docs/learning.md), before the encoder's own bounds.
pub const RATES: (Rate, Rate) = (Rate::from_kbps(50), Rate::from_kbps(8000));

/// A window is the rate times one of these times: from less than a round trip on a short path to a queue that no call
/// survives.
pub const WINDOWS: (Span, Span) = (Span::from_millis(50), Span::from_secs(2));

/// The kind of a policy's answers: one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Action {
    /// -1..1, mapped to [`RATES`] by a logarithm: 0 is 632 kbit/s.
    #[default]
    Rate,
    /// The rate in bit/s, as the models of the challenge of MMSys'24 answer.
    Bps,
    /// -1..1: the rate is multiplied by 2 to the power of this.
    Delta,
    /// Two of -1..1: the rate as for `Rate`; and the window, as the rate times one of [`WINDOWS`], mapped by a
    /// logarithm.
    RateAndWindow,
}

/// Setting of a sender after an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The base of the encoder's target.
    pub rate: Rate,
    /// Max bytes in flight; `None` when only pacing limits.
    pub window: Option<Bytes>,
}

impl Action {
    /// All kinds.
    pub const ALL: [Action; 4] = [Action::Rate, Action::Bps, Action::Delta, Action::RateAndWindow];

    /// The name: `rate`, `bps`, `delta` or `rate+window`.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Rate => "rate",
            Action::Bps => "bps",
            Action::Delta => "delta",
            Action::RateAndWindow => "rate+window",
        }
    }

    /// How many numbers an answer has.
    pub const fn len(self) -> usize {
        if matches!(self, Action::RateAndWindow) { 2 } else { 1 }
    }

    /// Never: an answer has at least one number.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// The range of each number; what is outside counts as the nearest value inside.
    pub fn range(self) -> RangeInclusive<f32> {
        match self {
            Action::Bps => RATES.0.as_bps_f64() as f32..=RATES.1.as_bps_f64() as f32,
            Action::Rate | Action::Delta | Action::RateAndWindow => -1.0..=1.0,
        }
    }

    /// Applies this answer to the setting `now`; `None` for an answer that is not a number, or of a wrong length.
    pub fn apply(self, answer: &[f32], now: Setting) -> Option<Setting> {
        if answer.len() != self.len() || answer.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let inside = |index: usize| f64::from(answer[index].clamp(*self.range().start(), *self.range().end()));
        let rate = match self {
            Action::Bps => Rate::from_bps_f64(inside(0)),
            Action::Delta => now.rate.scale(libm::exp2(inside(0))).clamp(RATES.0, RATES.1),
            Action::Rate | Action::RateAndWindow => {
                Rate::from_bps_f64(between(RATES.0.as_bps_f64(), RATES.1.as_bps_f64(), inside(0)))
            }
        };
        let window = (self == Action::RateAndWindow).then(|| {
            let (short, long) = (WINDOWS.0.as_secs_f64(), WINDOWS.1.as_secs_f64());
            rate.over(Span::from_secs_f64(between(short, long, inside(1))))
        });
        Some(Setting { rate, window })
    }

    /// The answer that sets a sender to `setting`, from one that is at `now`; the nearest there is.
    pub fn of(self, setting: Setting, now: Setting) -> Vec<f32> {
        let place =
            |low: f64, high: f64, value: f64| (libm::log(value / low) / libm::log(high / low) * 2.0 - 1.0) as f32;
        let rate = place(RATES.0.as_bps_f64(), RATES.1.as_bps_f64(), setting.rate.as_bps_f64().max(1.0));
        let mut answer = match self {
            Action::Rate => vec![rate],
            Action::Bps => vec![setting.rate.as_bps_f64() as f32],
            Action::Delta => {
                vec![libm::log2(setting.rate.as_bps_f64().max(1.0) / now.rate.as_bps_f64().max(1.0)) as f32]
            }
            Action::RateAndWindow => {
                let (short, long) = (WINDOWS.0.as_secs_f64(), WINDOWS.1.as_secs_f64());
                let within = setting.window.map_or(long, |window| setting.rate.time_for(window).as_secs_f64());
                vec![rate, place(short, long, within.max(1e-3))]
            }
        };
        let range = self.range();
        answer.iter_mut().for_each(|number| *number = number.clamp(*range.start(), *range.end()));
        answer
    }
}

/// The value at `place`, -1..1, of a logarithmic scale from `low` to `high`.
fn between(low: f64, high: f64, place: f64) -> f64 {
    low * libm::pow(high / low, (place + 1.0) / 2.0)
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Action {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Action, ConfigError> {
        named::parse("action", &Action::ALL, name)
    }
}
