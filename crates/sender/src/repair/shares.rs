//! How much of the target goes to repair (specs/camel.md 6.1, from what Camel section 5.3 implies) (R).
//!
//! The target is a budget for the wire; the encoder gets what FEC and retransmissions leave of it. A [`Budget`] takes
//! the same feedback as the controller.

use thalweg_control::{Cause, Fate, Feedback};
use thalweg_units::{ConfigError, Rate, Span, above_to, check};

/// How the shares of the target follow from the share of lost packets, p.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The weight of a new report in p.
    pub gain: f64,
    /// The share of FEC is p times this ...
    pub redundancy: f64,
    /// ... or p times this where a retransmission comes late or is likely to be lost itself: ...
    pub more_redundancy: f64,
    /// ... where the min round trip is longer than this, ...
    pub long_round_trip: Span,
    /// ... or p is larger than this;
    pub high_loss: f64,
    /// but never more than this share of the target (ours: 0.25; specs/camel.md: 0.5).
    pub max_redundancy: f64,
    /// The share of retransmissions is p, but never more than this (ours: 0.6; specs/camel.md: 0.3). When half of the
    /// packets are lost, half of the retransmissions are too: with the limits of specs/camel.md media get a fifth,
    /// retransmissions wait, and the picture freezes for 47 % of the time instead of 42 % (docs/papers/camel.md,
    /// Figure 19).
    pub max_retransmissions: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            gain: 0.2,
            redundancy: 0.5,
            more_redundancy: 1.25,
            long_round_trip: Span::from_millis(100),
            high_loss: 0.10,
            max_redundancy: 0.25,
            max_retransmissions: 0.6,
        }
    }
}

/// Shares of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// f_fec: the share of FEC, 0..=1.
    pub redundancy: f64,
    /// f_rtx: the share of retransmissions, 0..=1.
    pub retransmissions: f64,
}

impl Shares {
    /// The rate of both together, out of `target`.
    pub fn of(&self, target: Rate) -> Rate {
        target.scale(self.redundancy + self.retransmissions)
    }
}

/// p and the values that follow from it.
#[derive(Debug, Clone)]
pub struct Budget {
    config: Config,
    loss: f64,
    round_trip: Span,
}

impl Budget {
    /// The initial budget, before any loss.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Budget, ConfigError> {
        check("repair.gain", config.gain).within(above_to(0.0, 1.0), "0.2")?;
        for (name, value) in [
            ("repair.redundancy", config.redundancy),
            ("repair.more_redundancy", config.more_redundancy),
            ("repair.high_loss", config.high_loss),
        ] {
            check(name, value).within(0.0..f64::INFINITY, "the default")?;
        }
        let (redundancy, retransmissions) = (config.max_redundancy, config.max_retransmissions);
        check("repair shares", format_args!("{redundancy} and {retransmissions}")).is(
            redundancy >= 0.0 && retransmissions >= 0.0 && redundancy + retransmissions < 1.0,
            "0 or more, together below 1: media is left",
        )?;
        Ok(Budget { config, loss: 0.0, round_trip: Span::ZERO })
    }

    /// Takes the losses in a report. Packets given up after a long feedback timeout do not count.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.round_trip = feedback.min_rtt.unwrap_or(self.round_trip);
        let reports = || feedback.reports.iter().filter(|r| !matches!(r.fate, Fate::Arrived { was_lost: true, .. }));
        let all = reports().count();
        if feedback.cause == Cause::FeedbackTimeout || all == 0 {
            return;
        }
        let lost = reports().filter(|report| report.fate == Fate::Lost).count();
        self.loss += self.config.gain * (lost as f64 / all as f64 - self.loss);
    }

    /// The shares that may be spent now.
    pub fn shares(&self) -> Shares {
        let config = &self.config;
        let hard = self.round_trip > config.long_round_trip || self.loss > config.high_loss;
        let factor = if hard { config.more_redundancy } else { config.redundancy };
        Shares {
            redundancy: (factor * self.loss).min(config.max_redundancy),
            retransmissions: self.loss.min(config.max_retransmissions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use thalweg_control::{Acknowledgement, History, LossDetectionConfig};
    use thalweg_control::{PacketId, SentPacket};
    use thalweg_units::{Bytes, Time};

    /// The shares after many reports of twenty packets each, of which `lost` were lost, over this round trip.
    fn shares(config: Config, lost: u64, round_trip_ms: u64) -> Shares {
        let mut history = History::new(LossDetectionConfig::default());
        let mut budget = Budget::new(config).unwrap();
        for round in 0..60u64 {
            let sent = Time::from_millis(round * 1000);
            for id in round * 20..round * 20 + 20 {
                history.on_sent(SentPacket::new(PacketId(id), sent, Bytes::new(1200)));
            }
            let arrived = round * 20 + lost..round * 20 + 20;
            let at = sent + Span::from_millis(round_trip_ms as i64);
            let reported: Vec<Acknowledgement> =
                arrived.map(|id| Acknowledgement::new(PacketId(id), Some(at))).collect();
            budget.on_feedback(&history.on_report(at, &reported, None));
        }
        budget.shares()
    }

    fn assert_near(shares: Shares, redundancy: f64, retransmissions: f64) {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-4;
        assert!(near(shares.redundancy, redundancy) && near(shares.retransmissions, retransmissions), "{shares:?}");
    }

    #[test]
    fn redundancy_grows_where_retransmissions_come_late_or_fail() {
        // The limits of specs/camel.md 6.1.
        let specified = Config { max_redundancy: 0.5, max_retransmissions: 0.3, ..Config::default() };
        for config in [Config::default(), specified] {
            assert_near(shares(config, 0, 50), 0.0, 0.0);
            assert_near(shares(config, 1, 50), 0.025, 0.05);
            assert_near(shares(config, 1, 150), 0.0625, 0.05);
            assert_near(shares(config, 4, 50), 0.25, 0.2);
        }
        assert_near(shares(Config::default(), 10, 50), 0.25, 0.5);
        let max = shares(specified, 10, 50);
        assert_near(max, 0.5, 0.3);
        assert_eq!(max.of(Rate::from_kbps(1000)), Rate::from_kbps(800));
    }

    #[test]
    fn shares_that_leave_no_media_are_refused() {
        assert!(Budget::new(Config { max_retransmissions: 0.8, ..Config::default() }).is_err());
        assert!(Budget::new(Config { gain: 0.0, ..Config::default() }).is_err());
    }
}
