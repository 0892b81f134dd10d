//! Bytes in flight between two reports where departures become known only with their fate, and silence.

use thalweg_control::LossDetectionConfig;
use thalweg_units::{Bytes, Rate, Span, Time};

/// A program that does not say whether it sends is taken for idle this long after a report, or ...
const IDLE_AFTER: Span = Span::from_millis(200);
/// ... after this many round trips if that is longer.
const IDLE_ROUND_TRIPS: i64 = 2;
/// The rate at which a program sends is taken over at least this long: QUIC's packets leave in batches.
const RATE_OVER: Span = Span::from_millis(10);
/// At most so much time is presumed to have been sent.
const MAX_PRESUMED: Span = Span::from_secs(1);

/// Between two reports a program presumably sends as fast as before the first, so that much is under way. While it says
/// that it sends and nothing is heard, the target is halved again and again, as by TFRC's no-feedback timer (RFC 5348
/// section 4.4): the controller itself cannot know.
#[derive(Debug, Clone)]
pub(crate) struct Silence {
    min: Span,
    round_trips: i64,
    /// The program's last word on whether it sends; `None` if it never gave any.
    sending: Option<bool>,
    /// When the wait for a report began that now lasts.
    since: Time,
    halvings: i32,
    /// The rate at which the program sent lately, and what left since the instant up to which it is known.
    rate: Rate,
    size: Bytes,
    rated: Time,
    /// Bytes presumed in flight after the last report.
    presumed: Bytes,
}

impl Silence {
    /// With the waits of the feedback timeout.
    pub(crate) fn new(config: &LossDetectionConfig) -> Silence {
        let (min, round_trips) = (config.feedback_timeout, config.feedback_timeout_rtts);
        Silence {
            min,
            round_trips,
            sending: None,
            since: Time::ZERO,
            halvings: 0,
            rate: Rate::ZERO,
            size: Bytes::ZERO,
            rated: Time::ZERO,
            presumed: Bytes::ZERO,
        }
    }

    /// Returns true if nothing tells whether the program sends.
    pub(crate) fn is_unknown(&self) -> bool {
        self.sending.is_none()
    }

    /// Nobody needs to say so.
    pub(crate) fn forget(&mut self) {
        (self.sending, self.halvings) = (None, 0);
    }

    pub(crate) fn set_sending(&mut self, now: Time, sending: bool) {
        if self.sending.replace(sending) != Some(sending) {
            self.since = now;
        }
    }

    /// A report on packets of `size` bytes in all of which nothing was known, the last of which left at `last`. Returns how
    /// much is presumably under way beside what is known.
    pub(crate) fn on_report(&mut self, now: Time, size: Bytes, last: Time) -> Bytes {
        (self.since, self.halvings) = (now, 0);
        self.size += size;
        let took = last - self.rated;
        if took >= RATE_OVER {
            (self.rate, self.size, self.rated) = (self.size.per(took), Bytes::ZERO, last);
        }
        let sends = self.sending != Some(false);
        self.presumed = if sends { self.rate.over((now - last).min(MAX_PRESUMED)) } else { Bytes::ZERO };
        self.presumed
    }

    /// When the wait for a report is over.
    pub(crate) fn next_timeout(&self, srtt: Option<Span>) -> Time {
        let srtt = srtt.unwrap_or(Span::ZERO);
        match self.sending {
            Some(true) => self.since + self.min.max(srtt * self.round_trips),
            _ if self.presumed > Bytes::ZERO => self.since + IDLE_AFTER.max(srtt * IDLE_ROUND_TRIPS),
            _ => Time::NEVER,
        }
    }

    /// Returns whether what was presumed under way is not.
    pub(crate) fn on_timeout(&mut self, now: Time, srtt: Option<Span>) -> bool {
        if self.next_timeout(srtt) > now {
            return false;
        }
        if self.sending == Some(true) {
            (self.since, self.halvings) = (now, self.halvings + 1);
            return false;
        }
        core::mem::take(&mut self.presumed) > Bytes::ZERO
    }

    /// Part of a target left after silence.
    pub(crate) fn lower(&self, target: Rate) -> Rate {
        (0..self.halvings.min(64)).fold(target, |target, _| target.scale(0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn two_seconds_without_a_report_halve_the_target_and_the_next_report_restores_it() {
        let mut silence = Silence::new(&LossDetectionConfig::default());
        assert_eq!((silence.next_timeout(None), silence.is_unknown()), (Time::NEVER, true));
        silence.set_sending(MS(100), true);
        silence.set_sending(MS(500), true);
        assert_eq!(silence.next_timeout(None), MS(2100));
        for at in [2099, 2100, 2101, 4100] {
            silence.on_timeout(MS(at), None);
        }
        assert_eq!(silence.lower(Rate::from_kbps(1000)), Rate::from_kbps(250));
        // Four round trips of a second are longer.
        assert_eq!(silence.next_timeout(Some(Span::from_secs(1))), MS(8100));
        silence.on_report(MS(5000), Bytes::ZERO, MS(5000));
        assert_eq!(silence.lower(Rate::from_kbps(1000)), Rate::from_kbps(1000));
        silence.set_sending(MS(6000), false);
        assert_eq!(silence.next_timeout(None), Time::NEVER);
    }

    #[test]
    fn what_is_presumed_under_way_is_not_when_no_report_comes_and_nobody_says_that_it_is() {
        let mut silence = Silence::new(&LossDetectionConfig::default());
        // 12,500 bytes in 100 ms are 1 Mbps: 7,500 bytes in the 60 ms since.
        silence.on_report(MS(900), Bytes::ZERO, MS(840));
        let presumed = silence.on_report(MS(1000), Bytes::new(12_500), MS(940));
        assert_eq!((presumed, silence.next_timeout(None)), (Bytes::new(7500), MS(1200)));
        assert!(!silence.on_timeout(MS(1199), None) && silence.on_timeout(MS(1200), None));
        assert_eq!(silence.next_timeout(None), Time::NEVER);
        assert_eq!(silence.lower(Rate::from_kbps(1000)), Rate::from_kbps(1000));
        silence.set_sending(MS(1300), false);
        let presumed = silence.on_report(MS(1400), Bytes::new(12_500), MS(1040));
        assert_eq!(presumed, Bytes::ZERO);
    }
}
