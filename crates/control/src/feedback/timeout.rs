//! The feedback timeout: packets are in flight and no feedback has arrived for too long.

use thalweg_units::{Bytes, Span, Time};

use super::Feedback;

/// Which timeouts follow the first while there is still no feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Another after the same wait, repeatedly.
    Same,
    /// Another after every such span.
    Every(Span),
    /// One more, this long after the wait began.
    Once(Span),
}

/// Waits for feedback on packets in flight: for the longer of `min` and `round_trips` smoothed round trips.
#[derive(Debug, Clone)]
pub(crate) struct FeedbackTimeout {
    min: Span,
    round_trips: i64,
    then: Then,
    srtt: Span,
    /// When the wait for feedback began; `None` while nothing is in flight.
    since: Option<Time>,
    /// Number of timeouts since the last feedback.
    expired: u32,
}

impl FeedbackTimeout {
    pub(crate) fn new(min: Span, round_trips: i64, then: Then) -> FeedbackTimeout {
        FeedbackTimeout { min, round_trips, then, srtt: Span::ZERO, since: None, expired: 0 }
    }

    /// Sets the wait before the first timeout and its equivalent in smoothed round trips.
    pub(crate) fn set_wait(&mut self, min: Span, round_trips: i64) {
        (self.min, self.round_trips) = (min, round_trips);
    }

    /// Records that a packet left. Starts the wait if nothing was in flight; returns whether it did.
    pub(crate) fn on_sent(&mut self, at: Time) -> bool {
        let begins = self.since.is_none();
        self.since.get_or_insert(at);
        begins
    }

    /// Feedback of any kind: restarts the wait, or ends it if nothing is in flight.
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.on_reports(feedback.now, feedback.srtt, feedback.in_flight > Bytes::ZERO);
    }

    /// As [`FeedbackTimeout::on_feedback`], but ignores feedback without arrivals while packets are in flight.
    pub(crate) fn on_arrivals(&mut self, feedback: &Feedback<'_>) {
        if feedback.in_flight == Bytes::ZERO || feedback.has_arrivals() {
            self.on_feedback(feedback);
        }
    }

    /// As [`FeedbackTimeout::on_feedback`] for other forms of feedback: with the smoothed round-trip time, if known,
    /// and whether `more` is in flight.
    #[inline]
    pub(crate) fn on_reports(&mut self, now: Time, srtt: Option<Span>, more: bool) {
        self.srtt = srtt.unwrap_or(self.srtt);
        self.since = more.then_some(now);
        self.expired = 0;
    }

    /// Restarts the wait.
    pub(crate) fn restart(&mut self, at: Time) {
        self.since = Some(at);
    }

    /// Ends the wait because what was in flight is given up; the count of timeouts is kept.
    pub(crate) fn stop(&mut self) {
        self.since = None;
    }

    /// How long the wait has lasted; `None` while nothing is in flight.
    pub(crate) fn waited(&self, now: Time) -> Option<Span> {
        self.since.map(|since| now - since)
    }

    /// The number of timeouts since the last feedback.
    pub(crate) fn expired(&self) -> u32 {
        self.expired
    }

    /// The wait before the first timeout.
    pub(crate) fn wait(&self) -> Span {
        self.min.max(self.srtt * self.round_trips)
    }

    /// When the next timeout is due.
    pub(crate) fn deadline(&self) -> Time {
        let Some(since) = self.since else { return Time::NEVER };
        let first = self.wait();
        match (self.expired, self.then) {
            (0, _) | (_, Then::Same) => since + first,
            (_, Then::Every(span)) => since + span,
            (1, Then::Once(span)) => since + span.max(first),
            (_, Then::Once(_)) => Time::NEVER,
        }
    }

    /// Returns whether a timeout is due, and counts it.
    pub(crate) fn on_timeout(&mut self, now: Time) -> bool {
        if self.deadline() > now {
            return false;
        }
        self.expired += 1;
        if !matches!(self.then, Then::Once(_)) {
            self.since = Some(now);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sender;

    const MS: fn(u64) -> Time = Time::from_millis;
    const HALF: Span = Span::from_millis(500);

    #[test]
    fn it_expires_half_a_second_after_the_first_unanswered_packet_and_every_half_second_after_that() {
        let mut timeout = FeedbackTimeout::new(HALF, 3, Then::Every(HALF));
        let mut sender = Sender::default();
        assert_eq!(timeout.deadline(), Time::NEVER);
        for at in [100, 200, 300] {
            timeout.on_sent(sender.packet(None, MS(at), 100).at);
        }
        assert_eq!(timeout.deadline(), MS(600));
        assert!(!timeout.on_timeout(MS(599)) && timeout.on_timeout(MS(600)));
        assert_eq!((timeout.deadline(), timeout.expired()), (MS(1100), 1));
        // Three round trips of 300 ms are longer than half a second.
        timeout.on_arrivals(&sender.report(MS(400), &[(0, MS(250))]));
        assert_eq!((timeout.deadline(), timeout.expired()), (MS(1300), 0));
        let rest = [(1, MS(300)), (2, MS(350))];
        timeout.on_arrivals(&sender.report(MS(450), &rest));
        assert_eq!(timeout.deadline(), Time::NEVER);
    }

    #[test]
    fn one_more_comes_three_seconds_after_the_wait_began_and_feedback_ends_it() {
        let mut timeout = FeedbackTimeout::new(HALF, 0, Then::Once(Span::from_secs(3)));
        assert!(!timeout.on_timeout(MS(10_000)) && timeout.deadline() == Time::NEVER);
        assert!(timeout.on_sent(MS(10_000)) && !timeout.on_sent(MS(10_400)));
        assert_eq!((timeout.deadline(), timeout.waited(MS(10_400))), (MS(10_500), Some(Span::from_millis(400))));
        assert!(!timeout.on_timeout(MS(10_499)) && timeout.on_timeout(MS(10_500)));
        assert_eq!(timeout.deadline(), MS(13_000));
        assert!(timeout.on_timeout(MS(13_000)));
        assert_eq!((timeout.expired(), timeout.deadline()), (2, Time::NEVER));
        timeout.on_reports(MS(13_100), None, true);
        assert_eq!((timeout.expired(), timeout.deadline()), (0, MS(13_600)));
        timeout.on_reports(MS(13_200), None, false);
        assert_eq!(timeout.deadline(), Time::NEVER);
    }

    #[test]
    fn what_is_given_up_ends_the_wait_and_is_no_feedback() {
        let mut timeout = FeedbackTimeout::new(HALF, 0, Then::Same);
        timeout.on_sent(MS(0));
        assert!(timeout.on_timeout(MS(500)));
        assert_eq!(timeout.deadline(), MS(1000));
        timeout.stop();
        assert_eq!((timeout.deadline(), timeout.expired()), (Time::NEVER, 1));
        timeout.restart(MS(2000));
        assert_eq!(timeout.deadline(), MS(2500));
    }
}
