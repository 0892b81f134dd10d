//! The delay of an empty path (RFC 6817 section 3.4.2).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

/// The least delay of the last while, kept as the least of each of a number of bins: what it costs does not depend on
/// how many samples come, and of a clock that drifts only the last bins' worth is taken for a queue.
#[derive(Debug, Clone)]
pub struct BaseDelay {
    bin: Span,
    max: usize,
    /// The least of each bin, the newest last.
    bins: VecDeque<Span>,
    began: Time,
}

impl BaseDelay {
    /// The least over the last `bins` bins of this length each; at least one, of more than no length.
    pub fn new(bins: usize, bin: Span) -> BaseDelay {
        let bin = bin.max(Span::from_nanos(1));
        BaseDelay { bin, max: bins.max(1), bins: VecDeque::new(), began: Time::ZERO }
    }

    /// Takes in the delay of a packet reported now, by whatever two clocks.
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

    /// The least; `None` before the first sample.
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
