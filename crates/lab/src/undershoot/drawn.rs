//! Randomly drawn ratios.

use thalweg_units::{ConfigError, Seed, Span, Time, above, check};

use super::{Undershoot, check_ratio};

/// An independent random ratio for each block of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Duration of a block; longer than 0.
    pub block: Span,
    /// The ratios, each 0.01 to 1, with their relative weights; not all 0.
    pub ratios: Vec<(f64, u32)>,
}

/// Camel section 2.1: ratios "every 12 s".
const BLOCK: Span = Span::from_secs(12);

impl Undershoot {
    /// An iPhone's encoder: our reading of Camel's Fig. 3a, whose data the paper does not give; 0.76 on average.
    pub fn ios() -> Undershoot {
        Undershoot::Drawn(Drawn { block: BLOCK, ratios: vec![(0.4, 10), (0.55, 15), (0.7, 25), (0.85, 25), (1.0, 25)] })
    }

    /// An Android phone's encoder, likewise: a tenth more than [`Undershoot::ios`], and 1 at most; 0.835 on average.
    pub fn android() -> Undershoot {
        Undershoot::Drawn(Drawn { block: BLOCK, ratios: vec![(0.5, 10), (0.65, 15), (0.8, 25), (0.95, 25), (1.0, 25)] })
    }
}

impl Drawn {
    /// The sum of the weights.
    fn total(&self) -> u64 {
        self.ratios.iter().map(|(_, weight)| u64::from(*weight)).sum()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("undershoot: block", self.block).within(above(Span::ZERO), "12s")?;
        check("undershoot: the sum of weights", 0).is(self.total() != 0, "above 0, as in 0.6:1,1:3@12s")?;
        self.ratios.iter().try_for_each(|(ratio, _)| check_ratio("undershoot", *ratio).map(|_| ()))
    }

    /// The ratio at `now`; each block has its own random stream, so that the queried times make no difference.
    pub(super) fn at(&self, now: Time, seed: Seed) -> f64 {
        let block = now.as_nanos() / self.block.as_nanos().max(1).unsigned_abs();
        let mut left = seed.child(&format!("block {block}")).random().below(self.total());
        for (ratio, weight) in &self.ratios {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return *ratio,
            }
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(undershoot: &Undershoot, seed: u64, count: u64) -> Vec<f64> {
        let ratios = undershoot.build(Seed::new(seed)).unwrap();
        (0..count).map(|block| ratios.at(Time::from_millis(12_000 * block + 5999))).collect()
    }

    #[test]
    fn ratios_come_as_often_as_the_preset_says() {
        // The means; over 20,000 draws the mean has a standard deviation of 0.0013.
        for (undershoot, mean, min) in [(Undershoot::ios(), 0.76, 0.4), (Undershoot::android(), 0.835, 0.5)] {
            let drawn = blocks(&undershoot, 7, 20_000);
            let made = drawn.iter().sum::<f64>() / 20_000.0;
            let lowest = drawn.iter().filter(|ratio| **ratio == min).count();
            let full = drawn.iter().filter(|ratio| **ratio == 1.0).count();
            assert!((made - mean).abs() < 0.005, "{made}, not {mean}");
            assert!((1850..2150).contains(&lowest) && (4800..5200).contains(&full), "{lowest} {full}");
        }
    }

    #[test]
    fn a_ratio_holds_for_a_block_and_blocks_do_not_depend_on_what_was_asked_before() {
        let ratios = Undershoot::ios().build(Seed::new(3)).unwrap();
        for block in [40, 3, 17u64] {
            let begin = Time::from_millis(12_000 * block);
            let within = [0, 1, 6000, 11_999].map(|millis| ratios.at(begin + Span::from_millis(millis)));
            assert!(within.iter().all(|ratio| *ratio == within[0]), "{within:?}");
        }
        assert!(blocks(&Undershoot::ios(), 3, 20).windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_does_not() {
        let ios = Undershoot::ios();
        assert_eq!(blocks(&ios, 5, 100), blocks(&ios, 5, 100));
        assert_ne!(blocks(&ios, 5, 100), blocks(&ios, 6, 100));
    }
}
