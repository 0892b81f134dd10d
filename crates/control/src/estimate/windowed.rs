//! The minimum or maximum of a sliding window.

use alloc::collections::VecDeque;
use core::marker::PhantomData;
use core::ops::Add;

use thalweg_units::Time;

/// Which extreme a [`Windowed`] keeps.
pub trait Extreme {
    /// Returns true if `later` makes `earlier` irrelevant: it is at least as extreme and expires later.
    fn replaces<V: Ord>(later: &V, earlier: &V) -> bool;
}

/// Keeps the minimum.
#[derive(Debug, Clone, Copy)]
pub struct Min;

/// Keeps the maximum.
#[derive(Debug, Clone, Copy)]
pub struct Max;

impl Extreme for Min {
    fn replaces<V: Ord>(later: &V, earlier: &V) -> bool {
        later <= earlier
    }
}

impl Extreme for Max {
    fn replaces<V: Ord>(later: &V, earlier: &V) -> bool {
        later >= earlier
    }
}

/// The min sample of a window.
pub type WindowedMin<V, P = Time> = Windowed<Min, V, P>;

/// The max sample of a window.
pub type WindowedMax<V, P = Time> = Windowed<Max, V, P>;

/// The extreme of the samples in (now - window, now], by a monotone queue: amortised constant time. The newest sample
/// always counts, so the last one survives a feedback timeout (specs/copa.md 4).
///
/// A position `P` is an instant or, where windows are counted in rounds (specs/bbr.md 3: ten of them), the number of
/// the round.
#[derive(Debug, Clone)]
pub struct Windowed<E, V, P = Time> {
    samples: VecDeque<(P, V)>,
    extreme: PhantomData<E>,
}

impl<E, V, P> Default for Windowed<E, V, P> {
    fn default() -> Windowed<E, V, P> {
        Windowed { samples: VecDeque::new(), extreme: PhantomData }
    }
}

impl<E: Extreme, V: Ord + Copy, P: Ord + Copy> Windowed<E, V, P> {
    /// Adds a sample; drops samples that it makes irrelevant and those older than `window`.
    pub fn add<W: Copy>(&mut self, now: P, value: V, window: W)
    where
        P: Add<W, Output = P>,
    {
        while self.samples.back().is_some_and(|(_, other)| E::replaces(&value, other)) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        self.expire(now, window);
    }

    /// Drops samples older than `window`, but not the last one.
    pub fn expire<W: Copy>(&mut self, now: P, window: W)
    where
        P: Add<W, Output = P>,
    {
        while self.samples.len() > 1 && self.samples[0].0 + window <= now {
            self.samples.pop_front();
        }
    }

    /// The extreme; `None` before the first sample.
    pub fn get(&self) -> Option<V> {
        self.samples.front().map(|(_, value)| *value)
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.samples.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use thalweg_units::{Rate, Span};

    #[test]
    fn the_last_sample_survives_a_silence() {
        let mut min = WindowedMin::<Span>::default();
        min.add(Time::ZERO, Span::from_millis(40), Span::from_secs(1));
        min.add(Time::from_millis(10), Span::from_millis(60), Span::from_secs(1));
        min.expire(Time::from_millis(20_000), Span::from_secs(1));
        assert_eq!(min.get(), Some(Span::from_millis(60)));
    }

    #[test]
    fn a_maximum_over_ten_rounds_forgets_at_the_eleventh() {
        let mut max = WindowedMax::<Rate, u64>::default();
        let rates = [10, 21, 39, 56, 59, 60, 60].map(|tenths| Rate::from_kbps(tenths * 100));
        for (round, rate) in (0..).zip(rates) {
            max.add(round, rate, 10);
            assert_eq!(max.get(), Some(rate), "specs/bbr.md 9, example 3, never falls");
        }
        for round in 7..16 {
            max.add(round, Rate::from_kbps(2000), 10);
            assert_eq!(max.get(), Some(Rate::from_kbps(6000)), "round {round}");
        }
        max.add(16, Rate::from_kbps(2000), 10);
        assert_eq!(max.get(), Some(Rate::from_kbps(2000)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_looking_at_every_sample(samples in proptest::collection::vec((0i64..50, 1i64..100), 1..80)) {
            let window = Span::from_millis(100);
            let (mut min, mut max) = (WindowedMin::<Span>::default(), WindowedMax::<Span>::default());
            let mut all: Vec<(Time, Span)> = Vec::new();
            let mut now = Time::ZERO;
            for (gap, value) in samples {
                now += Span::from_millis(gap);
                let value = Span::from_millis(value);
                all.push((now, value));
                min.add(now, value, window);
                max.add(now, value, window);
                let recent = || all.iter().filter(|(at, _)| *at + window > now).map(|(_, value)| *value);
                prop_assert_eq!((min.get(), max.get()), (recent().min(), recent().max()));
            }
        }
    }
}
