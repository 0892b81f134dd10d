//! Marks by how long a packet waited.

use thalweg_units::{ConfigError, Span, check};

use crate::packet::MarkReason;

/// The probability that a packet is marked when it leaves, by its sojourn time in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Marker {
    /// Each packet that waited longer.
    Step {
        /// The longest time without a mark.
        at: Span,
    },
    /// None up to `from`, each from `to` on, and between them in proportion.
    Ramp {
        /// The longest time without marks.
        from: Span,
        /// The time from which each is marked.
        to: Span,
    },
}

impl Marker {
    /// The ramp of a radio's queue, from 5 to 10 ms (specs/l4s.md 2.4 and 2.6).
    pub const RADIO: Marker = Marker::Ramp { from: Span::from_millis(5), to: Span::from_millis(10) };

    /// For a packet that waited `sojourn`, where no threshold is below `least`; from 0 to 1.
    pub(super) fn probability(&self, sojourn: Span, least: Span) -> f64 {
        match *self {
            Marker::Step { at } => f64::from(u8::from(sojourn > at.max(least))),
            Marker::Ramp { from, to } => {
                let from = from.max(least);
                let width = to.max(from) - from;
                let above = sojourn - from;
                if above <= Span::ZERO {
                    0.0
                } else if above >= width {
                    1.0
                } else {
                    above.as_secs_f64() / width.as_secs_f64()
                }
            }
        }
    }

    /// Why a packet that it hits is marked.
    pub(super) const fn reason(&self) -> MarkReason {
        match self {
            Marker::Step { .. } => MarkReason::Step,
            Marker::Ramp { .. } => MarkReason::Ramp,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Marker::Step { at } => check("marker.step.at", at).within(Span::ZERO.., "at = \"1ms\""),
            Marker::Ramp { from, to } => {
                check("marker.ramp.from", from).within(Span::ZERO.., "from = \"5ms\"")?;
                check("marker.ramp.to", to).within(from.., "not before `from`: to = \"10ms\"")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_from_800_to_1200_us_has_the_probabilities_of_the_worked_example() {
        // specs/l4s.md 2.8, number 3.
        let ramp = Marker::Ramp { from: Span::from_micros(800), to: Span::from_micros(1200) };
        let probabilities = [700, 800, 900, 1000, 1200].map(|us| ramp.probability(Span::from_micros(us), Span::ZERO));
        assert_eq!(probabilities, [0.0, 0.0, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn a_step_marks_what_waited_longer_and_never_below_the_least_threshold() {
        let step = Marker::Step { at: Span::from_millis(1) };
        let marked = |us, least| step.probability(Span::from_micros(us), Span::from_micros(least)) > 0.0;
        assert_eq!(
            [marked(1000, 0), marked(1001, 0), marked(2399, 2400), marked(2401, 2400)],
            [false, true, false, true]
        );
    }
}
