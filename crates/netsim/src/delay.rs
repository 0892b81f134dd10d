//! A hop with fixed delay and jitter.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use thalweg_units::{Bytes, ConfigError, Random, Seed, Span, Time, check};

use crate::steps::Steps;
use crate::{Change, Departure, Drop, Link};

/// A fixed delay, or delays in turn. Written as `25ms`, or as [`Rates`](crate::Rates) are: `10ms/80ms@20s`,
/// `10ms@3s/80ms@1s`, `10ms@3s/80ms` (the last stays).
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct Delays(Steps<Span>);

impl Delays {
    /// These delays in turn, each for its own time, and then `last` for ever, or again from the first.
    ///
    /// # Errors
    /// When there is none, a delay is negative, or a duration is not longer than 0.
    pub fn lasting(delays: &[(Span, Span)], last: Option<Span>) -> Result<Delays, ConfigError> {
        check("delays", "none").is(!delays.is_empty() || last.is_some(), "at least one, such as 25ms")?;
        let delays = Steps::uneven("delay", delays, last).map(Delays)?;
        delays.check().map(|()| delays)
    }

    /// # Errors
    /// When a delay is negative.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.0.values().iter().try_for_each(|delay| check("delay", *delay).within(Span::ZERO.., "25ms"))
    }

    /// The delay of packets that arrive at `at`, and when it changes next.
    pub fn at(&self, at: Time) -> (Span, Time) {
        match self.0.values() {
            [delay] => (*delay, Time::NEVER),
            delays => {
                let (index, until) = self.0.at(at);
                (delays[index], until)
            }
        }
    }
}

impl From<Span> for Delays {
    fn from(delay: Span) -> Delays {
        Delays(Steps::constant(delay))
    }
}

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Delays {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Delays, ConfigError> {
        let range = "a duration such as 25ms, or delays in turn such as 10ms/80ms@20s, 10ms@3s/80ms@1s or 10ms@3s/80ms \
                     (the last stays)";
        let delays =
            Delays(Steps::parse("delay", text)?.ok_or_else(|| ConfigError::out_of_range("delay", text, range))?);
        delays.check().map(|()| delays)
    }
}

impl TryFrom<String> for Delays {
    type Error = ConfigError;

    fn try_from(text: String) -> Result<Delays, ConfigError> {
        text.parse()
    }
}

impl From<Delays> for String {
    fn from(delays: Delays) -> String {
        delays.to_string()
    }
}

/// The extra delay of a packet on top of the fixed delay.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Jitter {
    /// None.
    #[default]
    None,
    /// Uniform between 0 and `max` (Camel Fig. 18).
    Uniform {
        /// The max extra delay.
        max: Span,
    },
    /// Uniform between 0 and `max`, the same for all packets of a burst, that is within `gap` of the previous packet
    /// (Camel Fig. 18, which does not say whether jitter is by burst or by packet).
    UniformByBurst {
        /// The max extra delay.
        max: Span,
        /// A longer gap than this ends a burst.
        gap: Span,
    },
    /// Exponential with this mean: rare long delays, as of link-layer retransmissions.
    Exponential {
        /// The mean.
        mean: Span,
    },
    /// Half-normal: the absolute value of a normal distribution with mean 0.
    Normal {
        /// The standard deviation of the normal distribution.
        deviation: Span,
    },
    /// Half-normal and cut at `max`: min(|N(0, s^2)|, k s) with `deviation` s and `max` k s (specs/rmcat.md 1, which
    /// takes 5 ms and 15 ms).
    TruncatedNormal {
        /// The standard deviation of the normal distribution.
        deviation: Span,
        /// The max extra delay, which all longer ones become.
        max: Span,
    },
}

impl Jitter {
    /// # Errors
    /// When a duration is negative.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let spans = match *self {
            Jitter::None => [Span::ZERO; 2],
            Jitter::Uniform { max } => [max; 2],
            Jitter::UniformByBurst { max, gap } => [max, gap],
            Jitter::Exponential { mean } => [mean; 2],
            Jitter::Normal { deviation } => [deviation; 2],
            Jitter::TruncatedNormal { deviation, max } => [deviation, max],
        };
        spans.into_iter().try_for_each(|span| check("jitter", span).within(Span::ZERO.., "5ms"))
    }

    /// The max gap to the previous packet within which jitter is shared; `None` if each packet has its own.
    fn shared_within(&self) -> Option<Span> {
        if let Jitter::UniformByBurst { gap, .. } = self { Some(*gap) } else { None }
    }

    fn draw(&self, random: &mut Random) -> Span {
        match self {
            Jitter::None => Span::ZERO,
            Jitter::Uniform { max } | Jitter::UniformByBurst { max, .. } => max.scale(random.unit()),
            Jitter::Exponential { mean } => Span::from_secs_f64(random.exponential(mean.as_secs_f64())),
            Jitter::Normal { deviation } => deviation.scale(random.normal().abs()),
            Jitter::TruncatedNormal { deviation, max } => deviation.scale(random.normal().abs()).min(*max),
        }
    }
}

/// A hop that holds each packet for a known time and some jitter.
#[derive(Debug, Clone)]
pub struct Delay<P> {
    delays: Delays,
    /// The present one of them, and until when it holds.
    delay: (Span, Time),
    jitter: Jitter,
    reorders: bool,
    random: Random,
    /// The arrival time of the last packet, and its jitter.
    last: Option<(Time, Span)>,
    /// Sorted by release time; equal times in order of arrival.
    held: VecDeque<Departure<P>>,
}

impl<P> Delay<P> {
    /// A fixed delay.
    pub fn fixed(delay: Span) -> Delay<P> {
        Delay::jittered(delay, Jitter::None, false, Seed::new(0))
    }

    /// A fixed delay, or delays in turn, and random jitter. With `reorders`, packets may overtake one another, also
    /// when the delay falls; otherwise a packet waits for the one before it.
    pub fn jittered(delays: impl Into<Delays>, jitter: Jitter, reorders: bool, seed: Seed) -> Delay<P> {
        let (delays, random) = (delays.into(), seed.child("jitter").random());
        let delay = delays.at(Time::ZERO);
        Delay { delays, delay, jitter, reorders, random, last: None, held: VecDeque::new() }
    }
}

impl<P> Link<P> for Delay<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        let gap = self.jitter.shared_within();
        let shared = self.last.filter(|(last, _)| gap.is_some_and(|gap| now - *last <= gap));
        let jitter = shared.map_or_else(|| self.jitter.draw(&mut self.random), |(_, jitter)| jitter);
        self.last = Some((now, jitter));
        if now >= self.delay.1 {
            self.delay = self.delays.at(now);
        }
        let mut at = now + self.delay.0.max(Span::ZERO) + jitter;
        if !self.reorders
            && let Some(last) = self.held.back()
        {
            at = at.max(last.at);
        }
        let departure = Departure { at, size, queued: Span::ZERO, packet };
        if self.held.back().is_none_or(|last| last.at <= at) {
            self.held.push_back(departure);
        } else {
            let position = self.held.partition_point(|held| held.at <= at);
            self.held.insert(position, departure);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        if self.held.front()?.at <= now { self.held.pop_front() } else { None }
    }

    fn next_event(&self) -> Time {
        self.held.front().map_or(Time::NEVER, |held| held.at)
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        None
    }

    fn change(&mut self, _now: Time, change: &Change) -> bool {
        let Change::Delay(delay) = change else { return false };
        self.delay = (*delay, Time::NEVER);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_fixed_delay_keeps_order_and_spacing() {
        let mut delay = Delay::fixed(Span::from_millis(25));
        delay.offer(Time::from_millis(1), Bytes::new(100), 'a');
        delay.offer(Time::from_millis(3), Bytes::new(100), 'b');
        assert_eq!(delay.next_event(), Time::from_millis(26));
        assert!(delay.poll(Time::from_millis(25)).is_none());
        assert_eq!(delay.poll(Time::from_millis(30)).unwrap().packet, 'a');
        assert_eq!(delay.poll(Time::from_millis(30)).unwrap().at, Time::from_millis(28));
    }

    #[test]
    fn delays_follow_their_schedule_and_packets_overtake_only_where_they_may() {
        let run = |reorders| {
            let delays: Delays = "80ms@100ms/10ms".parse().unwrap();
            let mut delay = Delay::jittered(delays, Jitter::None, reorders, Seed::new(1));
            [0u64, 90, 95, 99, 100, 130, 170]
                .iter()
                .for_each(|at| delay.offer(Time::from_millis(*at), Bytes::new(100), *at));
            core::iter::from_fn(|| delay.poll(Time::from_millis(1_000)))
                .map(|left| (left.packet, left.at.as_millis()))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(false), [(0, 80), (90, 170), (95, 175), (99, 179), (100, 179), (130, 179), (170, 180)]);
        assert_eq!(run(true), [(0, 80), (100, 110), (130, 140), (90, 170), (95, 175), (99, 179), (170, 180)]);
    }

    #[test]
    fn a_delay_that_is_set_holds_from_then_on_whatever_the_schedule() {
        let mut delay = Delay::jittered("10ms/80ms@1s".parse::<Delays>().unwrap(), Jitter::None, false, Seed::new(1));
        delay.offer(Time::from_millis(1_500), Bytes::new(100), 0);
        assert!(delay.change(Time::from_millis(1_500), &Change::Delay(Span::from_millis(30))));
        delay.offer(Time::from_millis(4_000), Bytes::new(100), 1);
        let left = core::iter::from_fn(|| delay.poll(Time::from_secs_f64(9.0))).map(|left| left.at.as_millis());
        assert_eq!(left.collect::<Vec<_>>(), [1_580, 4_030]);
    }

    #[test]
    fn delays_are_read_as_they_are_written_and_say_what_is_wrong() {
        for text in ["25ms", "0ms", "10ms/80ms@20s", "10ms@3s/80ms@1s+2s", "10ms@3s/80ms"] {
            assert_eq!(text.parse::<Delays>().unwrap().to_string(), text);
        }
        assert_eq!("25ms".parse(), Ok(Delays::from(Span::from_millis(25))));
        let steps = [(Span::from_millis(10), Span::from_secs(3))];
        assert_eq!("10ms@3s/80ms".parse(), Delays::lasting(&steps, Some(Span::from_millis(80))));
        for (text, why) in [
            ("fast", "delay is fast, must be a duration such as 25ms"),
            ("10ms/80ms", "delays in turn such as 10ms/80ms@20s"),
            ("-1ms", "delay is -1ms, must be at least 0ms"),
            ("10ms@0s/80ms", "delays' duration is 0ms, must be above 0ms"),
        ] {
            let error = text.parse::<Delays>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(Delays::lasting(&[], None).is_err());
    }

    #[test]
    fn jitter_keeps_order_unless_told_to_reorder() {
        let run = |reorders| {
            let jitter = Jitter::Uniform { max: Span::from_millis(50) };
            let mut delay = Delay::jittered(Span::from_millis(25), jitter, reorders, Seed::new(3));
            (0..200u64).for_each(|i| delay.offer(Time::from_millis(i * 5), Bytes::new(100), i));
            let left: Vec<_> = core::iter::from_fn(|| delay.poll(Time::from_secs_f64(10.0))).collect();
            assert!(left.windows(2).all(|pair| pair[0].at <= pair[1].at));
            left.iter().map(|left| left.packet).is_sorted()
        };
        assert!(run(false));
        assert!(!run(true));
    }

    #[test]
    fn a_truncated_half_normal_of_5_and_15_ms_has_a_mean_of_3_986_ms() {
        let jitter = Jitter::TruncatedNormal { deviation: Span::from_millis(5), max: Span::from_millis(15) };
        let mut random = Seed::new(3).random();
        let drawn: Vec<f64> = (0..100_000).map(|_| jitter.draw(&mut random).as_millis_f64()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        // Four standard errors: the deviation is 3.0 ms.
        assert!((mean - 3.986).abs() < 0.038, "{mean} ms");
        assert!(drawn.iter().all(|millis| (0.0..=15.0).contains(millis)));
        // 0.27 % are beyond three deviations.
        let cut = drawn.iter().filter(|millis| **millis == 15.0).count();
        assert!((200..340).contains(&cut), "{cut} cut");
    }

    #[test]
    fn the_packets_of_a_burst_share_their_jitter_and_bursts_do_not() {
        let jitter = Jitter::UniformByBurst { max: Span::from_millis(20), gap: Span::from_millis(1) };
        let mut delay = Delay::jittered(Span::from_millis(25), jitter, false, Seed::new(3));
        // Bursts of four packets half a millisecond apart, one burst every 33 ms.
        let offers: Vec<Time> = (0..400u64).map(|i| Time::from_micros(i / 4 * 33_000 + i % 4 * 500)).collect();
        offers.iter().enumerate().for_each(|(i, at)| delay.offer(*at, Bytes::new(100), i));
        let left: Vec<_> = core::iter::from_fn(|| delay.poll(Time::from_secs_f64(10.0))).collect();
        let jitters: Vec<Span> =
            left.iter().map(|left| left.at - offers[left.packet] - Span::from_millis(25)).collect();
        assert!(jitters.chunks(4).all(|burst| burst.iter().all(|jitter| *jitter == burst[0])));
        assert!(jitters.iter().all(|jitter| (Span::ZERO..=Span::from_millis(20)).contains(jitter)));
        let mean = jitters.iter().map(|jitter| jitter.as_millis_f64()).sum::<f64>() / jitters.len() as f64;
        assert!((7.0..13.0).contains(&mean), "{mean} ms");
    }
}
