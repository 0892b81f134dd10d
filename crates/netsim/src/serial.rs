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
use crate::steps::Steps;
use crate::{Change, Departure, Drop, Link, Packet};

/// Rates in turn. Written as `1Mbps`; `2Mbps/1Mbps@30s`: each for 30 s, and again from the first;
/// `500kbps@5s/5Mbps@25s`: each for its own time; `500kbps@3s/5Mbps`: the last stays; `2Mbps/1Mbps@30s+45s`: their 45th
/// second is the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct Rates(Steps<Rate>);

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
        check_any(rates.iter())?;
        Steps::even("rate", rates, each).map(Rates)
    }

    /// These rates in turn, each for its own time, and then `last` for ever, or again from the first; some may be 0.
    ///
    /// # Errors
    /// When there is none above 0, `last` is 0, or a duration is not longer than 0.
    pub fn lasting(rates: &[(Rate, Span)], last: Option<Rate>) -> Result<Rates, ConfigError> {
        check_any(rates.iter().map(|(rate, _)| rate).chain(&last))?;
        Steps::uneven("rate", rates, last)?.try_into()
    }

    /// The same rates, begun after this much of them has passed.
    #[must_use]
    pub fn begun_after(self, passed: Span) -> Rates {
        Rates(self.0.begun_after(passed))
    }

    /// The time after which the rates repeat; [`Span::MAX`] if the last one stays.
    pub fn turn(&self) -> Span {
        self.0.turn().unwrap_or(Span::MAX)
    }

    /// The mean over a turn, or the rate that stays.
    pub fn mean(&self) -> Rate {
        match (self.0.turn(), self.0.values()) {
            (Some(turn), _) => self.passes(Time::ZERO, Time::ZERO + turn).per(turn),
            (None, [.., last]) => *last,
            (None, []) => Rate::ZERO,
        }
    }

    /// The rate at `at`, and when it changes next.
    pub fn at(&self, at: Time) -> (Rate, Time) {
        let (index, until) = self.0.at(at);
        (self.0.values()[index], until)
    }

    /// The rate at `at`, or while that is 0 the last one above 0; round the end, where there was none before.
    fn last_above_zero(&self, at: Time) -> Rate {
        let (index, rates) = (self.0.at(at).0, self.0.values());
        let (later, until) = (&rates[index + 1..], &rates[..=index]);
        until.iter().rev().chain(later.iter().rev()).copied().find(|rate| *rate > Rate::ZERO).unwrap_or(Rate::ZERO)
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
    pub fn finish(&self, from: Time, size: Bytes) -> Time {
        let (mut at, mut nanobits) = (from, u128::from(size.bits()) * 1_000_000_000);
        loop {
            let (rate, until) = self.at(at);
            let passes = u128::from(rate.as_bps()) * (until - at).as_nanos() as u128;
            if nanobits <= passes {
                let nanos = nanobits.div_ceil(u128::from(rate.as_bps().max(1)));
                return at + Span::from_nanos(nanos as i64);
            }
            if until == Time::NEVER {
                return Time::NEVER;
            }
            nanobits -= passes;
            at = until;
        }
    }
}

fn check_any<'a>(rates: impl Iterator<Item = &'a Rate>) -> Result<(), ConfigError> {
    let greatest = rates.max().copied().unwrap_or(Rate::ZERO);
    check("rate", greatest).within(above(Rate::ZERO), "1Mbps, or 2Mbps/0bps@30s in turn")
}

impl TryFrom<Steps<Rate>> for Rates {
    type Error = ConfigError;

    fn try_from(steps: Steps<Rate>) -> Result<Rates, ConfigError> {
        check_any(steps.values().iter())?;
        let stops = steps.turn().is_none() && steps.values().last() == Some(&Rate::ZERO);
        // Nothing would ever leave.
        check("rate", "0bps for ever").is(!stops, "above 0 at the end, or of some duration: 1Mbps@30s/0bps@1h")?;
        Ok(Rates(steps))
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Rates {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Rates, ConfigError> {
        let range = "a rate such as 1Mbps, or rates in turn such as 2Mbps/1Mbps@30s, 500kbps@5s/5Mbps@25s or \
                     500kbps@3s/5Mbps (the last stays)";
        let steps = Steps::parse("rate", text)?;
        steps.ok_or_else(|| ConfigError::out_of_range("rate", text, range))?.try_into()
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
    /// The rates that it was built with.
    built_with: Rates,
    queue: Queue<P>,
    leaving: Option<(Time, Queued<P>)>,
    departed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P: Packet> Serial<P> {
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
        let (rates, dropped) = (&self.rates, &mut self.dropped);
        let dropped = |queued, why| dropped.push_back(drop_of(at, queued, why));
        if let Some(queued) = self.queue.pop(at, || rates.last_above_zero(at), dropped) {
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

impl<P: Packet> Link<P> for Serial<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        self.advance(now);
        let (rates, dropped) = (&self.rates, &mut self.dropped);
        let queued = Queued { arrival: now, counted: size, packet };
        self.queue.push(
            now,
            || rates.last_above_zero(now),
            queued,
            |queued, why| dropped.push_back(drop_of(now, queued, why)),
        );
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

    /// Changes the rate; the rest of the packet in transmission goes on at the new one.
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
    fn each_rate_may_have_its_own_time_and_the_last_may_stay() {
        let cyclic: Rates = "500kbps@5s/5Mbps@25s".parse().unwrap();
        let second = |second| Time::from_secs_f64(second);
        // 0.5 Mbps for 5 s and 5 Mbps for 25 s are 127.5 Mbit in 30 s.
        assert_eq!((cyclic.turn(), cyclic.mean()), (Span::from_secs(30), Rate::from_kbps(4250)));
        assert_eq!(cyclic.passes(second(29.0), second(36.0)), Bytes::new((5_000_000 + 2_500_000 + 5_000_000) / 8));
        assert_eq!(cyclic.at(second(35.0)), (Rate::from_kbps(5000), second(60.0)));
        let stays: Rates = "500kbps@3s/5Mbps".parse().unwrap();
        assert_eq!((stays.turn(), stays.mean()), (Span::MAX, Rate::from_kbps(5000)));
        assert_eq!(stays.at(second(1e6)), (Rate::from_kbps(5000), Time::NEVER));
        assert_eq!(stays.finish(second(2.0), Bytes::new(125_000)), second(3.1));
        assert_eq!(stays.finish(second(1e6), Bytes::new(625_000)), second(1e6 + 1.0));
        assert_eq!(
            stays,
            Rates::lasting(&[(Rate::from_kbps(500), Span::from_secs(3))], Some(Rate::from_kbps(5000))).unwrap()
        );
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
        for text in [
            "1Mbps",
            "2Mbps/1Mbps@30s",
            "2Mbps/1Mbps@30s+45123456.789us",
            "500kbps@5s/5Mbps@25s",
            "500kbps@3s/5Mbps",
            "0bps@5s/1Mbps@1s/0bps@2s+1s",
        ] {
            assert_eq!(text.parse::<Rates>().unwrap().to_string(), text);
        }
        for text in ["fast", "2Mbps/1Mbps", "0bps", "1Mbps/2Mbps@0s", "", "1Mbps@3s/0bps", "0bps@1s/0bps@2s"] {
            assert!(text.parse::<Rates>().is_err(), "{text}");
        }
        let error = "1Mbps@3s/0bps".parse::<Rates>().unwrap_err().to_string();
        assert!(error.contains("0bps for ever") && error.contains("1Mbps@30s/0bps@1h"), "{error}");
        let rates: Rates = "2Mbps/1Mbps@30s".parse().unwrap();
        assert_eq!(rates.passes(Time::from_secs_f64(29.0), Time::from_secs_f64(31.0)), Bytes::new(375_000));
        // The same second of a sequence that began 45 s earlier, or a turn before that.
        for passed in [45, 45 - 60] {
            let later = rates.clone().begun_after(Span::from_secs(passed));
            assert_eq!(later.at(Time::ZERO), (Rate::from_kbps(1000), Time::from_millis(15_000)));
            assert_eq!(later.at(Time::from_millis(15_000)), (Rate::from_kbps(2000), Time::from_millis(45_000)));
        }
    }

    /// Offers `count` packets of 1250 bytes at this second; returns how many were refused.
    fn refused(link: &mut Serial<u64>, second: f64, count: u64) -> usize {
        while link.poll(Time::from_secs_f64(second)).is_some() {}
        (0..count).for_each(|number| link.offer(Time::from_secs_f64(second), Bytes::new(1250), number));
        core::iter::from_fn(|| link.poll_drop()).count()
    }

    #[test]
    fn a_queue_of_300_ms_holds_that_long_at_the_rate_of_each_arrival_and_keeps_what_it_has() {
        let limits = QueueConfig::DropTail(Limits::time(Span::from_millis(300)));
        let mut link = link("2.5Mbps@40s/600kbps@20s/0bps@1s/1Mbps", limits);
        // 93,750 bytes are 75 packets, beside the one in transmission.
        assert_eq!(refused(&mut link, 39.99, 100), 24);
        // 2.5 packets are through by 40 s, and then one each 16.7 ms: 72 wait, and from 18 on others may come.
        assert_eq!(refused(&mut link, 40.001, 1), 1);
        assert_eq!(refused(&mut link, 40.88, 1), 1);
        assert_eq!(refused(&mut link, 40.93, 1), 0);
        // At 600 kbps 18; the same while nothing passes; then 30.
        assert_eq!(refused(&mut link, 59.99, 20), 1);
        assert_eq!(refused(&mut link, 60.5, 1), 1);
        assert_eq!(refused(&mut link, 61.001, 20), 8);
        // Changed to 200 kbps it holds 6, of which all are there.
        assert!(link.change(Time::from_secs_f64(61.002), &Change::Rate(Some(Rate::from_kbps(200)))));
        assert_eq!(refused(&mut link, 61.003, 1), 1);
        assert_eq!(refused(&mut link, 70.0, 10), 3);
        link.change(Time::from_secs_f64(70.0), &Change::Rate(None));
        assert_eq!(refused(&mut link, 70.001, 30), 6);
    }

    #[test]
    fn before_the_first_rate_above_0_the_last_one_of_the_turn_counts_and_an_empty_queue_takes_anything() {
        let rates: Rates = "0bps@1s/1Mbps@1s/2Mbps@1s".parse().unwrap();
        assert_eq!(
            [0.5, 1.5, 3.5].map(|at| rates.last_above_zero(Time::from_secs_f64(at)).as_bps()),
            [2_000_000, 1_000_000, 2_000_000]
        );
        let mut link = link("100kbps", QueueConfig::DropTail(Limits::time(Span::from_millis(1))));
        assert_eq!(refused(&mut link, 0.0, 3), 1);
        let none = QueueConfig::DropTail(Limits::time(Span::ZERO));
        let error = Serial::<u64>::new("1Mbps".parse().unwrap(), &none, Seed::new(1)).unwrap_err().to_string();
        assert!(error.contains("queue limits is 0ms") && error.contains("300ms"), "{error}");
    }

    proptest! {
        /// At a constant rate a time is so many bytes, whatever the discipline, unless they are less than a packet.
        #[test]
        fn at_a_constant_rate_a_limit_of_time_is_one_of_bytes(
            offers in proptest::collection::vec((0u64..20_000, 40u64..1500), 1..150),
            kbps in 100u64..5_000, length in 120i64..400, discipline in 0..4,
        ) {
            let rate = Rate::from_kbps(kbps);
            let time = Span::from_millis(length);
            let run = |limits: Limits| {
                let millis = Span::from_millis;
                let queue = match discipline {
                    0 => QueueConfig::DropTail(limits),
                    1 => QueueConfig::DropHead(limits),
                    2 => QueueConfig::Codel { limits, target: millis(5), interval: millis(100) },
                    _ => QueueConfig::Pie { limits, reference: millis(20), max_burst: millis(50) },
                };
                let mut link = Serial::new(Rates::constant(rate).unwrap(), &queue, Seed::new(1)).unwrap();
                let mut now = Time::ZERO;
                for (number, (gap, size)) in offers.iter().enumerate() {
                    now += Span::from_micros(*gap as i64);
                    link.offer(now, Bytes::new(*size), number as u64);
                }
                let lost: Vec<u64> = core::iter::from_fn(|| link.poll_drop()).map(|lost| lost.packet).collect();
                (left(&mut link), lost)
            };
            prop_assert_eq!(run(Limits::time(time)), run(Limits::bytes(rate.over(time))));
        }

        #[test]
        fn a_busy_link_passes_what_its_rates_say_and_keeps_the_order(
            sizes in proptest::collection::vec(40u64..1500, 1..60),
            first in 1u64..5_000, second in 0u64..5_000, each_ms in (1i64..200, 1i64..200),
            last in proptest::option::of(1u64..5_000),
        ) {
            let step = |kbps, millis| (Rate::from_kbps(kbps), Span::from_millis(millis));
            let steps = [step(first, each_ms.0), step(second, each_ms.1)];
            let rates = Rates::lasting(&steps, last.map(Rate::from_kbps)).unwrap();
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
