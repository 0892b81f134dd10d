//! The delay of an empty path (RFC 6817 section 3.4.2).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

/// The min delay over a sliding window, kept as the minimum of each of several bins. The cost does not depend on the
/// number of samples, and clock drift is mistaken for a queue only for as long as the bins last.
#[derive(Debug, Clone)]
pub struct BaseDelay {
    bin: Span,
    max: usize,
    /// The minimum of each bin, the newest last.
    bins: VecDeque<Span>,
    began: Time,
}

impl BaseDelay {
    /// The minimum over the last `bins` bins of length `bin`; at least one bin, and a length above zero.
    pub fn new(bins: usize, bin: Span) -> BaseDelay {
        let bin = bin.max(Span::from_nanos(1));
        BaseDelay { bin, max: bins.max(1), bins: VecDeque::new(), began: Time::ZERO }
    }

    /// Takes the delay of a packet reported now; the delay may be the difference of two clocks.
    pub fn add(&mut self, now: Time, delay: Span) {
        match self.bins.back_mut() {
            Some(min) if now - self.began < self.bin => *min = delay.min(*min),
            _ => {
                self.began = now;
                self.bins.push_back(delay);
                if self.bins.len() > self.max {
                    self.bins.pop_front();
                }
            }
        }
    }

    /// The min delay; `None` before the first sample.
    pub fn get(&self) -> Option<Span> {
        self.bins.iter().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_three_minutes_is_forgotten_in_the_fourth() {
        let mut base = BaseDelay::new(3, Span::from_secs(60));
        assert_eq!(base.get(), None);
        for (second, delay, min) in [(0, -5, -5), (59, 9, -5), (60, 3, -5), (119, 2, -5), (120, 7, -5), (180, 8, 2)] {
            base.add(Time::from_millis(second * 1000), Span::from_millis(delay));
            assert_eq!(base.get(), Some(Span::from_millis(min)), "second {second}");
        }
    }
}
