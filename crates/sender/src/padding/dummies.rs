//! Dummies: small packets sent while the path has room and there is no media (specs/vidaptive.md 5).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

/// Dummies: small packets that make the sender look backlogged to its congestion controller.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The size of a dummy on the wire, headers included (paper: at most 200 bytes; specs/vidaptive.md C9).
    pub size: Bytes,
    /// No dummies this close before the next camera read, so that a frame's first packet never waits behind one (5 ms).
    pub guard: Span,
    /// No dummies while everything sent in the last `cap_window` exceeds this rate (the maximum video rate, 12 Mbps;
    /// specs/vidaptive.md C6).
    pub cap: Rate,
    /// See `cap` (T, 1 s).
    pub cap_window: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            size: Bytes::new(200),
            guard: Span::from_millis(5),
            cap: Rate::from_kbps(12_000),
            cap_window: Span::from_secs(1),
        }
    }
}

impl Config {
    /// Builds the generator.
    ///
    /// # Errors
    /// When a dummy would be smaller than its headers or larger than a packet, or the window or guard is not positive.
    pub fn build(self) -> Result<Dummies, ConfigError> {
        check("padding.size", self.size)
            .is((64..=1500).contains(&self.size.get()), "64B to 1500B, headers included")?;
        check("padding.cap_window", self.cap_window).within(above(Span::ZERO), "1s")?;
        check("padding.guard", self.guard).within(Span::ZERO.., "the default")?;
        let allowed = self.cap.over(self.cap_window);
        Ok(Dummies { config: self, allowed, sent: VecDeque::new(), sent_bytes: Bytes::ZERO })
    }
}

/// Verdict on a dummy: whether it may leave now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Send,
    /// Not before this time: a camera read is due, or the cap is reached.
    Wait(Time),
}

/// The generator's state: what was sent within the cap's window.
#[derive(Debug, Clone)]
pub struct Dummies {
    config: Config,
    /// Bytes that the cap allows in its window.
    allowed: Bytes,
    sent: VecDeque<(Time, Bytes)>,
    sent_bytes: Bytes,
}

impl Dummies {
    /// The size of a dummy on the wire.
    pub fn size(&self) -> Bytes {
        self.config.size
    }

    /// Any packet, dummy or not, left.
    pub fn on_sent(&mut self, now: Time, size: Bytes) {
        self.sent.push_back((now, size));
        self.sent_bytes += size;
        self.forget(now);
    }

    /// Decides whether a dummy may leave at `now`, when the camera was last read at `last_read` and is read every
    /// `interval`.
    pub fn verdict(&mut self, now: Time, last_read: Time, interval: Span) -> Verdict {
        // A read that is late keeps the guard up, but for one interval at most (specs/vidaptive.md C5).
        let end = last_read + interval + interval;
        if now >= self.quiet_from(last_read, interval) && now < end {
            return Verdict::Wait(end);
        }
        self.forget(now);
        if self.sent_bytes + self.config.size > self.allowed {
            let oldest = self.sent.front().map_or(now, |(at, _)| *at);
            return Verdict::Wait((oldest + self.config.cap_window).max(now + Span::from_nanos(1)));
        }
        Verdict::Send
    }

    /// When the guard begins: from here on no dummy leaves before the next camera read.
    pub fn quiet_from(&self, last_read: Time, interval: Span) -> Time {
        last_read + interval - self.config.guard
    }

    fn forget(&mut self, now: Time) {
        while let Some((at, size)) = self.sent.front().copied() {
            if at + self.config.cap_window > now {
                break;
            }
            self.sent.pop_front();
            self.sent_bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_nanos(33_333_333);

    #[test]
    fn dummies_stop_five_milliseconds_before_the_next_read() {
        let mut dummies = Config::default().build().unwrap();
        let mut at = |micros| dummies.verdict(Time::from_micros(micros), Time::ZERO, INTERVAL);
        assert_eq!(at(0), Verdict::Send);
        assert_eq!(at(28_333), Verdict::Send);
        assert!(matches!(at(28_334), Verdict::Wait(_)));
        assert!(matches!(at(33_333), Verdict::Wait(_)));
    }

    #[test]
    fn a_late_read_keeps_the_guard_up_for_one_interval_at_most() {
        let mut dummies = Config::default().build().unwrap();
        assert!(matches!(dummies.verdict(Time::from_millis(60), Time::ZERO, INTERVAL), Verdict::Wait(_)));
        assert_eq!(dummies.verdict(Time::from_millis(67), Time::ZERO, INTERVAL), Verdict::Send);
    }

    #[test]
    fn everything_sent_in_a_second_counts_against_the_cap() {
        let config = Config { cap: Rate::from_kbps(80), ..Config::default() };
        let mut dummies = config.build().unwrap();
        for i in 0..50 {
            dummies.on_sent(Time::from_millis(i), Bytes::new(200));
        }
        let now = Time::from_millis(100);
        assert_eq!(dummies.verdict(now, now, INTERVAL), Verdict::Wait(Time::from_millis(1000)));
        assert_eq!(dummies.verdict(Time::from_millis(1000), Time::from_millis(1000), INTERVAL), Verdict::Send);
    }

    #[test]
    fn a_dummy_smaller_than_its_headers_is_refused_with_the_range() {
        let message = Config { size: Bytes::new(20), ..Config::default() }.build().unwrap_err();
        assert!(alloc::string::ToString::to_string(&message).contains("20B"));
    }
}
