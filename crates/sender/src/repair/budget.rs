//! How much repair may take of the wire: shares computed from the losses ([`shares`]), and a token bucket that limits
//! retransmissions to theirs.

use thalweg_control::Feedback;
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, check};

use super::shares;

/// The shares, and how strictly retransmissions are limited to theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How shares of the wire follow from losses.
    pub shares: shares::Config,
    /// Retransmissions are limited to this many times their share, because the share is a mean: a stream that is
    /// limited to retransmitting exactly as much as it loses never catches up, and freezes until a keyframe for every
    /// refused retransmission (R).
    pub slack: f64,
    /// The min share of the wire open to retransmissions, however little was lost recently, 0..=1 (R).
    pub min: f64,
    /// After a time without retransmissions, as much may be retransmitted at once as the whole wire carries in this
    /// time: losses come in bursts, and are reported before the shares grow (R).
    pub burst: Span,
    /// A retransmission that would have to wait longer than this is refused: by then the receiver asks again or no
    /// longer needs it (R).
    pub max_delay: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            shares: shares::Config::default(),
            slack: 2.0,
            min: 0.1,
            burst: Span::from_millis(200),
            max_delay: Span::from_millis(200),
        }
    }
}

impl Config {
    /// The initial budget, before any loss.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Budget, ConfigError> {
        check("repair.budget.slack", self.slack).within(1.0..f64::INFINITY, "2")?;
        check("repair.budget.min", self.min).within(0.0..=1.0, "0.1")?;
        for (name, value) in [("repair.budget.burst", self.burst), ("repair.budget.max_delay", self.max_delay)] {
            check(name, value).within(Span::ZERO.., "200ms")?;
        }
        let bucket = Bucket { credit: 0.0, max: 0.0, rate: Rate::ZERO, at: Time::ZERO, free: Time::ZERO };
        Ok(Budget { config: self, shares: shares::Budget::new(self.shares)?, wire: None, bucket })
    }
}

/// The shares, and what is left of the one for retransmissions.
#[derive(Debug, Clone)]
pub struct Budget {
    config: Config,
    shares: shares::Budget,
    /// The estimated capacity of the path, once there is an estimate.
    wire: Option<Rate>,
    bucket: Bucket,
}

impl Budget {
    /// Takes feedback on sent packets.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.shares.on_feedback(feedback);
        self.bucket.set_rate(feedback.now, self.retransmission_rate());
    }

    /// Sets the estimated capacity of the path.
    pub fn set_wire(&mut self, now: Time, wire: Rate) {
        let first = self.wire.replace(wire).is_none();
        self.bucket.max = wire.over(self.config.burst).as_f64();
        if first {
            self.bucket.credit = self.bucket.max;
        }
        self.bucket.set_rate(now, self.retransmission_rate());
    }

    /// Budget available now, as shares of the wire.
    pub fn shares(&self) -> shares::Shares {
        self.shares.shares()
    }

    fn retransmission_rate(&self) -> Rate {
        let share = (self.shares().retransmissions * self.config.slack).clamp(self.config.min, 1.0);
        self.wire.unwrap_or(Rate::ZERO).scale(share)
    }

    /// When the next retransmission may leave.
    pub fn next_retransmission(&self) -> Time {
        self.bucket.free
    }

    /// A retransmission leaves now.
    pub fn on_retransmission(&mut self, now: Time, size: Bytes) {
        self.bucket.take(now, size);
    }

    /// Returns true if a new retransmission would leave within the max delay, behind `waiting` bytes of others.
    pub fn has_room(&self, now: Time, waiting: Bytes) -> bool {
        self.bucket.free_after(now, waiting) <= now + self.config.max_delay
    }
}

/// A token bucket that may go into debt: while the credit is not negative, one more packet may leave.
#[derive(Debug, Clone)]
struct Bucket {
    /// In bytes.
    credit: f64,
    max: f64,
    rate: Rate,
    at: Time,
    /// When the credit is no longer negative.
    free: Time,
}

impl Bucket {
    fn refill(&mut self, now: Time) {
        self.credit = self.credit_at(now);
        self.at = now;
        self.free = if self.credit >= 0.0 { now } else { now + self.rate.time_for(owed(self.credit)) };
    }

    fn credit_at(&self, now: Time) -> f64 {
        let earned = self.rate.as_bps_f64() / 8.0 * (now - self.at).as_secs_f64();
        (self.credit + earned).min(self.max)
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.refill(now);
        self.rate = rate;
        self.refill(now);
    }

    fn take(&mut self, now: Time, size: Bytes) {
        self.refill(now);
        self.credit -= size.as_f64();
        self.refill(now);
    }

    fn free_after(&self, now: Time, spent: Bytes) -> Time {
        let credit = self.credit_at(now) - spent.as_f64();
        if credit >= 0.0 { now } else { now + self.rate.time_for(owed(credit)) }
    }
}

/// The debt.
fn owed(credit: f64) -> Bytes {
    Bytes::new(libm::ceil(-credit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use thalweg_control::{Acknowledgement, History, LossDetectionConfig, PacketId, SentPacket};

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// A budget after a loss of a fifth of all packets, over 1 Mbps and a round trip of 50 ms.
    fn lossy() -> (Budget, Time) {
        let mut budget = Config { slack: 1.0, min: 0.0, ..Config::default() }.build().unwrap();
        let mut history = History::new(LossDetectionConfig::default());
        budget.set_wire(Time::ZERO, Rate::from_kbps(1000));
        for round in 0..60 {
            for id in round * 20..round * 20 + 20 {
                history.on_sent(SentPacket::new(PacketId(id), at(round * 100), Bytes::new(1000)));
            }
            let arrived = round * 20 + 4..round * 20 + 20;
            let arrival = Some(at(round * 100 + 50));
            let reported: Vec<_> = arrived.map(|id| Acknowledgement::new(PacketId(id), arrival)).collect();
            budget.on_feedback(&history.on_report(at(round * 100 + 50), &reported, None));
        }
        (budget, at(60 * 100))
    }

    #[test]
    fn retransmissions_take_what_was_saved_and_then_their_share() {
        let (mut budget, mut now) = lossy();
        assert!((budget.shares().retransmissions - 0.2).abs() < 1e-3);
        let mut sent = Vec::new();
        while sent.len() < 60 {
            now = now.max(budget.next_retransmission());
            budget.on_retransmission(now, Bytes::new(1000));
            sent.push(now);
        }
        // 200 ms of 1 Mbps are 25,000 bytes, and one more packet goes on credit; after that, 200 kbps are 25 packets
        // per second.
        assert!(sent[25] == sent[0] && sent[26] > sent[0]);
        let rate = Bytes::new(1000 * 30).per(sent[59] - sent[29]);
        assert!(rate.as_bps().abs_diff(200_000) < 2_000, "{rate}");
    }

    #[test]
    fn a_retransmission_is_promised_only_if_it_comes_in_time() {
        let (budget, now) = lossy();
        // 200 ms of a fifth of 1 Mbps are 5000 bytes in addition to the saved credit.
        assert!(budget.has_room(now, Bytes::new(29_900)) && !budget.has_room(now, Bytes::new(30_100)));
    }

    #[test]
    fn without_losses_a_burst_may_be_retransmitted_and_no_more() {
        let mut budget = Config::default().build().unwrap();
        budget.set_wire(Time::ZERO, Rate::from_kbps(800));
        for _ in 0..21 {
            assert!(budget.next_retransmission() <= Time::ZERO);
            budget.on_retransmission(Time::ZERO, Bytes::new(1000));
        }
        // The last one is paid for from a tenth of the wire.
        assert_eq!(budget.next_retransmission(), at(100));
    }

    #[test]
    fn retransmissions_are_held_to_twice_their_share() {
        let mut budget = Config { burst: Span::ZERO, ..Config::default() }.build().unwrap();
        budget.shares = lossy().0.shares;
        budget.set_wire(Time::ZERO, Rate::from_kbps(1000));
        budget.on_retransmission(Time::ZERO, Bytes::new(1000));
        let wait = budget.next_retransmission() - Time::ZERO;
        assert!((wait - Span::from_millis(20)).abs() < Span::from_micros(100), "{wait}");
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(Config { burst: Span::from_millis(-1), ..Config::default() }.build().is_err());
        assert!(Config { max_delay: Span::from_millis(-1), ..Config::default() }.build().is_err());
        assert!(Config { slack: 0.5, ..Config::default() }.build().is_err());
        assert!(Config { min: 1.5, ..Config::default() }.build().is_err());
    }
}
