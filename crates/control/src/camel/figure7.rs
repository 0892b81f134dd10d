//! The experiment of Figure 7: which signal tells congestion on a synthetic queue (specs/camel.md 3 and 8.1).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use super::gradient::{Config, Gradient};
use crate::estimate::slope;

/// Figure 7's link.
const CAPACITY: Rate = Rate::from_kbps(2000);
/// Its round trip while nothing waits, in ms.
const LEAST_MS: f64 = 25.0;
/// For how long all three look back, in seconds.
const WINDOW_S: f64 = 5.0;
/// How far delay is above its least before that signal says congestion, in ms (specs/camel.md 8.1).
const ABOVE_LEAST_MS: f64 = 5.0;

/// Shares of frames that each signal judged rightly, 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Camel's: the slope of delay over bytes in flight.
    pub gradient: f64,
    /// Delay above its least.
    pub delay_above_least: f64,
    /// The slope of delay over time.
    pub delay_over_time: f64,
}

/// What is in flight about the clock's level, in kbit.
fn level(second: f64) -> f64 {
    match second {
        second if second < 20.0 => 30.0,
        second if second < 50.0 => 70.0,
        second if second < 70.0 => 40.0,
        second if second < 100.0 => 80.0,
        _ => 50.0,
    }
}

/// How often each signal is right over 115 s of 30 frames a second on a link of 2 Mbps and 25 ms (a product of 50
/// kbit), what is in flight scattering by 15 kbit about a level that changes, and each delay longer by up to `jitter`,
/// uniformly. Truth is the delay of equation 4, without jitter. `config` is the gradient's.
pub fn accuracy(config: Config, jitter: Span, seed: Seed) -> Accuracy {
    let mut random = seed.child("camel.figure7").random();
    let mut gradient = Gradient::new(config);
    let mut recent: VecDeque<(f64, f64)> = VecDeque::new();
    let (mut right, mut judged) = ([0u32; 3], 0u32);
    for frame in 0..(115 * 30) {
        let second = f64::from(frame) / 30.0;
        let kilobits = level(second) + random.between(-15.0, 15.0);
        let ideal = LEAST_MS.max(kilobits / CAPACITY.as_kbps_f64() * 1e3);
        let delay = ideal + if jitter > Span::ZERO { random.between(0.0, jitter.as_millis_f64()) } else { 0.0 };
        let now = Time::from_secs_f64(second);
        gradient.add(now, Bytes::new((kilobits * 125.0) as u64), Span::from_millis_f64(delay));
        recent.push_back((second, delay));
        while recent.front().is_some_and(|(at, _)| *at < second - WINDOW_S) {
            recent.pop_front();
        }
        if second < WINDOW_S {
            continue;
        }
        let least = recent.iter().map(|(_, delay)| *delay).fold(f64::INFINITY, f64::min);
        let verdicts = [
            gradient.judge(now, CAPACITY, Bytes::new(1200)).congested,
            delay - least > ABOVE_LEAST_MS,
            slope(recent.iter().copied()).is_some_and(|slope| slope > 0.0),
        ];
        judged += 1;
        for (right, verdict) in right.iter_mut().zip(verdicts) {
            *right += u32::from(verdict == (ideal > LEAST_MS));
        }
    }
    let share = |index: usize| f64::from(right[index]) / f64::from(judged);
    Accuracy { gradient: share(0), delay_above_least: share(1), delay_over_time: share(2) }
}
