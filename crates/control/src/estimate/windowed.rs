//! The least value of the last while.

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

/// The least of the samples in (now - window, now], by a monotone queue: amortised constant time. The newest sample always
/// counts, so after a silence the last one survives (copa.md section 4).
#[derive(Debug, Clone, Default)]
pub struct WindowedMin {
    samples: VecDeque<(Time, Span)>,
}

impl WindowedMin {
    /// Adds a sample, forgetting what it makes useless and what is older than `window`.
    pub fn add(&mut self, now: Time, value: Span, window: Span) {
        while self.samples.back().is_some_and(|(_, other)| *other >= value) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        self.expire(now, window);
    }

    /// Forgets what is older than `window`, but not the last sample.
    pub fn expire(&mut self, now: Time, window: Span) {
        while self.samples.len() > 1 && self.samples[0].0 + window <= now {
            self.samples.pop_front();
        }
    }

    /// The least sample; `None` before the first.
    pub fn get(&self) -> Option<Span> {
        self.samples.front().map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_sample_survives_a_silence() {
        let mut min = WindowedMin::default();
        min.add(Time::ZERO, Span::from_millis(40), Span::from_secs(1));
        min.add(Time::from_millis(10), Span::from_millis(60), Span::from_secs(1));
        min.expire(Time::from_millis(20_000), Span::from_secs(1));
        assert_eq!(min.get(), Some(Span::from_millis(60)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_looking_at_every_sample(samples in proptest::collection::vec((0u64..50, 1i64..100), 1..80)) {
            let window = Span::from_millis(100);
            let mut min = WindowedMin::default();
            let mut all: alloc::vec::Vec<(Time, Span)> = alloc::vec::Vec::new();
            let mut now = Time::ZERO;
            for (gap, value) in samples {
                now += Span::from_millis(gap as i64);
                all.push((now, Span::from_millis(value)));
                min.add(now, Span::from_millis(value), window);
                let expected = all.iter().filter(|(at, _)| *at + window > now).map(|(_, value)| *value).min();
                prop_assert_eq!(min.get(), expected);
            }
        }
    }
}
