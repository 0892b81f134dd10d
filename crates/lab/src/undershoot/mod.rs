//! Undershoot: encoders that stay below their target.
//!
//! A phone's hardware encoder often produces less than its target, and the ratio of both, the encoded-to-target ratio
//! (ETR), changes with the scene from minute to minute (Camel, arXiv 2602.09500, Fig. 3a). A sender that takes its
//! sending rate for the path's capacity then never finds out that there is more. Here a ratio below 1 can be applied to
//! any encoder, including real ones: [`Ratios::lower`] multiplies the amounts of a plan before the encoder sees it, so
//! that the stream really is smaller than the sender's target. A target with only a quantiser and no amount is
//! unchanged.
//!
//! An encoder has no clock, and its plans are no measure of time either, because a policy may skip pictures: so the
//! caller of the encoder lowers the plan and passes the time.
//!
//! # Results
//!
//! `cargo run --release -p thalweg-calibrate -- undershoot [codec [scene [size]]]`: targets of 300 to 2000 kbit/s
//! for the built-in scene, 60 s each. Above the floor every 5 s of the model are within 3 % of the requested ratio (1,
//! 0.6, 0.4; 180p to 720p), and of libvpx within 5 % (180p and 360p). Sizes vary by 0.19 to 0.34 of their mean with the
//! model and 0.17 to 0.33 with libvpx; Camel's closed loops in our reading assume 0.2. The floor is the rate at the
//! coarsest quantiser: for both, about 186 kbit/s at 360p and 488 at 720p, so 300 kbit/s at 360p can be undershot to
//! 0.63 at most; at 180p to 0.4.

mod drawn;
mod names;
mod recorded;
mod window;

use thalweg_types::{EncodePlan, Target};
use thalweg_units::{ConfigError, Seed, Time, check};

pub use drawn::Drawn;
pub use window::Window;

/// How far below its target an encoder stays, and when. Its text form, for the command line and scenario files, is
/// `none`, `0.6`, `0.6@30s-60s`, `ios`, `android` or `etr.txt` (see [`FromStr`](std::str::FromStr)).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Undershoot {
    /// No undershoot.
    #[default]
    None,
    /// A ratio within each window of time, in order and without overlap; no undershoot in between.
    Windows(Vec<Window>),
    /// A ratio drawn at random for each block of time.
    Drawn(Drawn),
    /// Ratios from the file of this name. A line with two fields is a time in seconds and the ratio from then on, 1
    /// before the first; a line with one field is the ratio of the next second. The last ratio applies to the end.
    /// Fields are separated by blanks or a comma; empty lines and lines that begin with # are ignored.
    Recorded(String),
}

impl Undershoot {
    /// This ratio for the whole run.
    pub fn always(ratio: f64) -> Undershoot {
        Undershoot::Windows(vec![Window::always(ratio)])
    }

    /// Returns true if there is no undershoot.
    pub fn is_none(&self) -> bool {
        *self == Undershoot::None
    }

    /// Computes the ratio at each time. Random ratios come from `seed.child("codec.undershoot")`: pass the seed of the
    /// run and the flow, which does not depend on the scheme, so that every scheme gets the same ratios.
    ///
    /// # Errors
    /// When a ratio or a time is out of range, or a file cannot be read; the error gives the value, the range and, for
    /// a file, the line.
    pub fn build(&self, seed: Seed) -> Result<Ratios, ConfigError> {
        Ok(Ratios(match self {
            Undershoot::None => Kind::Steps(Vec::new()),
            Undershoot::Windows(windows) => Kind::Steps(window::steps(windows)?),
            Undershoot::Drawn(drawn) => {
                drawn.check()?;
                Kind::Drawn { drawn: drawn.clone(), seed: seed.child("codec.undershoot") }
            }
            Undershoot::Recorded(name) => Kind::Steps(recorded::read(name)?),
        }))
    }
}

/// The ratio at each time, built from an [`Undershoot`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ratios(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// The ratio from each time on; 1 before the first.
    Steps(Vec<(Time, f64)>),
    Drawn {
        drawn: Drawn,
        seed: Seed,
    },
}

impl Ratios {
    /// The encoder's output at `now` as a share of the requested amount, 0.01 to 1.
    pub fn at(&self, now: Time) -> f64 {
        match &self.0 {
            Kind::Steps(steps) => {
                let begun = steps.partition_point(|(from, _)| *from <= now);
                begun.checked_sub(1).map_or(1.0, |last| steps[last].1)
            }
            Kind::Drawn { drawn, seed } => drawn.at(now, *seed),
        }
    }

    /// Turns the sender's plan into the encoder's actual target: each amount, a rate or a size, times the ratio at
    /// `now`.
    pub fn lower(&self, now: Time, plan: &mut EncodePlan) {
        let ratio = self.at(now);
        if ratio == 1.0 {
            return;
        }
        for target in &mut plan.targets {
            *target = match *target {
                Target::Rate(rate) => Target::Rate(rate.scale(ratio)),
                Target::Size(size) => Target::Size(size.scale(ratio)),
                Target::Guess(size) => Target::Guess(size.scale(ratio)),
                Target::Quantizer(quantizer) => Target::Quantizer(quantizer),
            };
        }
    }
}

/// Above 1 an encoder would overshoot.
fn check_ratio(of: &str, ratio: f64) -> Result<f64, ConfigError> {
    check(of, ratio).within(0.01..=1.0, "0.6").map(|()| ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Rate, Size, Span};

    fn ratios(text: &str) -> Ratios {
        text.parse::<Undershoot>().unwrap().build(Seed::new(1)).unwrap()
    }

    #[test]
    fn a_window_begins_with_its_first_nanosecond_and_ends_before_its_last() {
        let ratios = ratios("0.6@30s-60s,0.8@60s-70s,0.5@80s-");
        let at = |nanos: u64| ratios.at(Time::from_nanos(nanos));
        for (seconds, before, from) in [(30, 1.0, 0.6), (60, 0.6, 0.8), (70, 0.8, 1.0), (80, 1.0, 0.5)] {
            assert_eq!((at(seconds * 1_000_000_000 - 1), at(seconds * 1_000_000_000)), (before, from), "{seconds} s");
        }
        assert_eq!((at(0), ratios.at(Time::NEVER)), (1.0, 0.5));
    }

    #[test]
    fn amounts_are_lowered_and_a_quantizer_is_not() {
        let targets = |ratio: f64| {
            let (rate, size) = (Rate::from_kbps(1000).scale(ratio), Bytes::new(5000).scale(ratio));
            vec![Target::Rate(rate), Target::Size(size), Target::Guess(size), Target::Quantizer(40)]
        };
        let plan = EncodePlan::new(targets(1.0), Size::HD, Span::from_millis(33));
        let lowered = |undershoot: &str| {
            let mut lowered = plan.clone();
            ratios(undershoot).lower(Time::ZERO, &mut lowered);
            lowered
        };
        assert_eq!(lowered("0.6"), plan.clone().with(|plan| plan.targets = targets(0.6)));
        assert_eq!(lowered("none"), plan);
    }

    #[test]
    fn what_cannot_be_is_refused_with_value_and_range() {
        for ratio in [0.0, -0.5, 1.2, f64::NAN] {
            let message = Undershoot::always(ratio).build(Seed::new(1)).unwrap_err().to_string();
            assert!(message.contains(&ratio.to_string()) && message.contains("0.01 to 1"), "{message}");
        }
        assert!(Undershoot::Windows(Vec::new()).build(Seed::new(1)).is_err());
    }
}
