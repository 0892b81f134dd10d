//! The min and max rate of a controller.

use thalweg_units::Rate;

use crate::controller::Demand;

/// Faster than every encoder: the max before the application states its demand.
const UNLIMITED: Rate = Rate::from_kbps(10_000_000);

/// The scheme's min rate, combined with the application's demand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    minimum: Rate,
    min: Rate,
    max: Rate,
}

impl Limits {
    /// The scheme's min rate, above zero, and no max.
    pub(crate) fn new(minimum: Rate) -> Limits {
        Limits { minimum, min: minimum, max: UNLIMITED }
    }

    /// Applies the application's demand, which takes precedence: its min may be above the scheme's min, and the
    /// scheme's min never exceeds the demand's max.
    pub(crate) fn follow(&mut self, demand: Demand) {
        self.max = demand.max.max(Rate::from_bps(1));
        self.min = self.minimum.max(demand.min).min(self.max);
    }

    /// The min rate.
    pub(crate) fn min(&self) -> Rate {
        self.min
    }

    /// The nearest rate within the limits.
    pub(crate) fn clamp(&self, rate: Rate) -> Rate {
        rate.clamp(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_applications_word_is_the_last() {
        let kbps = Rate::from_kbps;
        let mut limits = Limits::new(kbps(32));
        assert_eq!((limits.clamp(kbps(1)), limits.clamp(Rate::MAX)), (kbps(32), UNLIMITED));
        for (min, max, minimum, maximum) in [(10, 500, 32, 500), (50, 500, 50, 500), (10, 20, 20, 20), (60, 40, 40, 40)]
        {
            limits.follow(Demand { min: kbps(min), max: kbps(max) });
            assert_eq!((limits.clamp(Rate::ZERO), limits.clamp(Rate::MAX)), (kbps(minimum), kbps(maximum)));
        }
        limits.follow(Demand { min: Rate::ZERO, max: Rate::ZERO });
        assert_eq!(limits.clamp(kbps(5)), Rate::from_bps(1));
    }
}
