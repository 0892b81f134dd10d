//! The observation of the challenge of ACM MMSys 2024, "Offline Reinforcement Learning for Bandwidth Estimation in Real
//! Time Communications" (its page "Data" and docs/learning.md): the last five intervals at places 0 to 4, and at
//! places 5 to 9 the last five of ten intervals each. There an interval has 60 ms; here it has that of the environment.
//!
//! Readings, where the page is silent: place 0 is the newest; the long intervals end with the newest short one; a feature
//! of packets that did not arrive is 0; the challenge's estimator ran at the receiver, this one counts a packet when its
//! report arrives ([`Interval`]).

use std::collections::VecDeque;

use super::put;
use crate::Interval;

pub(super) const FEATURES: [&str; 15] = [
    "receiving rate, bit/s",
    "packets",
    "bytes",
    "queueing delay, ms: the mean delay less the least ever",
    "delay, ms: the mean delay less 200 ms",
    "least delay ever, ms",
    "mean delay over the least of the interval",
    "mean delay less the least of the interval, ms",
    "mean time between arrivals, ms",
    "standard deviation of the time between arrivals, ms",
    "lost packets over all packets",
    "mean run of lost packets",
    "video over all packets",
    "audio over all packets",
    "padding and probes over all packets",
];
/// Five short and five long intervals.
pub(super) const PLACES: usize = 10;
const SHORT: usize = 5;
/// Short intervals in a long one: 600 ms of 60 ms.
const LONG: usize = 10;
/// Past intervals that it needs.
pub(super) const INTERVALS: usize = (PLACES - SHORT) * LONG;
/// Base delay subtracted from delays, in ms.
const BASE_DELAY: f64 = 200.0;

pub(super) fn write(intervals: &VecDeque<Interval>, to: &mut [f32]) {
    for (place, interval) in intervals.iter().take(SHORT).enumerate() {
        write_one(interval, place, to);
    }
    let mut rest = intervals.iter();
    for place in SHORT..PLACES {
        let long = rest.by_ref().take(LONG).copied().reduce(|newer, older| newer.joined(&older));
        let Some(long) = long else { break };
        write_one(&long, place, to);
    }
}

fn write_one(interval: &Interval, place: usize, to: &mut [f32]) {
    let packets = f64::from(interval.packets);
    let share = |count: u32| f64::from(count) / packets.max(1.0);
    let mean = interval.mean_delay_ms();
    let above = |base: Option<f64>| mean.zip(base).map_or(0.0, |(mean, base)| mean - base);
    let least = interval.least_of_interval_ms();
    let ratio = mean.zip(least).map_or(0.0, |(mean, least)| if least > 0.0 { mean / least } else { 1.0 });
    let gap = interval.gap_ms().unwrap_or_default();
    let video = interval.packets - interval.audio - interval.probing;
    let features = [
        interval.receive_rate().as_bps_f64(),
        packets,
        interval.received.as_f64(),
        above(Some(interval.least_delay_ms())),
        above(Some(BASE_DELAY)),
        interval.least_delay_ms(),
        ratio,
        above(least),
        gap.0,
        gap.1,
        interval.loss_ratio(),
        interval.mean_loss_run(),
        share(video),
        share(interval.audio),
        share(interval.probing),
    ];
    for (feature, value) in features.into_iter().enumerate() {
        put(to, PLACES, (feature, place), value);
    }
}
