//! A link with a bit rate: packets leave one after another, each after its serialization time.
//!
//! This is what a shaper does on a real testbed (`tc htb` without a burst), and what a fluid model assumes. A trace
//! instead lets 1500 bytes through at whole milliseconds: at 1 Mbps that is one packet every 12 ms, and a train of four
//! packets, measured by its spacing, shows 0.85 Mbps of it (docs/papers/camel.md).

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, Time, above, check};

use crate::queue::{DropReason, Queue, QueueConfig, Queued};
use crate::{Change, Departure, Drop, Link};

/// Rates in turn, each for the same time, repeated from the first. Written as `1Mbps`, `2Mbps/1Mbps@30s`, or
/// `2Mbps/1Mbps@30s+45s` for those whose 45th second is the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct Rates {
    rates: Vec<Rate>,
    each: Span,
    /// How much of the sequence has passed at the beginning, less than a whole turn.
    passed: Span,
}

impl Rates {
    /// A constant rate.
    ///
    /// # Errors
    /// When it is 0.
    pub fn constant(rate: Rate) -> Result<Rates, ConfigError> {
        Rates::in_turn(vec![rate], Span::from_secs(1))
    }

    /// These rates in turn, each for `each`; some may be 0.
    ///
    /// # Errors
    /// When there is none above 0, or `each` is not longer than 0.
    pub fn in_turn(rates: Vec<Rate>, each: Span) -> Result<Rates, ConfigError> {
        let greatest = rates.iter().max().copied().unwrap_or(Rate::ZERO);
        check("rate", greatest).within(above(Rate::ZERO), "1Mbps, or 2Mbps/0bps@30s in turn")?;
        check("rates' duration", each).within(above(Span::ZERO), "30s")?;
        check("rates' duration", each)
            .is(rates.len() as i128 * i128::from(each.as_nanos()) < i128::from(i64::MAX), "shorter")?;
        Ok(Rates { rates, each, passed: Span::ZERO })
    }

    /// The same rates, begun after this much of them has passed.
    #[must_use]
    pub fn begun_after(self, passed: Span) -> Rates {
        let turn = self.turn().as_nanos();
        Rates { passed: Span::from_nanos(passed.as_nanos().rem_euclid(turn)), ..self }
    }

    /// The time after which the rates repeat.
    pub fn turn(&self) -> Span {
        self.each * self.rates.len() as i64
    }

    /// The mean over a turn.
    pub fn mean(&self) -> Rate {
        let turn = self.turn();
        self.passes(Time::ZERO, Time::ZERO + turn).per(turn)
    }

    /// The rate at `at`, and when it changes next.
    pub fn at(&self, at: Time) -> (Rate, Time) {
        let [each, passed] = [self.each, self.passed].map(|span| u128::from(span.as_nanos().unsigned_abs()));
        let place = (u128::from(at.as_nanos()) + passed) / each;
        let rate = self.rates[(place % self.rates.len() as u128) as usize];
        let until = u64::try_from((place + 1) * each - passed).map_or(Time::NEVER, Time::from_nanos);
        (rate, until)
    }

    /// The bytes that can pass within [from, to).
    pub fn passes(&self, from: Time, to: Time) -> Bytes {
        let (mut at, mut bits) = (from, 0.0);
        while at < to {
            let (rate, until) = self.at(at);
            let end = until.min(to);
            bits += rate.as_bps_f64() * (end - at).as_secs_f64();
            at = end;
        }
        Bytes::new((bits / 8.0 + 0.5) as u64)
    }

    /// When `size` is through if its transmission begins at `from`.
    fn finish(&self, from: Time, size: Bytes) -> Time {
        let (mut at, mut nanobits) = (from, u128::from(size.bits()) * 1_000_000_000);
        loop {
            let (rate, until) = self.at(at);
            if until == Time::NEVER {
                return Time::NEVER;
            }
            let passes = u128::from(rate.as_bps()) * (until - at).as_nanos() as u128;
            if nanobits <= passes {
                let nanos = nanobits.div_ceil(u128::from(rate.as_bps().max(1)));
                return at + Span::from_nanos(nanos as i64);
            }
            nanobits -= passes;
            at = until;
        }
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rate) in self.rates.iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            write!(f, "{rate}")?;
        }
        if self.rates.len() > 1 {
            write!(f, "@{}", self.each)?;
        }
        if self.passed > Span::ZERO && self.rates.len() > 1 { write!(f, "+{}", self.passed) } else { Ok(()) }
    }
}

impl FromStr for Rates {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Rates, ConfigError> {
        let wrong = || {
            ConfigError::out_of_range("rate", text, "a rate such as 1Mbps, or rates in turn such as 2Mbps/1Mbps@30s")
        };
        let span = |text: &str| text.parse::<Span>().map_err(|_| wrong());
        let (rates, times) = text.split_once('@').unwrap_or((text, "1s"));
        let (each, passed) = times.split_once('+').unwrap_or((times, "0s"));
        let (each, passed) = (span(each)?, span(passed)?);
        let rates: Result<Vec<Rate>, _> = rates.split('/').map(str::parse).collect();
        let rates = rates.map_err(|_| wrong())?;
        if rates.len() > 1 && !text.contains('@') {
            return Err(wrong());
        }
        Ok(Rates::in_turn(rates, each)?.begun_after(passed))
    }
}

impl TryFrom<String> for Rates {
    type Error = ConfigError;

    fn try_from(text: String) -> Result<Rates, ConfigError> {
        text.parse()
    }
}

impl From<Rates> for String {
    fn from(rates: Rates) -> String {
        rates.to_string()
    }
}

/// See the module. The packet in transmission is outside the queue and does not count towards its limits.
#[derive(Debug, Clone)]
pub struct Serial<P> {
    rates: Rates,
    /// What it was built with.
    built_with: Rates,
    queue: Queue<P>,
    leaving: Option<(Time, Queued<P>)>,
    departed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P> Serial<P> {
    /// A link with these rates and `queue` in front of it.
    ///
    /// # Errors
    /// When the queue's parameters are out of range.
    pub fn new(rates: Rates, queue: &QueueConfig, seed: Seed) -> Result<Serial<P>, ConfigError> {
        let queue = queue.build(seed)?;
        Ok(Serial {
            built_with: rates.clone(),
            rates,
            queue,
            leaving: None,
            departed: VecDeque::new(),
            dropped: VecDeque::new(),
        })
    }

    /// Begins transmission of the next packet at `at`.
    fn begin(&mut self, at: Time) {
        let dropped = &mut self.dropped;
        if let Some(queued) = self.queue.pop(at, |queued, why| dropped.push_back(drop_of(at, queued, why))) {
            self.leaving = Some((self.rates.finish(at, queued.counted), queued));
        }
    }

    /// Delivers everything that has left by `now`.
    fn advance(&mut self, now: Time) {
        while let Some((at, queued)) = self.leaving.take_if(|(at, _)| *at <= now) {
            let Queued { arrival, counted: size, packet } = queued;
            self.departed.push_back(Departure { at, size, queued: at - arrival, packet });
            self.begin(at);
        }
    }
}

fn drop_of<P>(at: Time, queued: Queued<P>, why: DropReason) -> Drop<P> {
    Drop { at, size: queued.counted, why, packet: queued.packet }
}

impl<P> Link<P> for Serial<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        self.advance(now);
        let dropped = &mut self.dropped;
        let queued = Queued { arrival: now, counted: size, packet };
        self.queue.push(now, queued, |queued, why| dropped.push_back(drop_of(now, queued, why)));
        if self.leaving.is_none() {
            self.begin(now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        self.advance(now);
        self.departed.pop_front()
    }

    fn next_event(&self) -> Time {
        match (self.departed.front(), &self.leaving) {
            (Some(departure), _) => departure.at,
            (None, Some((at, _))) => *at,
            (None, None) => Time::NEVER,
        }
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }

    /// What is left of the packet in transmission goes on at the new rate.
    fn change(&mut self, now: Time, change: &Change) -> bool {
        let Change::Rate(rate) = change else { return false };
        let rates = rate.map_or_else(|| Ok(self.built_with.clone()), Rates::constant);
        if let Ok(rates) = rates {
            self.advance(now);
            if let Some((at, queued)) = &mut self.leaving {
                *at = rates.finish(now, self.rates.passes(now, *at).min(queued.counted));
            }
            self.rates = rates;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Limits;
    use proptest::prelude::*;

    fn link(rates: &str, queue: QueueConfig) -> Serial<u64> {
        Serial::new(rates.parse().unwrap(), &queue, Seed::new(1)).unwrap()
    }

    fn left(link: &mut Serial<u64>) -> Vec<(u64, i64)> {
        core::iter::from_fn(|| link.poll(Time::from_secs_f64(1e4)))
            .map(|left| (left.at.as_nanos() / 1000, left.queued.as_nanos() / 1000))
            .collect()
    }

    #[test]
    fn a_train_is_spaced_as_its_bits_take() {
        let mut link = link("1Mbps", QueueConfig::Infinite);
        for (number, size) in [1200, 1200, 800].into_iter().enumerate() {
            link.offer(Time::from_millis(100), Bytes::new(size), number as u64);
        }
        assert_eq!(left(&mut link), [(109_600, 9_600), (119_200, 19_200), (125_600, 25_600)]);
        assert_eq!(link.next_event(), Time::NEVER);
    }

    #[test]
    fn a_packet_goes_on_at_the_next_rate_and_waits_out_a_rate_of_none() {
        let mut steps = link("1Mbps/500kbps@10ms", QueueConfig::Infinite);
        // 1000 bits until 10 ms, and 1000 more at half the rate.
        steps.offer(Time::from_millis(9), Bytes::new(250), 0);
        assert_eq!(left(&mut steps), [(12_000, 3_000)]);
        let mut outage = link("1Mbps/0bps@10ms", QueueConfig::Infinite);
        outage.offer(Time::from_millis(9), Bytes::new(250), 0);
        assert_eq!(left(&mut outage), [(21_000, 12_000)]);
    }

    #[test]
    fn the_packet_that_leaves_does_not_count_against_the_queue() {
        let mut link = link("1Mbps", QueueConfig::DropTail(Limits::bytes(Bytes::new(2400))));
        for number in 0..5 {
            link.offer(Time::ZERO, Bytes::new(1200), number);
        }
        assert_eq!(left(&mut link).len(), 3);
        assert_eq!(core::iter::from_fn(|| link.poll_drop()).map(|drop| drop.packet).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn rates_are_read_as_they_are_written_and_say_what_is_wrong() {
        for text in ["1Mbps", "2Mbps/1Mbps@30s", "2Mbps/1Mbps@30s+45123456.789us"] {
            assert_eq!(text.parse::<Rates>().unwrap().to_string(), text);
        }
        for text in ["fast", "2Mbps/1Mbps", "0bps", "1Mbps/2Mbps@0s", ""] {
            assert!(text.parse::<Rates>().is_err(), "{text}");
        }
        let rates: Rates = "2Mbps/1Mbps@30s".parse().unwrap();
        assert_eq!(rates.passes(Time::from_secs_f64(29.0), Time::from_secs_f64(31.0)), Bytes::new(375_000));
        // The same second of a sequence that began 45 s earlier, or a turn before that.
        for passed in [45, 45 - 60] {
            let later = rates.clone().begun_after(Span::from_secs(passed));
            assert_eq!(later.at(Time::ZERO), (Rate::from_kbps(1000), Time::from_millis(15_000)));
            assert_eq!(later.at(Time::from_millis(15_000)), (Rate::from_kbps(2000), Time::from_millis(45_000)));
        }
    }

    proptest! {
        #[test]
        fn a_busy_link_passes_what_its_rates_say_and_keeps_the_order(
            sizes in proptest::collection::vec(40u64..1500, 1..60),
            first in 1u64..5_000, second in 0u64..5_000, each_ms in 1i64..200,
        ) {
            let rates = [first, second].map(Rate::from_kbps).to_vec();
            let rates = Rates::in_turn(rates, Span::from_millis(each_ms)).unwrap();
            let mut link = Serial::new(rates.clone(), &QueueConfig::Infinite, Seed::new(1)).unwrap();
            for (number, size) in sizes.iter().enumerate() {
                link.offer(Time::ZERO, Bytes::new(*size), number as u64);
            }
            let mut sum = 0;
            for (number, size) in sizes.iter().enumerate() {
                let left = link.poll(Time::from_secs_f64(1e6)).expect("it comes out");
                sum += size;
                prop_assert_eq!(left.packet, number as u64);
                let passed = rates.passes(Time::ZERO, left.at).get();
                prop_assert!(passed.abs_diff(sum) <= 1 + number as u64, "{} of {}", passed, sum);
            }
        }
    }
}
