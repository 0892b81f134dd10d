//! Percentiles (specs/metrics.md 10).

/// The `share`-quantile by linear interpolation between ranks (type 7); `None` of nothing.
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let at = share * values.len().checked_sub(1)? as f64;
    let rank = at.floor() as usize;
    let (low, above) = ranked(values, rank)?;
    let high = if at > rank as f64 { above } else { low };
    Some(low + (high - low) * (at - rank as f64))
}

/// The `share`-quantile as Mahimahi's scripts take it: the sorted value at rank floor(share * n), from 0.
pub fn floor_percentile(values: &[f64], share: f64) -> Option<f64> {
    let rank = (share * values.len() as f64).floor() as usize;
    ranked(values, rank.min(values.len().checked_sub(1)?)).map(|ranked| ranked.0)
}

/// The value at `rank` and the one after it (or the same at the end), as if all were sorted, in linear time.
fn ranked(values: &[f64], rank: usize) -> Option<(f64, f64)> {
    let mut values = values.to_vec();
    if rank >= values.len() {
        return None;
    }
    let (_, value, above) = values.select_nth_unstable_by(rank, f64::total_cmp);
    let value = *value;
    Some((value, above.iter().copied().min_by(f64::total_cmp).unwrap_or(value)))
}

#[cfg(test)]
mod tests {
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
            let rank = ((share * values.len() as f64) as usize).min(values.len() - 1);
            proptest::prop_assert_eq!(floor_percentile(&values, share), Some(sorted[rank]));
        }
    }

    #[test]
    fn both_kinds_give_the_worked_numbers() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!((percentile(&values, 0.95).unwrap() - 19.05).abs() < 1e-9);
        assert_eq!(floor_percentile(&values, 0.95), Some(20.0));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
