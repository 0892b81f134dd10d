//! A longer queueing delay is borne where others keep the queue full (draft section "Competing Flows Compensation").

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use super::Competing;

/// How many delays the variance is taken over, and of the newest how many the average.
const HISTORY: (usize, usize) = (200, 50);

/// qdelay_target, and what it follows from.
#[derive(Debug, Clone)]
pub(super) struct DelayTarget {
    config: Option<Competing>,
    /// QDELAY_TARGET_LO.
    least: Span,
    target: Span,
    /// Delays in units of the least target, the newest last.
    delays: VecDeque<f64>,
    sampled: Option<Time>,
    /// loss_event_rate: the share of round trips in which something was lost.
    loss_events: f64,
    round_began: Time,
    lost: bool,
}

impl DelayTarget {
    pub(super) fn new(least: Span, config: Option<Competing>) -> DelayTarget {
        DelayTarget {
            config,
            least,
            target: least,
            delays: VecDeque::new(),
            sampled: None,
            loss_events: 0.0,
            round_began: Time::ZERO,
            lost: false,
        }
    }

    pub(super) fn get(&self) -> Span {
        self.target
    }

    /// A report tells of a queueing delay, and perhaps of losses.
    pub(super) fn on_report(&mut self, now: Time, delay: Span, lost: bool, srtt: Span) {
        let Some(config) = self.config else { return };
        self.lost |= lost;
        if now - self.round_began >= srtt {
            let lost = f64::from(u8::from(core::mem::take(&mut self.lost)));
            self.loss_events += config.loss_gain * (lost - self.loss_events);
            self.round_began = now;
        }
        if self.sampled.is_none_or(|at| now - at >= config.interval) {
            self.sampled = Some(now);
            self.delays.push_back(delay.ratio(self.least));
            if self.delays.len() > HISTORY.0 {
                self.delays.pop_front();
            }
            self.adjust(&config);
        }
    }

    fn adjust(&mut self, config: &Competing) {
        let mean = |of: &mut dyn Iterator<Item = f64>, count: usize| of.sum::<f64>() / count.max(1) as f64;
        let count = self.delays.len();
        let all = mean(&mut self.delays.iter().copied(), count);
        let variance = mean(&mut self.delays.iter().map(|delay| (delay - all) * (delay - all)), count);
        let average = mean(&mut self.delays.iter().rev().take(HISTORY.1).copied(), count.min(HISTORY.1));
        let bears = self.least.scale(average + libm::sqrt(variance));
        let target = if self.loss_events > config.loss_events {
            bears.scale(1.5)
        } else if variance < config.variance {
            bears
        } else if bears < self.least {
            // Down at once, for as long as it is far above what is measured.
            (self.target / 2).max(bears)
        } else {
            self.target.scale(0.9)
        };
        self.target = target.clamp(self.least, config.most.max(self.least));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of reports each 50 ms.
    fn after(config: Option<Competing>, delay: impl Fn(u64) -> i64, lost: impl Fn(u64) -> bool) -> Span {
        let mut target = DelayTarget::new(Span::from_millis(60), config);
        for tick in 0..200 {
            let delay = Span::from_millis(delay(tick));
            target.on_report(Time::from_millis(50 * tick), delay, lost(tick), Span::from_millis(100));
        }
        target.get()
    }

    #[test]
    fn a_queue_that_others_keep_full_raises_the_target_to_its_delay_and_losses_to_half_more() {
        let some = Some(Competing::default());
        assert_eq!(after(some, |_| 30, |_| false), Span::from_millis(60));
        assert_eq!(after(some, |_| 150, |_| false), Span::from_millis(150));
        assert_eq!(after(some, |_| 150, |tick| tick % 10 == 0), Span::from_millis(225));
        assert_eq!(after(some, |_| 900, |_| false), Span::from_millis(400));
        assert_eq!(after(None, |_| 900, |_| true), Span::from_millis(60));
    }

    #[test]
    fn a_delay_that_comes_and_goes_does_not() {
        let swings = |tick| if tick % 20 < 10 { 10 } else { 110 };
        assert!(after(Some(Competing::default()), swings, |_| false) <= Span::from_millis(75));
    }
}
