//! The figures of RFC 8868, made exact (specs/rmcat.md 2).

/// A time after an event, in seconds, or the length of the phase if what is looked for did not come within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct After {
    /// The time.
    pub seconds: f64,
    /// True if the phase ended first.
    pub censored: bool,
}

/// The first place of `means`, which are `step_s` apart, from which on all of `hold_s` satisfy `holds`. The first mean
/// ends `first_s` after the event.
fn first_that_stays(means: &[f64], (first_s, step_s): (f64, f64), hold_s: f64, holds: impl Fn(f64) -> bool) -> After {
    let span = (hold_s / step_s).round() as usize;
    let found = (0..means.len())
        .find(|place| means.get(*place..=place + span).is_some_and(|window| window.iter().all(|mean| holds(*mean))));
    match found {
        Some(place) => After { seconds: first_s + place as f64 * step_s, censored: false },
        None => After { seconds: first_s + means.len().saturating_sub(1) as f64 * step_s, censored: true },
    }
}

/// The range of an attainable rate within which a sender has converged.
const CONVERGED: (f64, f64) = (0.8, 1.05);
/// How long it must stay there, in seconds.
const STAYS_S: f64 = 5.0;

/// T_c: the least time after an event such that every mean over a second of the sending rate, relative to what is
/// attainable, that ends within the next 5 s is within 0.8..1.05. The first of `means` ends `first_s` after the event,
/// the others each `step_s` later.
pub fn convergence(means: &[f64], first_s: f64, step_s: f64) -> After {
    first_that_stays(means, (first_s, step_s), STAYS_S, |mean| (CONVERGED.0..=CONVERGED.1).contains(&mean))
}

/// T_f: the least time after a fall such that for 2 s every mean over a second is at most 1.05 of what is attainable,
/// and the 95th percentile of waiting, `waits_ms` over the same second, at most 100 ms.
pub fn settling(means: &[f64], waits_ms: &[f64], first_s: f64, step_s: f64) -> After {
    let good: Vec<f64> = means
        .iter()
        .zip(waits_ms)
        .map(|(mean, wait)| f64::from(u8::from(*mean <= CONVERGED.1 && *wait <= 100.0)))
        .collect();
    // The first window that counts begins with the event: its time is that of the begin of its first second.
    let after = first_that_stays(&good, (first_s, step_s), 1.0, |good| good > 0.5);
    After { seconds: (after.seconds - 1.0).max(step_s), ..after }
}

/// How often the sending rate, relative to what is attainable, went from at least 0.95 to at most 0.60 or back.
pub fn alternations(relative: &[f64]) -> usize {
    let (mut high, mut count) = (None, 0);
    for rate in relative {
        let now = match rate {
            rate if *rate >= 0.95 => true,
            rate if *rate <= 0.60 => false,
            _ => continue,
        };
        count += usize::from(high.is_some_and(|before| before != now));
        high = Some(now);
    }
    count
}

/// Deviation over mean; `None` of no values, or of a mean of 0.
pub fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean > 0.0).then(|| (squares / count).sqrt() / mean)
}

/// The slope of the least-squares line through the logarithms of `pairs`; `None` if one is not above 0.
pub fn log_slope(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 2 || pairs.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let [x, y] = [logs.iter().map(|of| of.0).sum::<f64>() / count, logs.iter().map(|of| of.1).sum::<f64>() / count];
    let spread: f64 = logs.iter().map(|of| (of.0 - x).powi(2)).sum();
    (spread > 0.0).then(|| logs.iter().map(|of| (of.0 - x) * (of.1 - y)).sum::<f64>() / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// specs/rmcat.md 13, example 2.
    #[test]
    fn convergence_is_the_worked_example() {
        let means = [0.2, 0.4, 0.7, 0.82, 0.9, 1.02, 1.0, 0.98, 0.97];
        assert_eq!(convergence(&means, 1.0, 1.0), After { seconds: 4.0, censored: false });
        let over = [0.2, 0.4, 0.7, 0.82, 0.9, 1.08, 1.0, 0.98, 0.97, 1.0, 1.0, 1.0];
        assert_eq!(convergence(&over, 1.0, 1.0), After { seconds: 7.0, censored: false });
        assert_eq!(convergence(&over[..9], 1.0, 1.0), After { seconds: 9.0, censored: true });
    }

    #[test]
    fn a_flow_has_settled_when_neither_its_rate_nor_its_queue_is_too_much_for_two_seconds() {
        let means = [2.0, 1.5, 1.2, 1.0, 1.0, 1.0];
        let waits = [300.0, 300.0, 300.0, 150.0, 60.0, 20.0];
        // The window of 2 s whose seconds end 5 and 6 s after the fall begins 4 s after it.
        assert_eq!(settling(&means, &waits, 1.0, 1.0), After { seconds: 4.0, censored: false });
        assert!(settling(&means, &[300.0; 6], 1.0, 1.0).censored);
    }

    /// specs/rmcat.md 13, example 4.
    #[test]
    fn alternations_are_counted_between_the_two_marks_only() {
        assert_eq!(alternations(&[1.0, 0.97, 0.7, 0.55, 0.8, 0.96, 1.0, 0.5, 0.98]), 4);
        assert_eq!(alternations(&[0.7, 0.8, 0.9]), 0);
    }

    #[test]
    fn the_slope_of_shares_that_fall_with_the_round_trip_is_that_of_reno() {
        let pairs = [20.0, 50.0, 100.0, 200.0, 300.0].map(|rtt| (rtt, 1e5 / rtt));
        assert!((log_slope(&pairs).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(log_slope(&[(1.0, 1.0), (2.0, 0.0)]), None);
        assert_eq!(variation(&[1.0, 3.0]), Some(0.5));
        assert_eq!(variation(&[0.0]), None);
    }
}
