//! SQP (Ray, Smith, Wei, Chu, Seshan, arXiv 2207.11857; specs/sqp.md): each frame is a packet train that samples the
//! bandwidth.
//!
//! A frame is paced at twice the rate for which it was encoded. The time by which its arrival exceeds the min delay of
//! the last two round trips, scaled to the frame's full budget, gives a sample. The encoder's rate moves towards nine
//! tenths of the sample, down faster than up. There is no window: SQP reacts to congestion with smaller frames.

mod config;
mod sample;

use thalweg_units::{ConfigError, Rate, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::Feedback;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::packet::SentPacket;
use crate::trains::{Train, Trains};
pub use config::{Config, Counted, LonePackets};
use sample::{Delays, Silent};

/// The state of SQP.
#[derive(Debug, Clone)]
pub struct Sqp {
    config: Config,
    /// B.
    bandwidth: Rate,
    max: Rate,
    trains: Trains,
    delays: Delays,
    timeout: FeedbackTimeout,
    /// S of the newest sampled frame, or why the newest frame was not sampled.
    sample: Result<Rate, Silent>,
    rising: Option<bool>,
    decisions: Decisions,
}

impl Sqp {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Sqp, ConfigError> {
        config.check()?;
        Ok(Sqp {
            bandwidth: config.initial,
            max: Rate::from_kbps(10_000_000),
            trains: Trains::new(config.frame_interval),
            delays: Delays::default(),
            timeout: FeedbackTimeout::new(
                config.feedback_timeout,
                config.feedback_timeout_srtts,
                Then::Every(config.feedback_timeout),
            ),
            sample: Err("nothing arrived"),
            rising: None,
            decisions: Decisions::default(),
            config,
        })
    }

    /// B: the bandwidth estimate, which is the encoder's target.
    pub fn bandwidth(&self) -> Rate {
        self.bandwidth
    }

    /// delta, limited by the application's maximum.
    fn step(&self) -> f64 {
        self.config.step.as_bps_f64().min(self.config.step_of_max * self.max.as_bps_f64())
    }

    fn bounded(&self, rate: Rate) -> Rate {
        rate.min(self.max).max(self.config.min)
    }

    fn on_train(&mut self, now: Time, train: &Train) {
        self.sample = self.delays.sample(train, self.trains.interval(), &self.config);
        if let Ok(sample) = self.sample {
            self.on_sample(now, sample);
        }
    }

    /// B moves by delta (r (S/B - 1) - (B/S - 1)), S being T times the sample.
    fn on_sample(&mut self, now: Time, sample: Rate) {
        let (before, aim) = (self.bandwidth.as_bps_f64(), sample.as_bps_f64() * self.config.target_gain);
        let force = self.config.reward * (aim / before - 1.0) - (before / aim - 1.0);
        let max = self.config.max_change * before;
        let from = self.bandwidth;
        self.bandwidth = self.bounded(Rate::from_bps_f64(before + (self.step() * force).clamp(-max, max)));
        let rising = force > 0.0;
        if self.bandwidth != from && self.rising != Some(rising) {
            self.rising = Some(rising);
            let (what, why) =
                if rising { ("increase", "frame sample above B") } else { ("decrease", "frame sample below B") };
            self.decisions.push(Decision { at: now, what, why, from, to: self.bandwidth });
        }
    }
}

impl Controller for Sqp {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.timeout.on_arrivals(feedback);
        let window = feedback.srtt.map_or(self.config.delay_before, |srtt| srtt.scale(self.config.delay_srtts));
        self.delays.on_feedback(feedback, window);
        self.trains.on_feedback(feedback);
        while let Some(train) = self.trains.take_decided() {
            self.on_train(feedback.now, &train);
        }
    }

    fn limits(&self) -> SendLimits {
        let pacing = self.bandwidth.scale(self.config.pacing_gain);
        SendLimits { capacity: self.bandwidth, ..SendLimits::of_rate(pacing) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.timeout.on_sent(packet.at);
        self.trains.on_sent(packet, self.bandwidth);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.max = demand.max;
        self.bandwidth = self.bounded(self.bandwidth);
    }

    fn on_timeout(&mut self, now: Time) {
        if self.timeout.on_timeout(now) {
            let from = self.bandwidth;
            self.bandwidth = self.bounded(from.scale(self.config.feedback_timeout_factor));
            self.rising = None;
            let why = "no feedback for too long";
            self.decisions.push(Decision { at: now, what: "decrease", why, from, to: self.bandwidth });
        }
    }

    fn next_timeout(&self) -> Time {
        self.timeout.deadline()
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("B kbps", self.bandwidth.as_kbps_f64());
        if let Ok(sample) = self.sample {
            see("S kbps", sample.as_kbps_f64());
        }
        if let Some(min) = self.delays.min() {
            see("delta_min ms", min.as_millis_f64());
        }
        see("delta kbps", self.step() / 1000.0);
        see("I ms", self.trains.interval().as_millis_f64());
    }
}

#[cfg(test)]
mod tests;
