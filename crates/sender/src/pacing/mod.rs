//! When a packet may leave.

pub mod bucket;

use thalweg_units::{Bytes, Rate, Span, Time};

/// The pacer's rate, and how strictly packets keep to it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Where the rate comes from.
    pub rate: PacingRate,
    /// How far ahead of the pacing rate packets may run: zero for strict pacing, 40 ms for WebRTC's burst window
    /// (libwebrtc pacing_controller, `kDefaultBurstInterval`).
    pub burst: Span,
    /// Exceed the pacing rate so that the queue drains within this time (libwebrtc `queue_time_limit`, 2 s); `None` if
    /// the frame policy bounds the queue's age instead (specs/vidaptive.md 4).
    pub drain_within: Option<Span>,
    /// Max pacing rate, if set (specs/vidaptive.md C17 clamps the ablations without dummies to the maximum video rate).
    pub limit: Option<Rate>,
    /// Tokens with which a part of each frame leaves at once, whatever the pacing rate; `None` for none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bucket: Option<bucket::Config>,
}

/// Where the pacing rate comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum PacingRate {
    /// The controller's own.
    Controller,
    /// Window / srtt times this factor: Vidaptive's CC-Rate, at 1.0 (specs/vidaptive.md C4).
    WindowRate(f64),
    /// As fast as the window allows.
    Unpaced,
}

impl Default for Config {
    fn default() -> Config {
        Config { rate: PacingRate::Controller, burst: Span::ZERO, drain_within: None, limit: None, bucket: None }
    }
}

/// A pacer. `earliest` advances with each packet by its size over the pacing rate at the time of sending.
///
/// It never accumulates credit: after being idle or blocked it starts from the present time.
#[derive(Debug, Clone)]
pub struct Pacer {
    burst: Span,
    rate: Rate,
    earliest: Time,
}

impl Default for Pacer {
    fn default() -> Pacer {
        Pacer::new(Span::ZERO)
    }
}

impl Pacer {
    /// A pacer that lets the first packet leave at once.
    pub fn new(burst: Span) -> Pacer {
        Pacer { burst, rate: Rate::MAX, earliest: Time::ZERO }
    }

    /// Paces at `rate` from now on. A higher rate shortens a wait that has begun, but a lower rate never lengthens it
    /// (specs/vidaptive.md 4).
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        if rate > self.rate && self.earliest > now {
            let wait = self.earliest - now;
            self.earliest = now + wait.scale(self.rate.as_bps_f64() / rate.as_bps_f64());
        }
        self.rate = rate;
    }

    /// The pacing rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// When the next packet may leave.
    pub fn next_send(&self) -> Time {
        self.earliest - self.burst
    }

    /// The next packet waits no longer than until then.
    pub fn forgive(&mut self, latest: Time) {
        self.earliest = self.earliest.min(latest + self.burst);
    }

    /// A packet of `size` leaves now.
    pub fn on_sent(&mut self, now: Time, size: Bytes) {
        let start = self.earliest.max(now);
        self.earliest = start + self.rate.time_for(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_at_the_pacing_rate() {
        let mut pacer = Pacer::new(Span::ZERO);
        pacer.set_rate(Time::ZERO, Rate::from_kbps(6000));
        pacer.on_sent(Time::ZERO, Bytes::new(1200));
        assert_eq!(pacer.next_send(), Time::from_micros(1600));
        pacer.on_sent(Time::from_micros(1600), Bytes::new(200));
        assert_eq!(pacer.next_send(), Time::from_nanos(1_866_667));
    }

    #[test]
    fn an_idle_spell_gives_no_credit() {
        let mut pacer = Pacer::new(Span::ZERO);
        pacer.set_rate(Time::ZERO, Rate::from_kbps(1200));
        pacer.on_sent(Time::from_millis(100), Bytes::new(1500));
        assert_eq!(pacer.next_send(), Time::from_millis(110));
    }

    #[test]
    fn a_wait_shortens_with_a_higher_rate_and_never_lengthens_with_a_lower_one() {
        let mut pacer = Pacer::new(Span::ZERO);
        pacer.set_rate(Time::ZERO, Rate::from_kbps(1200));
        pacer.on_sent(Time::ZERO, Bytes::new(1500));
        pacer.set_rate(Time::from_millis(5), Rate::from_kbps(120));
        assert_eq!(pacer.next_send(), Time::from_millis(10));
        pacer.set_rate(Time::from_millis(5), Rate::from_kbps(1200));
        assert_eq!(pacer.next_send(), Time::from_micros(5_500));
    }

    #[test]
    fn a_burst_window_lets_packets_run_ahead_by_that_much() {
        let mut pacer = Pacer::new(Span::from_millis(40));
        pacer.set_rate(Time::ZERO, Rate::from_kbps(1200));
        for sent in 0..5 {
            assert!(pacer.next_send() <= Time::ZERO, "packet {sent}");
            pacer.on_sent(Time::ZERO, Bytes::new(1500));
        }
        assert_eq!(pacer.next_send(), Time::from_millis(10));
    }
}
