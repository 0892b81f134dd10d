//! Queueing delay (draft section "Detecting Increased Queue Delay").

use thalweg_units::{Span, Time};

use super::DelayConfig;
use super::drain::Drain;
use crate::estimate::BaseDelay;

/// qdelay and qdelay_avg.
#[derive(Debug, Clone)]
pub(super) struct QueueDelay {
    config: DelayConfig,
    base: BaseDelay,
    /// qdelay of the newest packet.
    latest: Span,
    /// qdelay_avg: rises slowly, falls quickly.
    average: Span,
    updated: Option<Time>,
    drain: Drain,
}

impl QueueDelay {
    pub(super) fn new(config: DelayConfig) -> QueueDelay {
        QueueDelay {
            base: BaseDelay::new(config.base_bins, config.base_bin),
            latest: Span::ZERO,
            average: Span::ZERO,
            updated: None,
            drain: Drain::default(),
            config,
        }
    }

    /// Takes the one-way delay of a packet, by two clocks, and the round trip; the average is updated once per `every`.
    pub(super) fn on_delay(&mut self, now: Time, delay: Span, every: Span, srtt: Span) {
        if let Some(drain) = &self.config.drain
            && self.drain.on_delay(now, self.latest, srtt, self.config.target, drain)
        {
            self.base = BaseDelay::new(self.config.base_bins, self.config.base_bin);
            self.average = Span::ZERO;
        }
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
    }

    /// The queueing delay of the newest packet.
    pub(super) fn latest(&self) -> Span {
        self.latest
    }

    /// qdelay_avg.
    pub(super) fn average(&self) -> Span {
        self.average
    }

    /// Factor on the target: less than 1 while a queue that stood for long is drained.
    pub(super) fn share(&self) -> f64 {
        self.config.drain.filter(|_| self.drain.is_draining()).map_or(1.0, |drain| drain.share)
    }

    /// qdelay_target.
    pub(super) fn target(&self) -> Span {
        self.config.target
    }

    /// a: 0 if the average is at half the target, 1 at the target.
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
                queue.on_delay(Time::from_millis(at), Span::from_millis(delay), every, every);
                queue.average().as_millis()
            })
            .collect();
        assert_eq!(averages, [0, 20, 20, 35, 10]);
    }
}
