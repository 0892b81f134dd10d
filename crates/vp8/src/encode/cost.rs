//! The cost of bools in bits, before they are written.

use crate::bool_coder::Probability;

/// Bits in 256ths, so that sums are integers and the same on every machine.
pub type Cost = u32;

/// One bit.
pub const BIT: Cost = 256;

/// Cost of a false bool by its probability; a true bool costs as much as a false one of the opposite probability.
const COSTS: [u16; 257] = {
    let mut costs = [0; 257];
    let mut probability = 1;
    while probability < 256 {
        costs[probability] = 8 * 256 - binary_logarithm(probability as u64);
        probability += 1;
    }
    // An impossible bool costs as much as the least likely one.
    costs[0] = costs[1];
    costs
};

/// Binary logarithm of a number of 1 to 2^32 - 1 in 256ths, rounded to the nearest: by squaring, since the integer part
/// of each square gives one more bit of it.
pub const fn binary_logarithm(number: u64) -> u16 {
    let whole = number.ilog2();
    let mut mantissa = number << (31 - whole);
    let mut logarithm = whole as u64;
    let mut bit = 0;
    while bit < 9 {
        mantissa = (mantissa * mantissa) >> 31;
        let doubled = mantissa >> 32;
        logarithm = logarithm << 1 | doubled;
        mantissa >>= doubled;
        bit += 1;
    }
    ((logarithm + 1) >> 1) as u16
}

/// Cost of a bool that is false with a probability.
#[inline(always)]
pub const fn of_bool(probability: Probability, bool: bool) -> Cost {
    let index = if bool { 256 - probability as usize } else { probability as usize };
    COSTS[index] as Cost
}

/// Cost of so many false and true bools at a probability.
#[inline]
pub const fn of_bools(probability: Probability, [falses, trues]: [u32; 2]) -> u64 {
    falses as u64 * of_bool(probability, false) as u64 + trues as u64 * of_bool(probability, true) as u64
}

/// The probability that minimises the cost of so many false and true bools; even odds when there are none.
#[must_use]
pub const fn best_probability([falses, trues]: [u32; 2]) -> Probability {
    let all = falses as u64 + trues as u64;
    if all == 0 {
        return 128;
    }
    let probability = (falses as u64 * 256 + all / 2) / all;
    if probability == 0 {
        1
    } else if probability > 255 {
        255
    } else {
        probability as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_logarithms() {
        assert_eq!(of_bool(128, false), BIT);
        assert_eq!(of_bool(128, true), BIT);
        assert_eq!(of_bool(1, false), 8 * BIT);
        for probability in 1..=255_u8 {
            let exact = -(f64::from(probability) / 256.0).log2() * 256.0;
            assert!((f64::from(of_bool(probability, false)) - exact).abs() <= 0.6, "{probability}");
        }
    }

    #[test]
    fn no_other_probability_is_cheaper_than_the_best() {
        for counts in [[0, 0], [1, 0], [0, 1], [3, 5], [1000, 1], [7, 90_000], [128, 128]] {
            let best = of_bools(best_probability(counts), counts);
            let min = (1..=255).map(|probability| of_bools(probability, counts)).min().unwrap();
            // Rounding of the costs may favour a neighbouring value slightly.
            assert!(best <= min + min / 1000 + 2, "{counts:?}");
        }
    }
}
