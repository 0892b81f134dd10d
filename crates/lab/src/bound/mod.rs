//! How far any sender could go over a link: senders that know what no sender can (docs/bounds.md).
//!
//! [`Bound`] is the sender: `simulate` gives it the path of its run and plays it as any other. [`Curve`] is computed from
//! the link alone, and says which share of it a scheme has. Both are defined for one sender over one bottleneck between
//! fixed delays, first in first out.

mod aim;
mod curve;
mod curves;
mod known;
mod link;
mod point;
mod sender;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::str::FromStr;

use thalweg_sender::{FeedbackStyle, Parts, SenderFactory};
use thalweg_units::{ConfigError, Size, Span, above, check};

pub use curve::{Curve, frames};
pub use curves::Curves;
pub use point::Point;
pub(crate) use sender::placed;

/// The names of bounds, each with what it is.
pub const BOUNDS: [(&str, &str); 3] = [
    ("bound:omniscient", "knows every opportunity: a frame takes all that come within 66 ms of its capture"),
    ("bound:omniscient:33ms", "the same within this time, or any other"),
    ("bound:causal", "knows every opportunity, used or not, one feedback delay later"),
];

/// Longer runs are not compared with a [`Curve`]: it lists every opportunity, some three million an hour at 10 Mbps, while other
/// runs wait.
pub(crate) const LONGEST_JUDGED: Span = Span::from_secs(1800);

/// A sender that knows what no sender can: for the laboratory alone, which gives it the path of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Each frame takes every opportunity left up to `within` after its capture.
    Omniscient {
        within: Span,
    },
    Causal(Causal),
}

/// Each frame is as large as what the link is expected to carry within a budget after its capture, less what is under way.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Causal {
    /// The rate is the least of the means over these times, up to what is known.
    windows: [Span; 2],
    /// The rate is multiplied by this.
    gain: f64,
    /// The time after a frame's capture within which it should be through.
    budget: Span,
}

/// The windows are those with the best averages in docs/bounds.md. Gain and budget were searched over six of its
/// recorded links and four synthetic ones (docs/bounds.md).
const CAUSAL: Causal =
    Causal { windows: [Span::from_millis(200), Span::from_millis(800)], gain: 0.8, budget: Span::from_millis(100) };

const PREFIX: &str = "bound:";

impl Bound {
    /// Returns true if this is a name that only a bound can have.
    pub fn is_named_by(name: &str) -> bool {
        name.starts_with(PREFIX)
    }

    /// Why it is no sender for a real network.
    pub fn refusal(name: &str) -> ConfigError {
        ConfigError::because(format!(
            "'{name}' knows beforehand what its link carries, which no sender can: it is a bound for virtual time, for \
             `thalweg compare` and for `thalweg run` without --live"
        ))
    }
}

impl FromStr for Bound {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Bound, ConfigError> {
        let kind = match name.strip_prefix(PREFIX).unwrap_or_default() {
            "omniscient" => Kind::Omniscient { within: Span::from_millis(66) },
            "causal" => Kind::Causal(CAUSAL),
            other => {
                let within = other.strip_prefix("omniscient:").ok_or_else(|| {
                    let names = BOUNDS.map(|(name, _)| name).join(", ");
                    ConfigError::because(format!("unknown scheme '{name}': expected one of {names}"))
                })?;
                let within: Span = within.parse().map_err(|error| ConfigError::because(format!("{name}: {error}")))?;
                check(name, within).within(above(Span::ZERO), "bound:omniscient:66ms")?;
                Kind::Omniscient { within }
            }
        };
        Ok(Bound { name: name.into(), kind })
    }
}

impl SenderFactory for Bound {
    fn name(&self) -> &str {
        &self.name
    }

    /// Always an error: only the laboratory can give it a path.
    fn parts(&self, _source: Size) -> Result<Parts, ConfigError> {
        Err(Bound::refusal(&self.name))
    }

    fn feedback(&self) -> FeedbackStyle {
        FeedbackStyle::PerPacket
    }

    fn describe(&self) -> String {
        match self.kind {
            Kind::Omniscient { within } => format!("within = \"{within}\"\n"),
            Kind::Causal(Causal { windows: [short, long], gain, budget }) => {
                format!("windows = [\"{short}\", \"{long}\"]\ngain = {gain}\nbudget = \"{budget}\"\n")
            }
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
