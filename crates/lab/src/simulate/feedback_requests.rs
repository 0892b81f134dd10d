//! Requests for reports, for feedback on request.

use thalweg_units::{Span, Time};

/// Decides which packets request a report.
pub(super) struct FeedbackRequests {
    every: Option<Span>,
    last: Option<Time>,
}

impl FeedbackRequests {
    /// Requests that the engine makes, and one more if there was none for this long.
    pub(super) fn every(every: Option<Span>) -> FeedbackRequests {
        FeedbackRequests { every, last: None }
    }

    /// Returns true if a packet sent now requests a report; `wants` is the engine's wish.
    pub(super) fn requests_feedback(&mut self, now: Time, wants: bool) -> bool {
        let overdue = self.every.is_some_and(|every| self.last.is_none_or(|last| now - last >= every));
        if wants || overdue {
            self.last = Some(now);
        }
        wants || overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_asks_when_the_engine_wants_it_or_none_has_for_long() {
        let mut requests = FeedbackRequests::every(Some(Span::from_millis(5)));
        let packets = [(0, false), (3, false), (4, true), (8, false), (9, false), (13, false), (14, false)];
        let asked: Vec<u64> = packets
            .into_iter()
            .filter(|(at, wants)| requests.requests_feedback(Time::from_millis(*at), *wants))
            .map(|it| it.0)
            .collect();
        assert_eq!(asked, [0, 4, 9, 14]);
        let mut requests = FeedbackRequests::every(None);
        assert!(!requests.requests_feedback(Time::ZERO, false) && requests.requests_feedback(Time::ZERO, true));
    }
}
