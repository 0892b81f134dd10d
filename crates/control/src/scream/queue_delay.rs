//! How long packets stand in queues (draft section "Detecting Increased Queue Delay").

use thalweg_units::{Span, Time};

use super::DelayConfig;
use super::competing::DelayTarget;
use crate::estimate::BaseDelay;

/// qdelay, qdelay_avg, and whether the queue never empties.
#[derive(Debug, Clone)]
pub(super) struct QueueDelay {
    config: DelayConfig,
    base: BaseDelay,
    target: DelayTarget,
    /// qdelay: the newest packet's.
    latest: Span,
    /// qdelay_avg: slow to rise, quick to fall.
    average: Span,
    updated: Option<Time>,
    /// When the queue was last seen nearly empty.
    empty_at: Option<Time>,
    draining_until: Option<Time>,
}

impl QueueDelay {
    pub(super) fn new(config: DelayConfig) -> QueueDelay {
        QueueDelay {
            base: BaseDelay::new(config.base_bins, config.base_bin),
            target: DelayTarget::new(config.target, config.competing),
            latest: Span::ZERO,
            average: Span::ZERO,
            updated: None,
            empty_at: None,
            draining_until: None,
            config,
        }
    }

    /// A packet was under way for `delay`, by two clocks; the average moves once each `every`. Whether a drain begins.
    pub(super) fn on_delay(&mut self, now: Time, delay: Span, every: Span, srtt: Span) -> bool {
        self.base.add(now, delay);
        self.latest = self.base.get().map_or(Span::ZERO, |base| delay - base);
        if self.updated.is_none_or(|at| now - at >= every) {
            self.updated = Some(now);
            self.average = if self.latest < self.average {
                self.latest
            } else {
                self.average + (self.latest - self.average).scale(self.config.gain)
            };
        }
        self.judge_stuck(now, srtt)
    }

    fn judge_stuck(&mut self, now: Time, srtt: Span) -> bool {
        let Some(drain) = self.config.drain else { return false };
        if let Some(until) = self.draining_until {
            if now >= until {
                self.draining_until = None;
                self.base.clear();
                self.empty_at = Some(now);
            }
            return false;
        }
        let empty_at = *self.empty_at.get_or_insert(now);
        if self.latest <= drain.above {
            self.empty_at = Some(now);
        } else if now - empty_at >= drain.after {
            self.draining_until = Some(now + srtt.scale(drain.rtts));
            return true;
        }
        false
    }

    /// The delay of the newest packet.
    pub(super) fn latest(&self) -> Span {
        self.latest
    }

    /// qdelay_avg.
    pub(super) fn average(&self) -> Span {
        self.average
    }

    /// qdelay_target.
    pub(super) fn target(&self) -> Span {
        self.target.get()
    }

    /// So is the queue as of this report, and something was lost or not.
    pub(super) fn adjust_target(&mut self, now: Time, lost: bool, srtt: Span) {
        self.target.on_report(now, self.latest, lost, srtt);
    }

    /// Whether the target is halved to let the queue empty.
    pub(super) fn draining(&self) -> bool {
        self.draining_until.is_some()
    }

    /// a: 0 where the average is at half the target, 1 at the target.
    pub(super) fn alpha(&self) -> f64 {
        let half = self.target() / 2;
        (self.average - half).ratio(half.max(Span::from_nanos(1))).clamp(0.0, 1.0)
    }

    #[cfg(test)]
    pub(super) fn standing_at(average: Span) -> QueueDelay {
        QueueDelay { average, latest: average, ..QueueDelay::new(DelayConfig::default()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scream::Drain;
    use alloc::vec::Vec;

    #[test]
    fn the_reaction_begins_at_half_the_target_and_is_whole_at_the_target() {
        for (average, alpha) in [(30, 0.0), (45, 0.5), (60, 1.0), (10, 0.0), (200, 1.0)] {
            let queue = QueueDelay::standing_at(Span::from_millis(average));
            assert!((queue.alpha() - alpha).abs() < 1e-9, "{average} ms: {}", queue.alpha());
        }
    }

    #[test]
    fn the_average_rises_by_quarters_once_a_virtual_round_trip_and_falls_at_once() {
        let mut queue = QueueDelay::new(DelayConfig::default());
        let every = Span::from_millis(25);
        let averages: Vec<i64> = [(0, 100), (25, 180), (30, 400), (50, 180), (75, 110)]
            .into_iter()
            .map(|(at, delay)| {
                queue.on_delay(Time::from_millis(at), Span::from_millis(delay), every, every * 2);
                queue.average().as_millis()
            })
            .collect();
        assert_eq!(averages, [0, 20, 20, 35, 10]);
    }

    #[test]
    fn a_queue_that_never_empties_is_drained_and_its_base_learnt_anew() {
        let config = DelayConfig { drain: Some(Drain::default()), ..DelayConfig::default() };
        let mut queue = QueueDelay::new(config);
        let srtt = Span::from_millis(100);
        let mut began = Vec::new();
        for tenth in 0..250 {
            let delay = Span::from_millis(if tenth == 0 { 50 } else { 60 });
            if queue.on_delay(Time::from_millis(100 * tenth), delay, srtt, srtt) {
                began.push(tenth);
            }
            assert_eq!(queue.draining(), (200..205).contains(&tenth), "{tenth}");
        }
        assert_eq!(began, [200]);
        assert_eq!(queue.latest(), Span::ZERO, "60 ms is the path's delay now");
    }
}
