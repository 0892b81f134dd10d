//! History of a value at the last reports: a departure that becomes known late was made with the value of its time.

use alloc::collections::VecDeque;

use thalweg_units::Time;

/// Max reports remembered: those of a second and more, at the intervals of today's reports.
const REMEMBERED: usize = 64;

/// A value that changes with reports, as it was before each of the last ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Earlier<T> {
    /// When a report came, and the value before it.
    before: VecDeque<(Time, T)>,
}

impl<T: Copy> Earlier<T> {
    /// A report comes; so far the value was `before`.
    #[inline]
    pub(crate) fn on_report(&mut self, now: Time, before: T) {
        if self.before.len() == REMEMBERED {
            self.before.pop_front();
        }
        self.before.push_back((now, before));
    }

    /// The value at an instant before the last report; `None` if it is not before that, and the value is what it is now.
    /// The value at an instant; for one too long ago to be remembered, the oldest.
    #[inline]
    pub(crate) fn at(&self, at: Time) -> Option<T> {
        let _ = self.before.back().filter(|(now, _)| at < *now)?;
        let after = self.before.partition_point(|(now, _)| *now <= at);
        self.before.get(after).map(|(_, value)| *value)
    }

    /// The value changed without a report.
    pub(crate) fn clear(&mut self) {
        self.before.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_as_it_was_before_the_next_report() {
        let (mut earlier, ms) = (Earlier::default(), Time::from_millis);
        assert_eq!(earlier.at(ms(0)), None);
        for (now, before) in [(50, 'a'), (60, 'b')] {
            earlier.on_report(ms(now), before);
        }
        assert_eq!(
            [0, 49, 50, 59, 60].map(|at| earlier.at(ms(at))),
            [Some('a'), Some('a'), Some('b'), Some('b'), None]
        );
        (61..200).for_each(|now| earlier.on_report(ms(now), 'c'));
        assert_eq!(earlier.at(ms(0)), Some('c'), "too long ago");
    }
}
