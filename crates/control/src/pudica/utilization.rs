//! R: the share of a frame interval that the path needs for a frame, and for the bytes queued before and after it.

use thalweg_units::{Span, Time};

use super::Config;
use crate::trains::Train;

/// A frame's bandwidth utilisation ratio (BUR).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Utilization {
    /// R.
    pub(super) ratio: f64,
    /// True if it follows from the frame's delay, false if from heavy loss.
    pub(super) by_delay: bool,
}

/// R = (D - D_min) / L, with D from the first packet sent to the last one received, plus what the probes in the idle
/// part add: queues that other flows built after the frame. `None` for a frame of which nothing arrived if losses are
/// not counted.
pub(super) fn of_train(train: &Train, min: Span, interval: Span, pacing: f64, config: &Config) -> Option<Utilization> {
    if 1.0 - train.arrived_share() > config.max_lost {
        return Some(Utilization { ratio: config.lost_utilization, by_delay: false });
    }
    let last = train.last_arrival?;
    let raw = (last - train.began - min).max(Span::ZERO).ratio(interval);
    let hidden = hidden(train, last, min, interval.scale(1.0 - 1.0 / pacing)).ratio(interval);
    Some(Utilization { ratio: raw + hidden, by_delay: true })
}

/// The sum of T_i: the queueing delay of probe i, but no more than the time by which it arrived after the frame's last
/// packet, nor its part of the idle time.
fn hidden(train: &Train, last: Time, min: Span, idle: Span) -> Span {
    let probes = train.followers().count() as i64;
    let part = idle / (probes + 1);
    let waited = |(sent, at): (Time, Time)| (at - sent - min).min(at - last).min(part).max(Span::ZERO);
    train.followers().map(waited).sum()
}

/// rho: the smaller the share of the path that a frame takes, the faster the next one leaves, so that its delay shows
/// the path and not the pacer.
pub(super) fn pacing(ratio: f64, config: &Config) -> f64 {
    (config.pacing_gain / ratio.clamp(1e-3, 1.0)).clamp(config.pacing_gain, config.max_pacing)
}
