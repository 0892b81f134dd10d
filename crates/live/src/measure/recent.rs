//! Amounts over the last second.

use thalweg_units::{Bytes, Rate, Span, Time};

/// Amounts are kept in tenths of a second.
const TENTHS: u64 = 10;
const TENTH: Span = Span::from_millis(100);

/// Amount received, or sent, in the last second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LastSecond([Tenth; TENTHS as usize]);

#[derive(Debug, Clone, Copy, Default)]
struct Tenth {
    number: u64,
    amount: u64,
}

impl LastSecond {
    /// Adds an amount, of bytes or of anything else.
    pub(crate) fn add(&mut self, at: Time, amount: u64) {
        let number = tenth(at);
        let tenth = &mut self.0[(number % TENTHS) as usize];
        if tenth.number != number {
            *tenth = Tenth { number, amount: 0 };
        }
        tenth.amount += amount;
    }

    /// The rate of bytes. The current tenth is not complete yet: only the nine before it count.
    pub(crate) fn rate(&self, now: Time) -> Rate {
        Bytes::new(self.whole(now)).per(TENTH * (TENTHS as i64 - 1))
    }

    /// The amount per second.
    pub(crate) fn per_second(&self, now: Time) -> f64 {
        self.whole(now) as f64 / (TENTH * (TENTHS as i64 - 1)).as_secs_f64()
    }

    fn whole(&self, now: Time) -> u64 {
        let number = tenth(now);
        let whole = (number + 1).saturating_sub(TENTHS)..number;
        self.0.iter().filter(|tenth| whole.contains(&tenth.number)).map(|tenth| tenth.amount).sum()
    }
}

fn tenth(at: Time) -> u64 {
    at.as_nanos() / TENTH.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_nine_whole_tenths_before_now() {
        let mut recent = LastSecond::default();
        (0..2_000).for_each(|millis| recent.add(Time::from_millis(millis), 125));
        assert_eq!(recent.rate(Time::from_millis(2_000)), Rate::from_kbps(1_000));
        assert_eq!(recent.per_second(Time::from_millis(2_000)), 125_000.0);
        assert_eq!(recent.rate(Time::from_millis(4_000)), Rate::ZERO);
    }
}
