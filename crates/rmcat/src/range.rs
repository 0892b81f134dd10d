//! Ranges of values, with or without ends.

use std::fmt;

/// A closed range; an infinite end is no bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value inside.
    pub low: f64,
    /// The greatest value inside.
    pub high: f64,
}

/// The range from `low` to `high`.
pub const fn range(low: f64, high: f64) -> Range {
    Range { low, high }
}

/// How the interval of a mean lies to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    Inside,
    Outside,
    Across,
}

impl Range {
    /// How the interval from `low` to `high` lies to it.
    pub(crate) fn lies(self, low: f64, high: f64) -> Lies {
        // Figures are sums of thousands of terms: what is meant to be equal to a bound may miss it by rounding.
        let slack = |end: f64| if end.is_finite() { 1e-9 * end.abs() } else { 0.0 };
        match () {
            () if low >= self.low - slack(self.low) && high <= self.high + slack(self.high) => Lies::Inside,
            () if high < self.low - slack(self.low) || low > self.high + slack(self.high) => Lies::Outside,
            () => Lies::Across,
        }
    }

    /// Its ends as `--json` has them: null where it is infinite.
    pub fn ends(self) -> [Option<f64>; 2] {
        [self.low, self.high].map(|end| Some(end).filter(|end| end.is_finite()))
    }

    /// How far `value` is outside, relative to the end that it is beyond; 0 or less inside.
    pub fn excess(self, value: f64) -> f64 {
        let scale = |end: f64| end.abs().max(1e-3);
        ((self.low - value) / scale(self.low)).max((value - self.high) / scale(self.high))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ends() {
            [Some(low), Some(high)] => write!(f, "{low}..{high}"),
            [Some(low), None] => write!(f, "at least {low}"),
            [None, Some(high)] => write!(f, "at most {high}"),
            [None, None] => f.write_str("anything"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_none_does_not_widen_the_other() {
        let least = range(0.5, f64::INFINITY);
        assert_eq!(
            [0.0, 0.4, 0.5, 9e9].map(|value| least.lies(value, value) == Lies::Inside),
            [false, false, true, true]
        );
        assert_eq!(least.lies(0.4, 0.6), Lies::Across);
    }
}
