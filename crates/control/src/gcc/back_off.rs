//! Back-off when feedback is very late (specs/gcc.md 7; libwebrtc `RttBasedBackoff` and its use in
//! `SendSideBandwidthEstimation::UpdateEstimate`). GCC's only response to missing feedback.
//!
//! It lowers only the target. The delay-based estimate survives an outage, and the target returns to it with the first
//! report that is recent enough.

use thalweg_units::{Rate, Span, Time};

use super::Config;

/// The age of the feedback.
#[derive(Debug, Clone)]
pub(super) struct BackOff {
    /// `None` for never.
    limit: Option<Span>,
    interval: Span,
    share: f64,
    /// The min target of the back-off; the call's minimum is applied after it.
    floor: Rate,
    /// Round-trip time of the least delayed packet in the newest report, without its wait for the report.
    rtt: Span,
    /// When that report arrived; before the first report, when the first packet left.
    last_feedback: Option<Time>,
    last_sent: Time,
    decreased: Time,
}

impl BackOff {
    pub(super) fn new(config: &Config) -> BackOff {
        BackOff {
            limit: config.rtt_limit,
            interval: config.rtt_back_off_interval,
            share: config.rtt_back_off,
            floor: config.rtt_floor,
            rtt: Span::ZERO,
            last_feedback: None,
            last_sent: Time::ZERO,
            decreased: Time::ZERO,
        }
    }

    pub(super) fn on_sent(&mut self, now: Time) {
        self.last_feedback.get_or_insert(now);
        self.last_sent = now;
    }

    /// Takes a report with at least one arrival.
    pub(super) fn on_report(&mut self, now: Time, rtt: Span) {
        self.last_feedback = Some(now);
        self.rtt = rtt;
    }

    /// Returns true if the round-trip time, plus the time without feedback while packets left, exceeds the limit.
    pub(super) fn above_limit(&self) -> bool {
        let unreported = self.last_feedback.map_or(Span::ZERO, |reported| (self.last_sent - reported).max(Span::ZERO));
        self.limit.is_some_and(|limit| self.rtt + unreported > limit)
    }

    /// Returns the lowered target if it is time to lower it.
    pub(super) fn lower(&mut self, now: Time, target: Rate) -> Option<Rate> {
        let due = self.above_limit() && now - self.decreased >= self.interval && target > self.floor;
        due.then(|| {
            self.decreased = now;
            target.scale(self.share).max(self.floor)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back_off() -> BackOff {
        BackOff::new(&Config::default())
    }

    #[test]
    fn three_seconds_without_news_lower_the_target_by_a_fifth_each_second() {
        let mut back_off = back_off();
        back_off.on_report(Time::from_millis(10_000), Span::from_millis(100));
        let mut target = Rate::from_kbps(1000);
        let mut lowered = 0;
        for ms in (10_000..15_000).step_by(25) {
            let now = Time::from_millis(ms);
            back_off.on_sent(now);
            if let Some(lower) = back_off.lower(now, target) {
                assert!(now > Time::from_millis(12_900));
                target = lower;
                lowered += 1;
            }
        }
        assert_eq!((lowered, target), (3, Rate::from_kbps(512)));
    }

    #[test]
    fn a_sender_that_sends_nothing_does_not_back_off_and_one_without_feedback_does() {
        let mut quiet = back_off();
        quiet.on_report(Time::from_millis(1000), Span::from_millis(100));
        assert_eq!(quiet.lower(Time::from_millis(60_000), Rate::from_kbps(1000)), None);
        let mut unanswered = back_off();
        unanswered.on_sent(Time::from_millis(500));
        unanswered.on_sent(Time::from_millis(3600));
        assert_eq!(unanswered.lower(Time::from_millis(3600), Rate::from_kbps(300)), Some(Rate::from_kbps(240)));
    }

    #[test]
    fn reports_of_packets_that_took_longer_than_the_limit_are_no_good_news() {
        let mut back_off = back_off();
        back_off.on_report(Time::from_millis(9000), Span::from_millis(3100));
        assert!(back_off.above_limit());
        assert_eq!(back_off.lower(Time::from_millis(9000), Rate::from_kbps(4)), None, "below the floor already");
    }

    #[test]
    fn it_ends_at_its_floor() {
        let config = Config { rtt_floor: Rate::from_kbps(50), ..Config::default() };
        let mut back_off = BackOff::new(&config);
        back_off.on_report(Time::from_millis(9000), Span::from_millis(3100));
        assert_eq!(back_off.lower(Time::from_millis(9000), Rate::from_kbps(60)), Some(Rate::from_kbps(50)));
        assert_eq!(back_off.lower(Time::from_millis(10_000), Rate::from_kbps(50)), None);
    }
}
