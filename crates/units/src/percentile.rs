//! Percentiles (specs/metrics.md 10).

/// The `share`-quantile (0..=1) by linear interpolation between ranks (type 7), in linear time; `None` for an empty
/// slice.
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let at = share * values.len().checked_sub(1)? as f64;
    let rank = at as usize;
    if rank >= values.len() {
        return None;
    }
    let mut values = values.to_vec();
    let (_, low, above) = values.select_nth_unstable_by(rank, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    let high = if at > rank as f64 { next } else { low };
    Some(low + (high - low) * (at - rank as f64))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    proptest::proptest! {
        #[test]
        fn a_percentile_is_what_sorting_gives(
            values in proptest::collection::vec(-1e3..1e3f64, 1..60),
            share in 0.0..=1.0f64,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let at: f64 = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
            proptest::prop_assert_eq!(percentile(&values, share), Some(low + (high - low) * at.fract()));
        }
    }

    #[test]
    fn the_worked_numbers_come_out() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!((percentile(&values, 0.95).unwrap() - 19.05).abs() < 1e-9);
        assert_eq!(percentile(&values, 1.0), Some(20.0));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
