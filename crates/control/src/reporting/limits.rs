//! Between which rates a controller moves.

use thalweg_units::Rate;

use crate::controller::Demand;

/// Faster than every encoder: before the application says what it could use.
const UNLIMITED: Rate = Rate::from_kbps(10_000_000);

/// The scheme's least rate within what the application could use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    minimum: Rate,
    min: Rate,
    max: Rate,
}

impl Limits {
    /// The scheme's least rate, above zero, and no greatest.
    pub(crate) fn new(minimum: Rate) -> Limits {
        Limits { minimum, min: minimum, max: UNLIMITED }
    }

    /// The application's word is the last: it may want more than the scheme's least, and cannot use more than its most.
    pub(crate) fn follow(&mut self, demand: Demand) {
        self.max = demand.max.max(Rate::from_bps(1));
        self.min = self.minimum.max(demand.min).min(self.max);
    }

    /// The least.
    pub(crate) fn min(&self) -> Rate {
        self.min
    }

    /// The nearest rate within.
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
