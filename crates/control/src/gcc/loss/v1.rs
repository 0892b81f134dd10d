//! Thresholds of two and ten percent (specs/gcc.md 6.1; libwebrtc `send_side_bandwidth_estimation.cc`).

use thalweg_units::{Rate, Span, Time};

use super::{Input, LossState};
use crate::estimate::WindowedMin;
use crate::feedback::Fate;

/// Losses are evaluated over at least this many packets (`kLimitNumPackets`).
const MIN_PACKETS: u32 = 20;
/// During this time after the start, as long as nothing was lost, the delay-based rate is followed upwards at once
/// (`kStartPhase`).
const START: Span = Span::from_secs(2);
/// Min time between two decreases, in addition to a round trip (`kBweDecreaseInterval`).
const DECREASE_INTERVAL: Span = Span::from_millis(300);
/// The increase is relative to the min rate of the last second, both ends included.
const INCREASE_INTERVAL: Span = Span::from_nanos(1_000_000_001);
/// An evaluation counts for this long (`1.2 * kMaxRtcpFeedbackInterval`).
const VALIDITY: Span = Span::from_secs(6);

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct V1Config {
    /// Losses are evaluated at most this often: the interval of RTCP receiver reports on video, from which libwebrtc
    /// takes them.
    pub interval: Span,
}

impl Default for V1Config {
    fn default() -> V1Config {
        V1Config { interval: Span::from_secs(1) }
    }
}

/// The last evaluation.
#[derive(Debug, Clone, Copy)]
struct Evaluation {
    at: Time,
    /// This many 256ths of the packets were lost.
    fraction: u32,
    /// The rate was not yet lowered for it.
    fresh: bool,
}

/// The rate, and the packets not yet evaluated.
#[derive(Debug, Clone)]
pub(in super::super) struct LossV1 {
    config: V1Config,
    rate: Rate,
    expected: u32,
    lost: u32,
    started: Option<Time>,
    evaluated: Option<Evaluation>,
    decreased: Option<Time>,
    /// Min rate of the last second.
    min: WindowedMin<Rate>,
}

impl LossV1 {
    pub(super) fn new(config: V1Config, start: Rate) -> LossV1 {
        LossV1 {
            config,
            rate: start,
            expected: 0,
            lost: 0,
            started: None,
            evaluated: None,
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
        let since = self.evaluated.map_or(started, |evaluation| evaluation.at);
        if self.expected >= MIN_PACKETS && now - since >= self.config.interval {
            let fraction = (256 * self.lost / self.expected).min(255);
            (self.expected, self.lost) = (0, 0);
            self.evaluated = Some(Evaluation { at: now, fraction, fresh: true });
        }
        self.rate = self.rate.min(input.delay_based);
        let lossless = self.evaluated.is_none_or(|evaluation| evaluation.fraction == 0);
        let follows = input.delay_based > self.rate && input.delay_based < Rate::MAX;
        if lossless && now - started < START && follows {
            self.set_rate(input.delay_based);
        }
        self.min.add(now, self.rate, INCREASE_INTERVAL);
        self.judge(now, input.rtt);
        self.rate = self.rate.clamp(input.min, input.delay_based.min(input.max).max(input.min));
        let state = if self.rate < input.delay_based { LossState::Decreasing } else { LossState::DelayBased };
        (self.rate, state)
    }

    /// Applies the last evaluation: growth with each report, a decrease once.
    fn judge(&mut self, now: Time, rtt: Span) {
        let Some(evaluation) = self.evaluated.as_mut().filter(|evaluation| now - evaluation.at < VALIDITY) else {
            return;
        };
        let share = f64::from(evaluation.fraction) / 256.0;
        if share <= 0.02 {
            let min = self.min.get().unwrap_or(self.rate);
            self.rate = min.scale(1.08) + Rate::from_bps(1000);
        } else if share > 0.10
            && evaluation.fresh
            && self.decreased.is_none_or(|at| now - at >= DECREASE_INTERVAL + rtt)
        {
            evaluation.fresh = false;
            self.decreased = Some(now);
            self.rate = reduced(self.rate, evaluation.fraction);
        }
    }
}

fn reduced(rate: Rate, fraction: u32) -> Rate {
    Rate::from_bps((u128::from(rate.as_bps()) * u128::from(512 - fraction) / 512) as u64)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use thalweg_units::Bytes;

    use super::*;
    use crate::feedback::Report;
    use crate::packet::{PacketId, SentPacket};

    /// Takes a report on a hundred packets at `ms`, of which `lost` are lost; returns the rate in bit/s.
    fn take(v1: &mut LossV1, ms: u64, lost: u64, delay_based: u64) -> u64 {
        let at = Time::from_millis(ms);
        let reports: Vec<Report> = (0..100)
            .map(|index| {
                let packet = SentPacket::new(PacketId(ms + index), at, Bytes::new(1250));
                let arrived = Fate::arrived(at);
                Report { packet, fate: if index < lost { Fate::Lost } else { arrived } }
            })
            .collect();
        let input = Input {
            now: at,
            reports: &reports,
            delay_based: Rate::from_kbps(delay_based),
            acknowledged: None,
            in_alr: false,
            min: Rate::from_kbps(30),
            max: Rate::from_kbps(12_000),
            rtt: Span::from_millis(50),
        };
        v1.update(&input).0.as_bps()
    }

    fn at_a_megabit(interval: Span) -> LossV1 {
        let mut v1 = LossV1::new(V1Config { interval }, Rate::from_kbps(1000));
        take(&mut v1, 0, 5, 1000);
        v1
    }

    #[test]
    fn twelve_lost_of_a_hundred_take_what_the_worked_example_says() {
        let fraction = 256 * 12 / 100;
        assert_eq!(fraction, 30);
        assert_eq!(reduced(Rate::from_kbps(1000), fraction), Rate::from_bps(941_406));
    }

    #[test]
    fn little_loss_grows_by_eight_percent_of_the_least_rate_of_a_second() {
        let mut v1 = at_a_megabit(Span::ZERO);
        assert_eq!(take(&mut v1, 100, 0, 3000), 3_000_000, "in the first two seconds the delay-based rate is followed");
        assert_eq!(take(&mut v1, 2500, 0, 1000), 1_000_000, "never above it");
        assert_eq!(take(&mut v1, 2600, 0, 3000), 1_081_000);
        assert_eq!(take(&mut v1, 2700, 0, 3000), 1_081_000, "not compounded within a second");
        assert_eq!(take(&mut v1, 2800, 5, 3000), 1_081_000, "between 2 and 10 % it holds");
    }

    #[test]
    fn a_loss_above_a_tenth_lowers_the_rate_once_per_receiver_report() {
        let mut v1 = at_a_megabit(Span::from_secs(1));
        assert_eq!(take(&mut v1, 500, 12, 1000), 1_000_000, "not before a second of packets");
        assert_eq!(take(&mut v1, 1000, 12, 1000), 1_000_000, "29 of 300 are less than a tenth");
        assert_eq!(take(&mut v1, 1500, 12, 1000), 1_000_000);
        assert_eq!(take(&mut v1, 2000, 12, 1000), 941_406);
        assert_eq!(take(&mut v1, 2900, 12, 1000), 941_406);
    }
}
