//! Vidaptive's latency safeguards: pause the encoder while the queue is old, throw the queue away when it is hopeless
//! (specs/vidaptive.md 6).

use thalweg_units::{ConfigError, Span, Time, above, check};

use super::policy::{QueueVerdict, QueueView};

/// Encoder Pause and Encoder Reset; an ablation leaves one out. In a file, an absent threshold means none.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// tau: encode no picture while a packet has waited longer than this; `None` never pauses.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pause: Option<Span>,
    /// Throw the queue away when a packet has waited longer than this; `None` never does.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reset: Option<Span>,
    /// The share of the camera interval by which a held picture may have aged when encoding resumes (paper: half).
    pub resume_window: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { pause: Some(Span::from_millis(33)), reset: Some(Span::from_secs(1)), resume_window: 0.5 }
    }
}

impl Config {
    /// No safeguards: for every scheme but Vidaptive's.
    pub const NONE: Config = Config { pause: None, reset: None, resume_window: 0.5 };

    /// Builds the safeguards in their initial state.
    ///
    /// # Errors
    /// When a threshold is not positive or the resume window is negative.
    pub fn build(self) -> Result<Safeguards, ConfigError> {
        for (name, value) in [("safeguards.pause", self.pause), ("safeguards.reset", self.reset)] {
            check(name, value.unwrap_or(Span::MAX)).within(above(Span::ZERO), "the default")?;
        }
        check("safeguards.resume_window", self.resume_window).within(0.0..f64::INFINITY, "the default")?;
        Ok(Safeguards { config: self, paused: false })
    }
}

/// Safeguards that pause encoding.
#[derive(Debug, Clone)]
pub struct Safeguards {
    config: Config,
    paused: bool,
}

impl Safeguards {
    /// Returns true while encoding is paused.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// Returns true if a picture of this age may still be encoded when encoding resumes.
    pub fn still_fresh(&self, age: Span, interval: Span) -> bool {
        age <= interval.scale(self.config.resume_window)
    }

    /// The queue changed or time passed.
    pub fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        if queue.packets == 0 {
            // Resume only once the queue is empty, not merely young (specs/vidaptive.md C8).
            return if core::mem::take(&mut self.paused) { QueueVerdict::Resume } else { QueueVerdict::Keep };
        }
        let age = queue.age(now);
        if self.config.reset.is_some_and(|limit| age > limit) {
            self.paused = false;
            return QueueVerdict::Flush;
        }
        if !self.paused && self.config.pause.is_some_and(|limit| age > limit) {
            self.paused = true;
            return QueueVerdict::Pause;
        }
        QueueVerdict::Keep
    }

    /// When the oldest packet exceeds the next threshold, if nothing happens before.
    pub fn next_timeout(&self, queue: &QueueView) -> Time {
        let Some(oldest) = queue.oldest else { return Time::NEVER };
        let pause = self.config.pause.filter(|_| !self.paused);
        // A threshold must be exceeded, not just reached: a nanosecond later.
        [pause, self.config.reset]
            .into_iter()
            .flatten()
            .map(|limit| oldest + limit + Span::from_nanos(1))
            .min()
            .unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn queue(oldest_ms: u64) -> QueueView {
        QueueView { bytes: Bytes::new(1500), packets: 1, oldest: Some(Time::from_millis(oldest_ms)) }
    }

    const EMPTY: QueueView = QueueView { bytes: Bytes::ZERO, packets: 0, oldest: None };
    const INTERVAL: Span = Span::from_nanos(33_333_333);

    #[test]
    fn a_packet_older_than_the_threshold_pauses_until_the_queue_is_empty() {
        let mut safeguards = Config::default().build().unwrap();
        assert_eq!(safeguards.on_queue(Time::from_millis(33), &queue(0)), QueueVerdict::Keep);
        assert_eq!(safeguards.on_queue(Time::from_nanos(33_333_333), &queue(0)), QueueVerdict::Pause);
        assert!(safeguards.paused());
        // A younger head of the queue does not resume encoding.
        safeguards.on_queue(Time::from_millis(45), &queue(40));
        assert!(safeguards.paused());
        assert_eq!(safeguards.on_queue(Time::from_millis(50), &EMPTY), QueueVerdict::Resume);
        assert!(!safeguards.paused());
        assert_eq!(safeguards.on_queue(Time::from_millis(51), &EMPTY), QueueVerdict::Keep);
    }

    #[test]
    fn a_held_picture_is_encoded_at_resume_within_half_an_interval() {
        let safeguards = Config::default().build().unwrap();
        assert!(safeguards.still_fresh(Time::from_millis(50) - Time::from_nanos(33_333_333), INTERVAL));
        assert!(!safeguards.still_fresh(Time::from_millis(51) - Time::from_nanos(33_333_333), INTERVAL));
    }

    #[test]
    fn a_packet_older_than_a_second_resets_and_the_timer_says_when() {
        let mut safeguards = Config::default().build().unwrap();
        assert_eq!(safeguards.next_timeout(&queue(0)), Time::from_millis(33) + Span::from_nanos(1));
        safeguards.on_queue(Time::from_millis(40), &queue(0));
        let reset = safeguards.next_timeout(&queue(0));
        assert_eq!(reset, Time::from_secs_f64(1.0) + Span::from_nanos(1));
        assert_eq!(safeguards.on_queue(Time::from_millis(1000), &queue(0)), QueueVerdict::Keep);
        assert_eq!(safeguards.on_queue(reset, &queue(0)), QueueVerdict::Flush);
        assert!(!safeguards.paused());
    }
}
