//! When to back off because nothing is heard.

use thalweg_units::{Span, Time};

use crate::feedback::Feedback;

/// Patience that ends once something is under way and no arrival was reported for a while, and then again and again.
#[derive(Debug, Clone)]
pub(crate) struct Silence {
    least: Span,
    round_trips: i64,
    srtt: Span,
    due: Time,
}

impl Silence {
    /// Patience of `least` or so many smoothed round trips, whichever is longer; `least` between two steps.
    pub(crate) fn new(least: Span, round_trips: i64) -> Silence {
        Silence { least, round_trips, srtt: Span::ZERO, due: Time::NEVER }
    }

    fn patience(&self) -> Span {
        self.least.max(self.srtt * self.round_trips)
    }

    pub(crate) fn on_sent(&mut self, now: Time) {
        if !self.due.is_set() {
            self.due = now + self.patience();
        }
    }

    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let nothing_under_way = feedback.in_flight.get() == 0;
        if !nothing_under_way && feedback.reports.iter().all(|report| report.arrival().is_none()) {
            return;
        }
        self.srtt = feedback.srtt.unwrap_or(self.srtt);
        self.due = if nothing_under_way { Time::NEVER } else { feedback.now + self.patience() };
    }

    /// When patience ends.
    pub(crate) fn next_timeout(&self) -> Time {
        self.due
    }

    /// Whether it is time to back off.
    pub(crate) fn has_lasted(&mut self, now: Time) -> bool {
        let due = self.due <= now;
        if due {
            self.due = now + self.least;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trains::tests::Sender;

    #[test]
    fn patience_ends_half_a_second_after_the_first_unanswered_packet_and_every_half_second_after_that() {
        let mut silence = Silence::new(Span::from_millis(500), 3);
        let mut sender = Sender::new();
        assert_eq!(silence.next_timeout(), Time::NEVER);
        for at in [100, 200, 300] {
            silence.on_sent(sender.packet(None, Time::from_millis(at), 100).at);
        }
        assert_eq!(silence.next_timeout(), Time::from_millis(600));
        assert!(!silence.has_lasted(Time::from_millis(599)) && silence.has_lasted(Time::from_millis(600)));
        assert_eq!(silence.next_timeout(), Time::from_millis(1100));
        // Three round trips of 300 ms are longer than half a second.
        silence.on_feedback(&sender.report(Time::from_millis(400), &[(0, Time::from_millis(250))]));
        assert_eq!(silence.next_timeout(), Time::from_millis(1300));
        let rest = [(1, Time::from_millis(300)), (2, Time::from_millis(350))];
        silence.on_feedback(&sender.report(Time::from_millis(450), &rest));
        assert_eq!(silence.next_timeout(), Time::NEVER);
    }
}
