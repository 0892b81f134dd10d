//! x_curr: delay, losses and marks as one signal (RFC 8698 section 4.2).

use thalweg_units::{Span, Time};

use super::SignalConfig;
use super::losses::LossIntervals;
use super::observed::{Observed, Seen};
use crate::estimate::{BaseDelay, WindowedMin};
use crate::feedback::{Fate, Feedback};

/// Measures congestion.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    config: SignalConfig,
    base: BaseDelay,
    /// The min delay of the last few packets, by packet count.
    filtered: WindowedMin<Span, u64>,
    packets: u64,
    pub(super) observed: Observed,
    intervals: LossIntervals,
    /// p_loss.
    pub(super) loss_ratio: f64,
    /// p_mark.
    pub(super) mark_ratio: f64,
}

impl Signal {
    pub(super) fn new(config: SignalConfig) -> Signal {
        Signal {
            base: BaseDelay::new(config.base_bins, config.base_bin),
            filtered: WindowedMin::default(),
            packets: 0,
            observed: Observed::default(),
            intervals: LossIntervals::default(),
            loss_ratio: 0.0,
            mark_ratio: 0.0,
            config,
        }
    }

    /// For packets sent until `unreported_until` it is unknown whether they or their reports were lost.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, rtt: Span, unreported_until: Time) {
        for report in feedback.reports {
            let mut late = false;
            let seen = match report.fate {
                Fate::Lost if report.packet.at <= unreported_until => continue,
                Fate::Lost => Seen::Lost(report.packet.id),
                Fate::Arrived { at, was_lost, .. } => {
                    late = was_lost && report.packet.at > unreported_until;
                    let delay = at - report.packet.at;
                    self.on_delay(feedback.now, delay);
                    let queued = self.base.get().is_some_and(|base| delay - base >= self.config.quiet);
                    Seen::Arrived { size: report.packet.size, marked: report.fate.is_marked(), queued }
                }
            };
            if late {
                self.intervals.take_back(report.packet.id);
                self.observed.take_back(report.packet.id);
            } else {
                self.intervals.on_packet(&report.packet, report.fate == Fate::Lost, rtt);
            }
            self.observed.add(report.arrival(), seen, self.config.window);
        }
    }

    fn on_delay(&mut self, now: Time, delay: Span) {
        self.base.add(now, delay);
        self.packets += 1;
        self.filtered.add(self.packets, delay, self.config.filter);
    }

    /// d: the queueing delay.
    pub(super) fn delay(&self) -> Span {
        match (self.filtered.get(), self.base.get()) {
            (Some(delay), Some(base)) => (delay - base).max(Span::ZERO),
            _ => Span::ZERO,
        }
    }

    /// Updates the ratios and computes x.
    pub(super) fn update(&mut self) -> Span {
        self.loss_ratio += self.config.gain * (self.observed.loss_ratio() - self.loss_ratio);
        self.mark_ratio += self.config.gain * (self.observed.mark_ratio() - self.mark_ratio);
        self.config.aggregate(self.delay(), self.intervals.since_last(), self.loss_ratio, self.mark_ratio)
    }

    /// Which problem packets met recently, losses or a queue; `None` if the path is free.
    pub(super) fn trouble(&self) -> Option<&'static str> {
        if self.observed.any_lost() {
            Some("packets were lost")
        } else {
            self.observed.any_queued().then_some("packets stood in a queue")
        }
    }
}

impl SignalConfig {
    /// Warped delay: above QTH it counts less, because losses already signal an overflowing queue.
    fn warped(&self, delay: Span) -> Span {
        if delay < self.warp_from {
            return delay;
        }
        self.warp_from.scale(libm::exp(-self.warp * (delay - self.warp_from).ratio(self.warp_from)))
    }

    /// d~: warped while losses are recent, then returning to the actual delay over one more loss interval.
    fn non_linear(&self, delay: Span, losses_ago: Option<f64>) -> Span {
        let Some(ago) = losses_ago else { return delay };
        let share = (ago - self.recent_loss).clamp(0.0, 1.0);
        let warped = self.warped(delay);
        warped + (delay - warped).scale(share)
    }

    fn aggregate(&self, delay: Span, losses_ago: Option<f64>, loss_ratio: f64, mark_ratio: f64) -> Span {
        let squared = |ratio: f64, of: f64| (ratio / of) * (ratio / of);
        let signal = self.non_linear(delay, losses_ago)
            + self.mark_delay.scale(squared(mark_ratio, self.mark_ratio))
            + self.loss_delay.scale(squared(loss_ratio, self.loss_ratio));
        signal.min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use proptest::prelude::*;

    fn ms(millis: f64) -> Span {
        Span::from_millis_f64(millis)
    }

    #[test]
    fn delay_counts_less_and_less_beyond_fifty_milliseconds_while_losses_are_recent() {
        let config = SignalConfig::default();
        for (delay, warped) in [(20.0, 20.0), (50.0, 50.0), (100.0, 30.327), (150.0, 18.394)] {
            assert!((config.warped(ms(delay)) - ms(warped)).abs() < ms(1e-3), "{delay}");
        }
        // No loss, long ago, half way back, recent.
        for (ago, counts) in [(None, 100.0), (Some(9.0), 100.0), (Some(7.5), 65.163), (Some(3.0), 30.327)] {
            assert!((config.non_linear(ms(100.0), ago) - ms(counts)).abs() < ms(1e-3), "{ago:?}");
        }
    }

    #[test]
    fn delay_losses_and_marks_add_up_to_half_a_second_at_most() {
        let config = SignalConfig::default();
        for (delay, ago, loss, mark, signal) in [
            (20.0, None, 0.0, 0.0, 20.0),
            (20.0, Some(0.0), 0.01, 0.0, 30.0),
            (20.0, Some(0.0), 0.03, 0.0, 110.0),
            (100.0, Some(0.0), 0.02, 0.0, 70.327),
            (20.0, None, 0.0, 0.02, 28.0),
            (0.0, Some(0.0), 0.05, 0.0, 250.0),
            (20.0, Some(0.0), 0.2, 0.0, 500.0),
        ] {
            assert!((config.aggregate(ms(delay), ago, loss, mark) - ms(signal)).abs() < ms(1e-3), "{signal}");
        }
    }

    #[test]
    fn the_least_of_fifteen_delays_counts_by_any_clock() {
        let mut signal = Signal::new(SignalConfig::default());
        let behind = Span::from_secs(-100);
        for packet in 0..40u64 {
            signal.on_delay(
                Time::from_millis(packet),
                behind + Span::from_millis(if packet == 20 { 30 } else { 45 + packet as i64 % 3 }),
            );
            // 45 ms count as the path's own delay until the 30 ms packet, which is then the min of fifteen packets
            // while it is among them.
            let expected = if packet < 35 { 0 } else { 15 };
            assert_eq!(signal.delay(), Span::from_millis(expected), "{packet}");
        }
    }

    #[test]
    fn the_loss_ratio_is_averaged_by_tenths() {
        let mut signal = Signal::new(SignalConfig::default());
        signal.observed.add(None, Seen::Lost(PacketId(0)), Span::from_millis(500));
        signal.update();
        assert!((signal.loss_ratio - 0.1).abs() < 1e-9);
        signal.update();
        assert!((signal.loss_ratio - 0.19).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn more_losses_and_marks_never_lower_the_signal_and_recent_ones_never_raise_the_delays_part(
            delay in 0.0f64..2000.0, ago in 0.0f64..20.0, loss in 0.0f64..1.0, mark in 0.0f64..1.0, more in 0.0f64..0.5
        ) {
            let config = SignalConfig::default();
            let of = |ago, loss, mark| config.aggregate(ms(delay), ago, loss, mark);
            let signal = of(Some(ago), loss, mark);
            prop_assert!(signal >= Span::ZERO && signal <= config.max);
            prop_assert!(of(Some(ago), loss + more, mark) >= signal && of(Some(ago), loss, mark + more) >= signal);
            prop_assert!(signal <= of(None, loss, mark) && signal <= of(Some(ago + more), loss, mark));
        }
    }
}
