//! Measuring on a machine with other load.

use serde_json::{Value, json};

/// Statistics of several measurements of the same thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Statistics of at least one sample; for an even number the median is the mean of the middle two.
    fn of(mut samples: Vec<f64>) -> Spread {
        samples.sort_by(f64::total_cmp);
        let last = samples.len() - 1;
        let median = (samples[last / 2] + samples[last.div_ceil(2)]) / 2.0;
        Spread { median, min: samples[0], max: samples[last] }
    }

    /// Each value mapped by a monotonic function.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Spread {
        Spread::of([self.min, self.median, self.max].map(f).to_vec())
    }

    /// Half of the range over the median.
    pub(crate) fn relative(self) -> f64 {
        (self.max - self.min) / 2.0 / self.median
    }

    pub(crate) fn json(self) -> Value {
        json!({ "median": self.median, "least": self.min, "most": self.max })
    }
}

/// Measures every subject `times` times in turn, after one warm-up round that does not count, so that a slow phase of
/// the machine affects all of them. `measure` returns the cost of one; `reported` is called before each round with its
/// number, 0 for the warm-up.
pub(crate) fn interleaved<S>(
    subjects: &[S],
    times: usize,
    mut reported: impl FnMut(usize),
    mut measure: impl FnMut(&S) -> anyhow::Result<f64>,
) -> anyhow::Result<Vec<Spread>> {
    let mut samples = vec![Vec::new(); subjects.len()];
    for round in 0..=times {
        reported(round);
        for (subject, samples) in subjects.iter().zip(&mut samples) {
            let cost = measure(subject)?;
            if round > 0 {
                samples.push(cost);
            }
        }
    }
    Ok(samples.into_iter().map(Spread::of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_does_not_count_and_subjects_take_turns() {
        let mut order = Vec::new();
        let measured = interleaved(
            &['a', 'b'],
            2,
            |_| {},
            |subject| {
                order.push(*subject);
                Ok(order.len() as f64)
            },
        );
        assert_eq!(order, ['a', 'b', 'a', 'b', 'a', 'b']);
        let spread = |median, min, max| Spread { median, min, max };
        assert_eq!(measured.unwrap(), [spread(4.0, 3.0, 5.0), spread(5.0, 4.0, 6.0)]);
    }

    #[test]
    fn a_reciprocal_swaps_the_extremes() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0]).map(f64::recip);
        assert_eq!(spread, Spread { median: 0.5, min: 0.25, max: 1.0 });
        assert_eq!(spread.relative(), 0.75);
    }
}
