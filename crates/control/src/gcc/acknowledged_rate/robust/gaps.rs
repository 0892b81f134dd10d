//! The two largest gaps between arrivals in a sliding window.

use alloc::collections::VecDeque;

use thalweg_units::Span;

/// A gap and its number in the order of arrival.
type Gap = (u64, Span);

/// The two largest gaps of a sliding window, in amortised constant time per gap.
///
/// A gap is irrelevant once two later gaps are at least as large. The others are kept in two monotone queues: gaps
/// without a later gap at least as large, headed by the largest, and gaps with exactly one. The second largest is next
/// in the first queue or heads the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    next: u64,
    unreached: VecDeque<Gap>,
    reached_once: VecDeque<Gap>,
}

impl Gaps {
    /// Adds the next gap.
    pub(super) fn push(&mut self, gap: Span) {
        while self.reached_once.back().is_some_and(|(_, other)| *other <= gap) {
            self.reached_once.pop_back();
        }
        // The gaps moved to `reached_once` are later and smaller than all gaps left in it.
        let kept = self.unreached.iter().rposition(|(_, other)| *other > gap).map_or(0, |index| index + 1);
        self.reached_once.extend(self.unreached.drain(kept..));
        self.unreached.push_back((self.next, gap));
        self.next += 1;
    }

    /// Keeps the newest `count` gaps.
    pub(super) fn keep(&mut self, count: usize) {
        let first = self.next.saturating_sub(count as u64);
        for queue in [&mut self.unreached, &mut self.reached_once] {
            while queue.front().is_some_and(|(number, _)| *number < first) {
                queue.pop_front();
            }
        }
    }

    /// The largest and the second largest gap; zero if there is none.
    pub(super) fn two_largest(&self) -> (Span, Span) {
        let gap = |queue: &VecDeque<Gap>, index: usize| queue.get(index).map_or(Span::ZERO, |(_, gap)| *gap);
        (gap(&self.unreached, 0), gap(&self.unreached, 1).max(gap(&self.reached_once, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn two_equal_gaps_are_the_largest_and_the_second() {
        let mut gaps = Gaps::default();
        [7, 3, 7, 1].into_iter().for_each(|ms| gaps.push(Span::from_millis(ms)));
        assert_eq!(gaps.two_largest(), (Span::from_millis(7), Span::from_millis(7)));
        gaps.keep(3);
        assert_eq!(gaps.two_largest(), (Span::from_millis(7), Span::from_millis(3)));
        gaps.keep(1);
        assert_eq!(gaps.two_largest(), (Span::from_millis(1), Span::ZERO));
    }

    proptest! {
        #[test]
        fn it_agrees_with_sorting_the_window(steps in proptest::collection::vec((0i64..9, 1usize..12), 1..200)) {
            let mut gaps = Gaps::default();
            let mut window: Vec<Span> = Vec::new();
            for (gap, count) in steps {
                gaps.push(Span::from_nanos(gap));
                gaps.keep(count);
                window.push(Span::from_nanos(gap));
                window.drain(..window.len().saturating_sub(count));
                let mut sorted = window.clone();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                sorted.push(Span::ZERO);
                prop_assert_eq!(gaps.two_largest(), (sorted[0], sorted[1]));
            }
        }
    }
}
