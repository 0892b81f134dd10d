//! Copa (Arun and Balakrishnan, NSDI 2018; specs/copa.md): the window follows the rate 1 / (delta * queueing delay).
//!
//! Byte-scaled: a padding packet of 200 bytes moves the window by 200 bytes' worth; see `docs/papers/vidaptive.md`.

mod config;
mod velocity;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::WindowedMin;
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::{MSS, SentPacket};
pub use config::{Config, LimitedBy};
pub use velocity::Turning;
use velocity::{Ack, Rule, Velocity};

/// Copa's state. Windows are in packets of [`MSS`], as in the paper.
#[derive(Debug, Clone)]
pub struct Copa {
    config: Config,
    cwnd: f64,
    slow_start: bool,
    velocity: Velocity,
    rtt_min: WindowedMin<Span>,
    rtt_standing: WindowedMin<Span>,
    srtt: Span,
    /// Smoothed wait of a packet's feedback for its report: the window covers it, but it is not queueing delay.
    held: Span,
    max_rate: Rate,
    limited_at: Option<Time>,
    losses: LossWindow,
    decisions: Decisions,
}

/// Arrivals and losses of the last two round trips, for genericCC's loss rule.
#[derive(Debug, Clone, Copy, Default)]
struct LossWindow {
    since: Time,
    arrived: u32,
    lost: u32,
}

impl Copa {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Copa, ConfigError> {
        config.check()?;
        Ok(Copa {
            cwnd: config.initial_window,
            slow_start: true,
            velocity: Velocity::default(),
            rtt_min: WindowedMin::default(),
            rtt_standing: WindowedMin::default(),
            srtt: config.srtt_before_samples,
            held: Span::ZERO,
            max_rate: Rate::MAX,
            limited_at: None,
            losses: LossWindow::default(),
            decisions: Decisions::default(),
            config,
        })
    }

    fn window(&self) -> Bytes {
        MSS.scale(self.cwnd)
    }

    /// cwnd / srtt: Vidaptive's CC-Rate, and the estimated capacity of the path.
    fn capacity(&self) -> Rate {
        self.window().per(self.srtt)
    }

    fn standing(&self) -> Span {
        self.rtt_standing.get().unwrap_or(self.srtt)
    }

    /// The round-trip time that the window spans: the standing RTT, plus the wait for reports where they are batched.
    fn turn(&self) -> Span {
        self.standing() + self.held
    }

    /// d_q: the queueing delay.
    fn queueing_delay(&self) -> Span {
        (self.standing() - self.rtt_min.get().unwrap_or(self.standing())).max(Span::ZERO)
    }

    /// Returns true if the current rate is at most the target rate 1 / (delta * d_q).
    fn below_target(&self) -> bool {
        let queueing = self.queueing_delay().as_secs_f64();
        queueing <= 0.0 || self.cwnd / self.turn().as_secs_f64() <= 1.0 / (self.config.delta * queueing)
    }

    /// Returns true if the window limited sending recently: during the flight of the packet just acknowledged, which is
    /// longer than an srtt when its report was late.
    fn window_limited(&self, now: Time, flight: Span) -> bool {
        self.limited_at.is_some_and(|at| now - at <= self.srtt.max(flight))
    }

    fn note_limited(&mut self, now: Time, in_flight: Bytes) {
        let limited = match self.config.limited_by {
            LimitedBy::Room => in_flight + MSS * 2 >= self.window(),
            LimitedBy::Share(share) => {
                in_flight + MSS > self.window() || in_flight.as_f64() >= share * self.window().as_f64()
            }
        };
        if limited {
            self.limited_at = Some(now);
        }
    }

    fn on_ack(&mut self, now: Time, rtt: Span, flight: Span, size: Bytes) {
        self.rtt_min.add(now, rtt, self.config.rtt_min_window);
        self.rtt_standing.add(now, rtt, self.srtt.scale(self.config.standing_share));
        let packets = size.as_f64() / MSS.as_f64();
        let below = self.below_target();
        let limited = self.window_limited(now, flight);
        if self.slow_start {
            if below {
                if limited {
                    self.cwnd += packets;
                }
                return;
            }
            self.slow_start = false;
            self.decide(now, "leave slow start", "rate above target", self.cwnd);
        }
        // Unless the window is known to limit sending, it may shrink but not grow, and the velocity does not increase.
        let ack = Ack { now, srtt: self.srtt, cwnd: self.cwnd, up: below, limited, delta: self.config.delta };
        let rule = Rule { double_after: self.config.velocity_after, turning: self.config.turning };
        self.velocity.on_ack(&ack, rule);
        let step = (self.velocity.get() * packets / (self.config.delta * self.cwnd)).min(self.cwnd / 2.0);
        if !below {
            self.cwnd -= step;
        } else if limited {
            self.cwnd += step;
        }
    }

    fn bound(&mut self) {
        let max = self.max_rate.over(self.srtt).as_f64() * self.config.max_rate_windows / MSS.as_f64();
        self.cwnd = self.cwnd.min(max).max(self.config.min_window);
    }

    /// genericCC's rule: the window shrinks when more than 30 % of at least 20 packets over at least two round trips
    /// are lost.
    fn judge_losses(&mut self, now: Time) {
        let losses = self.losses;
        let total = losses.arrived + losses.lost;
        if total < self.config.loss_packets || now - losses.since < self.srtt * 2 {
            return;
        }
        self.losses = LossWindow { since: now, ..LossWindow::default() };
        if f64::from(losses.lost) > self.config.loss_share * f64::from(total) {
            let before = self.cwnd;
            self.cwnd *= self.config.loss_factor;
            self.decide(now, "decrease", "loss above threshold", before);
        }
    }

    fn on_feedback_timeout(&mut self, now: Time) {
        let before = self.cwnd;
        self.cwnd = self.config.min_window;
        self.slow_start = true;
        self.velocity = Velocity::default();
        self.losses = LossWindow { since: now, ..LossWindow::default() };
        self.decide(now, "collapse", "no feedback for too long", before);
    }

    fn decide(&mut self, at: Time, what: &'static str, why: &'static str, cwnd_before: f64) {
        let from = MSS.scale(cwnd_before).per(self.srtt);
        self.decisions.push(Decision { at, what, why, from, to: self.capacity() });
    }
}

impl Controller for Copa {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            self.on_feedback_timeout(now);
            return;
        }
        if let Some(srtt) = feedback.srtt {
            self.srtt = srtt;
        }
        if let Some(held) = feedback.mean_held() {
            self.held += (held - self.held) / 8;
        }
        let before = self.cwnd;
        for report in feedback.reports {
            match report.fate {
                Fate::Lost => {
                    self.losses.lost += 1;
                }
                Fate::Arrived { .. } => {
                    self.losses.arrived += 1;
                    if let Some(rtt) = feedback.rtt_sample(report) {
                        self.on_ack(now, rtt, now - report.packet.at, report.packet.size);
                        self.cwnd = self.cwnd.max(self.config.min_window);
                    }
                }
            }
        }
        // One report, however many packets it covers, at most halves the window (specs/copa.md 6).
        self.cwnd = self.cwnd.max(before / 2.0);
        self.judge_losses(now);
        self.bound();
    }

    fn limits(&self) -> SendLimits {
        let pacing = self.window().per(self.turn()).scale(self.config.pacing_gain);
        SendLimits { window: Some(self.window()), capacity: self.capacity(), ..SendLimits::of_rate(pacing) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.note_limited(packet.at, packet.in_flight);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.max_rate = demand.max;
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("cwnd_bytes", self.window().as_f64());
        see("velocity", self.velocity.get());
        see("delta", self.config.delta);
        see("rtt_standing_ms", self.standing().as_millis_f64());
        see("srtt_ms", self.srtt.as_millis_f64());
        see("slow_start", f64::from(u8::from(self.slow_start)));
        see("rtt_min_ms", self.rtt_min.get().unwrap_or(Span::ZERO).as_millis_f64());
        see("queueing_delay_ms", self.queueing_delay().as_millis_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Copa after slow start with this window and these delays, limited by the window.
    fn copa(cwnd: f64, rtt_min_ms: i64, standing_ms: i64) -> Copa {
        let mut copa = Copa::new(Config { delta: 0.9, ..Config::default() }).unwrap();
        copa.srtt = Span::from_millis(standing_ms);
        copa.rtt_min.add(Time::ZERO, Span::from_millis(rtt_min_ms), Span::from_secs(10));
        copa.cwnd = cwnd;
        copa.slow_start = false;
        copa.limited_at = Some(Time::from_millis(1000));
        copa
    }

    fn ack(copa: &mut Copa, rtt_ms: i64, bytes: u64) {
        let rtt = Span::from_millis(rtt_ms);
        copa.on_ack(Time::from_millis(1000), rtt, rtt, Bytes::new(bytes));
    }

    #[test]
    fn the_window_steps_towards_the_target_by_its_velocity_and_in_proportion_to_the_bytes() {
        // Down from a rate above the target, up from one below it, and by four into an empty queue.
        for (cwnd, rtt_ms, velocity, bytes, expected) in [
            (30.0, 60, 1.0, 1500, 29.963),
            (5.0, 60, 1.0, 1500, 5.2222),
            (5.0, 60, 1.0, 200, 5.0296),
            (30.0, 50, 4.0, 1500, 30.148),
        ] {
            let mut copa = copa(cwnd, 50, rtt_ms);
            if velocity > 1.0 {
                copa.velocity = Velocity::running(velocity, 1, Time::from_millis(1000), cwnd);
            }
            ack(&mut copa, rtt_ms, bytes);
            assert!((copa.cwnd - expected).abs() < 2e-5 * cwnd, "{}, expected {expected}", copa.cwnd);
        }
    }

    #[test]
    fn a_window_into_which_no_packet_fits_limits() {
        let mut copa = copa(2.2, 50, 50);
        copa.limited_at = None;
        copa.note_limited(Time::from_millis(1000), Bytes::new(1200));
        assert_eq!(copa.limited_at, None);
        copa.note_limited(Time::from_millis(1000), Bytes::new(2400));
        assert_eq!(copa.limited_at, Some(Time::from_millis(1000)), "2400 of 3300 bytes are 73 %, and 900 are left");
    }

    #[test]
    fn a_window_that_does_not_limit_never_grows() {
        let mut copa = copa(30.0, 50, 50);
        copa.limited_at = None;
        for _ in 0..1000 {
            ack(&mut copa, 50, 1500);
        }
        assert_eq!(copa.cwnd, 30.0);
    }

    #[test]
    fn a_third_of_the_packets_lost_over_two_round_trips_shrinks_the_window() {
        let mut copa = copa(30.0, 50, 50);
        copa.losses = LossWindow { since: Time::ZERO, arrived: 13, lost: 7 };
        copa.judge_losses(Time::from_millis(100));
        assert_eq!(copa.cwnd, 21.0);
        copa.losses = LossWindow { since: Time::from_millis(100), arrived: 14, lost: 6 };
        copa.judge_losses(Time::from_millis(200));
        assert_eq!(copa.cwnd, 21.0);
    }
}
