//! Values that change at known times: the rates of a bottleneck, the delays of a hop.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::str::FromStr;

use thalweg_units::{ConfigError, Span, Time, above, check};

/// Values in turn, at least one. Written as `a`, `a/b@30s` (each for 30 s, again from the first), `a@5s/b@25s` (each
/// for its own time), `a@5s/b` (the last stays), and with `+45s` at the end for those whose 45th second is the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps<V> {
    values: Vec<V>,
    durations: Durations,
    /// How much of the sequence has passed at the beginning, less than a whole turn.
    passed: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Durations {
    /// The same for each: a case of its own, because finding the present one is a division.
    Even(Span),
    /// When each ends, since the first began; there is no end for a last one that stays.
    Uneven(Vec<Span>),
}

impl<V: Copy> Steps<V> {
    /// One value for ever.
    pub(crate) fn constant(value: V) -> Steps<V> {
        Steps { values: vec![value], durations: Durations::Even(Span::from_secs(1)), passed: Span::ZERO }
    }

    /// These values in turn, each for `each`. `what` names them in errors.
    ///
    /// # Errors
    /// When `each` is not longer than 0, or the whole is too long.
    pub(crate) fn even(what: &str, values: Vec<V>, each: Span) -> Result<Steps<V>, ConfigError> {
        check_durations(what, core::iter::repeat_n(each, values.len()))?;
        Ok(Steps { values, durations: Durations::Even(each), passed: Span::ZERO })
    }

    /// These values in turn, each for its own time, and then `last` for ever, or again from the first.
    ///
    /// # Errors
    /// As [`Steps::even`].
    pub(crate) fn uneven(what: &str, steps: &[(V, Span)], last: Option<V>) -> Result<Steps<V>, ConfigError> {
        let values: Vec<V> = steps.iter().map(|(value, _)| *value).chain(last).collect();
        let mut durations = steps.iter().map(|(_, duration)| *duration);
        match (durations.next(), last) {
            (None, Some(value)) => return Ok(Steps::constant(value)),
            (Some(first), None) if durations.all(|other| other == first) => return Steps::even(what, values, first),
            _ => {}
        }
        check_durations(what, steps.iter().map(|(_, duration)| *duration))?;
        let mut end = Span::ZERO;
        let mut end_of = |(_, duration): &(V, Span)| {
            end += *duration;
            end
        };
        let ends = steps.iter().map(&mut end_of).collect();
        Ok(Steps { values, durations: Durations::Uneven(ends), passed: Span::ZERO })
    }

    pub(crate) fn begun_after(self, passed: Span) -> Steps<V> {
        let passed = match self.turn() {
            Some(turn) => Span::from_nanos(passed.as_nanos().rem_euclid(turn.as_nanos())),
            None => passed.max(Span::ZERO),
        };
        Steps { passed, ..self }
    }

    pub(crate) fn values(&self) -> &[V] {
        &self.values
    }

    /// The time after which they repeat; `None` if the last stays.
    pub(crate) fn turn(&self) -> Option<Span> {
        match &self.durations {
            Durations::Even(each) => Some(*each * self.values.len() as i64),
            Durations::Uneven(ends) if ends.len() < self.values.len() => None,
            Durations::Uneven(ends) => ends.last().copied(),
        }
    }

    /// The index of the value at `at`, and when the next begins.
    pub(crate) fn at(&self, at: Time) -> (usize, Time) {
        let passed = nanos(self.passed);
        // Nothing changes in the last centuries of what a time can be.
        let Some(since) = at.as_nanos().checked_add(passed) else { return (0, Time::NEVER) };
        let (index, until) = match &self.durations {
            Durations::Even(each) => {
                let place = since / nanos(*each);
                ((place % self.values.len() as u64) as usize, nanos(*each).checked_mul(place.saturating_add(1)))
            }
            Durations::Uneven(ends) => {
                let within = self.turn().map_or(since, |turn| since % nanos(turn));
                let index = ends.partition_point(|end| nanos(*end) <= within);
                (index, ends.get(index).and_then(|end| (since - within).checked_add(nanos(*end))))
            }
        };
        (index, until.map_or(Time::NEVER, |until| Time::from_nanos(until - passed)))
    }
}

fn nanos(span: Span) -> u64 {
    span.as_nanos().unsigned_abs()
}

fn check_durations(what: &str, durations: impl Iterator<Item = Span>) -> Result<(), ConfigError> {
    let name = format!("{what}s' duration");
    let mut sum = 0;
    for duration in durations {
        check(&name, duration).within(above(Span::ZERO), "30s")?;
        sum += i128::from(duration.as_nanos());
        check(&name, duration).is(sum < i128::from(i64::MAX), "shorter")?;
    }
    Ok(())
}

impl<V: Copy + FromStr> Steps<V> {
    /// Reads what [`Display`] writes; `None` for anything else.
    ///
    /// # Errors
    /// When a duration is out of range.
    pub(crate) fn parse(what: &str, text: &str) -> Result<Option<Steps<V>>, ConfigError> {
        let passed = || text.rsplit_once('+').filter(|_| text.contains('@'));
        let read = match (steps(text), passed()) {
            (Some(steps), _) => Some((steps, Span::ZERO)),
            (None, Some((text, passed))) => steps(text).zip(passed.parse().ok()),
            (None, None) => None,
        };
        let Some((steps, passed)) = read else { return Ok(None) };
        let timed: Vec<(V, Span)> = steps.iter().filter_map(|(value, duration)| Some((*value, (*duration)?))).collect();
        let values = || steps.iter().map(|(value, _)| *value).collect::<Vec<V>>();
        let read = match (steps.as_slice(), timed.as_slice()) {
            ([(value, None)], _) => Ok(Steps::constant(*value)),
            ([.., (_, Some(_))], [(_, each)]) => Steps::even(what, values(), *each),
            ([.., (last, None)], [..]) if timed.len() + 1 == steps.len() => Steps::uneven(what, &timed, Some(*last)),
            ([..], [..]) if timed.len() == steps.len() => Steps::uneven(what, &timed, None),
            _ => return Ok(None),
        };
        read.map(|read| Some(read.begun_after(passed)))
    }
}

/// Each value with its duration, where it has one.
fn steps<V: FromStr>(text: &str) -> Option<Vec<(V, Option<Span>)>> {
    let step = |text: &str| match text.split_once('@') {
        Some((value, duration)) => Some((value.parse().ok()?, Some(duration.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    };
    text.split('/').map(step).collect()
}

impl<V: Display> Display for Steps<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut begin = Span::ZERO;
        for (index, value) in self.values.iter().enumerate() {
            write!(f, "{}{value}", if index > 0 { "/" } else { "" })?;
            if let Durations::Uneven(ends) = &self.durations
                && let Some(end) = ends.get(index)
            {
                write!(f, "@{}", *end - begin)?;
                begin = *end;
            }
        }
        match &self.durations {
            _ if self.values.len() == 1 => return Ok(()),
            Durations::Even(each) => write!(f, "@{each}")?,
            Durations::Uneven(_) => {}
        }
        if self.passed > Span::ZERO { write!(f, "+{}", self.passed) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<Steps<Span>> {
        Steps::parse("delay", text).unwrap()
    }

    #[test]
    fn durations_are_common_or_each_their_own_and_the_last_may_stay() {
        let seconds = Time::from_secs_f64;
        let cyclic = read("1ms@5s/2ms@25s").unwrap();
        assert_eq!(cyclic.turn(), Some(Span::from_secs(30)));
        assert_eq!([0.0, 4.9, 5.0, 29.9].map(|at| cyclic.at(seconds(at)).0), [0, 0, 1, 1]);
        assert_eq!([0.0, 5.0, 30.0, 64.0].map(|at| cyclic.at(seconds(at)).1), [5.0, 30.0, 35.0, 65.0].map(seconds));
        let stays = read("1ms@3s/2ms@1s/3ms").unwrap();
        assert_eq!(stays.turn(), None);
        assert_eq!([2.0, 3.0, 4.0, 1e9].map(|at| stays.at(seconds(at)).0), [0, 1, 2, 2]);
        assert_eq!([3.0, 4.0].map(|at| stays.at(seconds(at)).1), [seconds(4.0), Time::NEVER]);
        // Begun 2 s earlier; before the beginning there is nothing.
        assert_eq!(stays.clone().begun_after(Span::from_secs(2)).at(Time::ZERO), (0, seconds(1.0)));
        assert_eq!(stays.clone().begun_after(Span::from_secs(-2)), stays);
        assert_eq!(cyclic.begun_after(Span::from_secs(-26)).at(Time::ZERO), (0, seconds(1.0)));
    }

    #[test]
    fn they_are_written_as_they_are_read() {
        for text in ["1ms", "1ms/2ms@3s", "1ms/2ms@3s+4s", "1ms@5s/2ms@25s", "1ms@5s/2ms@25s+7s", "1ms@3s/2ms+2s"] {
            assert_eq!(read(text).map(|steps| steps.to_string()).as_deref(), Some(text));
        }
        assert_eq!(read("1ms@3s/2ms@3s"), read("1ms/2ms@3s"));
        for text in
            ["", "1ms/2ms", "1ms+2s", "1ms/2ms@3s/3ms", "1ms/2ms@3s/3ms@2s", "1ms@3s/2ms+x", "1ms@/2ms", "1ms/@3s"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["1ms@0s/2ms", "1ms/2ms@-1s", "1ms@200000000min/2ms@200000000min"] {
            let error = Steps::<Span>::parse("delay", text).unwrap_err().to_string();
            assert!(error.starts_with("delays' duration is "), "{text}: {error}");
        }
    }

    proptest! {
        /// The value at any time is the one found by going through the sequence from its beginning.
        #[test]
        fn a_value_holds_from_its_beginning_to_its_end(
            durations in proptest::collection::vec(1i64..50, 1..8),
            stays in any::<bool>(),
            (at, passed) in (0u64..1_000, 0i64..500),
        ) {
            let millis = Span::from_millis;
            let steps: Vec<(Span, Span)> = durations.iter().map(|d| (millis(*d), millis(*d))).collect();
            let steps = Steps::uneven("delay", &steps, stays.then_some(Span::ZERO)).unwrap();
            let steps = steps.begun_after(millis(passed));
            let (index, until) = steps.at(Time::from_millis(at));
            let mut place = (0, 0);
            let within = at as i64 + passed;
            while (place.0 < durations.len() || !stays) && place.1 + durations[place.0 % durations.len()] <= within {
                place.1 += durations[place.0 % durations.len()];
                place.0 += 1;
            }
            if stays && place.0 == durations.len() {
                prop_assert_eq!((index, until), (durations.len(), Time::NEVER));
            } else {
                let end = place.1 + durations[place.0 % durations.len()] - passed;
                prop_assert_eq!((index, until), (place.0 % durations.len(), Time::from_millis(end as u64)));
            }
            // A single value is written without its duration.
            if steps.values().len() > 1 {
                prop_assert_eq!(Steps::parse("delay", &steps.to_string()).unwrap(), Some(steps));
            }
        }
    }
}
