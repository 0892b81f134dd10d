//! Thresholds of two and ten percent (specs/gcc.md 6.1; libwebrtc `send_side_bandwidth_estimation.cc` before 2021).

use thalweg_units::{Rate, Span, Time};

use super::{Input, LossState};
use crate::estimate::WindowedMin;
use crate::feedback::Fate;

/// Losses are evaluated over at least this many packets.
const MIN_PACKETS: u32 = 20;
/// During this time after the start, as long as nothing was lost, the delay-based rate is followed upwards at once.
const START: Span = Span::from_secs(2);
/// Min time between two decreases, in addition to a round trip.
const DECREASE_INTERVAL: Span = Span::from_millis(300);
/// The increase is relative to the min rate of the last second, both ends included.
const INCREASE_INTERVAL: Span = Span::from_nanos(1_000_000_001);

/// The rate, and the packets not yet evaluated.
#[derive(Debug, Clone)]
pub(in super::super) struct LossV1 {
    rate: Rate,
    expected: u32,
    lost: u32,
    started: Option<Time>,
    lossless: bool,
    decreased: Option<Time>,
    /// Min rate of the last second.
    min: WindowedMin<Rate>,
}

impl LossV1 {
    pub(super) fn new(start: Rate) -> LossV1 {
        LossV1 {
            rate: start,
            expected: 0,
            lost: 0,
            started: None,
            lossless: true,
            decreased: None,
            min: WindowedMin::default(),
        }
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.min.clear();
    }

    pub(super) fn update(&mut self, input: &Input<'_>) -> (Rate, LossState) {
        let now = input.now;
        let started = *self.started.get_or_insert(now);
        self.expected += input.reports.len() as u32;
        self.lost += input.reports.iter().filter(|report| report.fate == Fate::Lost).count() as u32;
        self.lossless &= self.lost == 0;
        self.min.add(now, self.rate, INCREASE_INTERVAL);
        if self.lossless && now - started < START && input.delay_based > self.rate {
            self.set_rate(input.delay_based);
        }
        if self.expected >= MIN_PACKETS {
            let fraction = (256 * self.lost / self.expected).min(255);
            (self.expected, self.lost) = (0, 0);
            self.judge(now, fraction, input.rtt);
        }
        self.rate = self.rate.clamp(input.min, input.max.max(input.min));
        let state = if self.rate < input.delay_based { LossState::Decreasing } else { LossState::DelayBased };
        (self.rate, state)
    }

    /// Evaluates a loss of `fraction` / 256 of the packets.
    fn judge(&mut self, now: Time, fraction: u32, rtt: Span) {
        let share = f64::from(fraction) / 256.0;
        if share <= 0.02 {
            let min = self.min.get().unwrap_or(self.rate);
            self.rate = min.scale(1.08) + Rate::from_bps(1000);
        } else if share > 0.10 && self.decreased.is_none_or(|at| now - at >= DECREASE_INTERVAL + rtt) {
            self.decreased = Some(now);
            self.rate = reduced(self.rate, fraction);
        }
    }
}

fn reduced(rate: Rate, fraction: u32) -> Rate {
    Rate::from_bps((u128::from(rate.as_bps()) * u128::from(512 - fraction) / 512) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_lost_of_a_hundred_take_what_the_worked_example_says() {
        let fraction = 256 * 12 / 100;
        assert_eq!(fraction, 30);
        assert_eq!(reduced(Rate::from_kbps(1000), fraction), Rate::from_bps(941_406));
    }

    #[test]
    fn little_loss_grows_by_eight_percent_of_the_least_rate_of_a_second() {
        let mut v1 = LossV1::new(Rate::from_kbps(1000));
        v1.min.add(Time::ZERO, v1.rate, INCREASE_INTERVAL);
        v1.judge(Time::from_millis(100), 0, Span::from_millis(50));
        assert_eq!(v1.rate, Rate::from_bps(1_081_000));
        v1.min.add(Time::from_millis(200), v1.rate, INCREASE_INTERVAL);
        v1.judge(Time::from_millis(200), 0, Span::from_millis(50));
        assert_eq!(v1.rate, Rate::from_bps(1_081_000), "not compounded within a second");
        v1.judge(Time::from_millis(300), 13, Span::from_millis(50));
        assert_eq!(v1.rate, Rate::from_bps(1_081_000), "between 2 and 10 % it holds");
    }
}
