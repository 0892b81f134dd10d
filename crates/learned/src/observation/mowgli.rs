//! An observation of the kind of Mowgli (Agarwal et al., NSDI 2025): what WebRTC's telemetry has, by interval, over the
//! last twenty; in the paper one of 50 ms, so one second. The features are those of docs/learning.md, in units in
//! which a call's values are around 1.

use std::collections::VecDeque;

use thalweg_units::Span;

use super::put;
use crate::Interval;

pub(super) const FEATURES: [&str; 9] = [
    "sent, Mbit/s",
    "acknowledged, Mbit/s",
    "the rate that was set, Mbit/s",
    "mean one-way delay, s",
    "mean one-way delay less that of the interval before, s",
    "newest round trip, s",
    "least round trip ever, s",
    "lost packets over all packets",
    "time since the last report, s",
];
/// Intervals.
pub(super) const PLACES: usize = 20;

pub(super) fn write(intervals: &VecDeque<Interval>, to: &mut [f32]) {
    let mut later: Option<(usize, f64)> = None;
    for (place, interval) in intervals.iter().take(PLACES).enumerate() {
        let seconds = |span: Option<Span>| span.map_or(0.0, Span::as_secs_f64);
        let delay = interval.mean_delay_ms().map(|delay| delay / 1e3);
        let features = [
            interval.send_rate().as_mbps_f64(),
            interval.receive_rate().as_mbps_f64(),
            interval.setting.rate.as_mbps_f64(),
            delay.unwrap_or_default(),
            0.0,
            seconds(interval.round_trip),
            seconds(interval.least_round_trip),
            interval.loss_ratio(),
            interval.since_report.as_secs_f64(),
        ];
        for (feature, value) in features.into_iter().enumerate() {
            put(to, PLACES, (feature, place), value);
        }
        // Of a later interval, now that the one before it is known; an empty one between them is passed over.
        if let Some(delay) = delay {
            if let Some((place, after)) = later {
                put(to, PLACES, (4, place), after - delay);
            }
            later = Some((place, delay));
        }
    }
}
