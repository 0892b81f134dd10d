//! Whether anybody is heard (specs/rebera.md 2 and 7): after half a second of nothing sending stops, after three a frame a period tries.

use thalweg_units::{Span, Time};

/// How long nothing has been heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Contact {
    /// Not too long.
    Heard,
    /// So long that what is sent would only wait.
    Stopped,
    /// So long that one frame is worth trying.
    Lost,
}

/// The time since packets that were sent were last told of.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    stop_after: Span,
    retry_after: Span,
    /// Since when news are due; `None` while nothing is under way.
    waiting: Option<Time>,
    pub(super) contact: Contact,
}

impl Silence {
    pub(super) fn new(stop_after: Span, retry_after: Span) -> Silence {
        Silence { stop_after, retry_after, waiting: None, contact: Contact::Heard }
    }

    /// Nothing is to be sent after so much silence.
    pub(super) fn set_stop_after(&mut self, stop_after: Span) {
        self.stop_after = stop_after;
    }

    /// A packet left.
    pub(super) fn on_sent(&mut self, now: Time) {
        self.waiting.get_or_insert(now);
    }

    /// There is news of packets; `more` of them are still under way.
    pub(super) fn on_news(&mut self, now: Time, more: bool) {
        self.waiting = more.then_some(now);
        self.contact = Contact::Heard;
    }

    pub(super) fn next_timeout(&self) -> Time {
        let Some(since) = self.waiting else { return Time::NEVER };
        match self.contact {
            Contact::Heard => since + self.stop_after,
            Contact::Stopped => since + self.retry_after.max(self.stop_after),
            Contact::Lost => Time::NEVER,
        }
    }

    /// Whether anything changed.
    pub(super) fn on_timeout(&mut self, now: Time) -> bool {
        let before = self.contact;
        while self.next_timeout() <= now {
            self.contact = if self.contact == Contact::Heard { Contact::Stopped } else { Contact::Lost };
        }
        self.contact != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn silence_stops_after_half_a_second_and_tries_after_three_and_news_end_it() {
        let mut silence = Silence::new(Span::from_millis(500), Span::from_secs(3));
        assert!(!silence.on_timeout(MS(10_000)) && silence.next_timeout() == Time::NEVER);
        silence.on_sent(MS(10_000));
        silence.on_sent(MS(10_400));
        assert_eq!(silence.next_timeout(), MS(10_500));
        assert!(!silence.on_timeout(MS(10_499)) && silence.on_timeout(MS(10_500)));
        assert_eq!((silence.contact, silence.next_timeout()), (Contact::Stopped, MS(13_000)));
        assert!(silence.on_timeout(MS(13_000)));
        assert_eq!((silence.contact, silence.next_timeout()), (Contact::Lost, Time::NEVER));
        silence.on_news(MS(13_100), true);
        assert_eq!((silence.contact, silence.next_timeout()), (Contact::Heard, MS(13_600)));
        silence.on_news(MS(13_200), false);
        assert_eq!(silence.next_timeout(), Time::NEVER);
    }
}
