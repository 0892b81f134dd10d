//! Percentiles (metrics.md section 10).

/// The `share`-quantile by linear interpolation between ranks (type 7); `None` of nothing.
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values)?;
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

/// The `share`-quantile as Mahimahi's scripts take it: the sorted value at rank floor(share * n), from 0.
pub fn floor_percentile(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values)?;
    let rank = (share * sorted.len() as f64).floor() as usize;
    Some(sorted[rank.min(sorted.len() - 1)])
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_give_the_worked_numbers() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!((percentile(&values, 0.95).unwrap() - 19.05).abs() < 1e-9);
        assert_eq!(floor_percentile(&values, 0.95), Some(20.0));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
