//! How evenly a link is shared.

/// Jain's index of the rates of flows: 1 when all are equal, 1 / n when one of n has everything; `None` when nobody has
/// anything (metrics.md section 7).
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_give_one_and_a_single_owner_one_nth() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[0.0, 3.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2)^2 / (2 * 5).
        assert_eq!(jain(&[1.0, 2.0]), Some(0.9));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
