//! When padding leaves that a controller asks for by a rate ([`PaddingLimit`]).

use thalweg_control::PaddingLimit;
use thalweg_units::{Bytes, Rate, Time};

use crate::pacing::Pacer;

/// Padding at a rate, in the gaps of media.
#[derive(Debug, Clone, Default)]
pub struct Continuous {
    limit: PaddingLimit,
    pacer: Pacer,
}

impl Continuous {
    /// Sets the controller's padding limit from now on.
    pub fn set_limit(&mut self, now: Time, limit: PaddingLimit) {
        self.limit = limit;
        self.pacer.set_rate(now, limit.rate());
    }

    /// When the next packet of padding may leave; [`Time::NEVER`] if none is asked for.
    pub fn next_send(&self) -> Time {
        if self.limit.rate() > Rate::ZERO { self.pacer.next_send() } else { Time::NEVER }
    }

    /// A packet of `size` leaves now; whether it counts depends on what was asked for.
    pub fn on_sent(&mut self, now: Time, size: Bytes, is_padding: bool) {
        if is_padding || self.limit.counts_media() {
            self.pacer.on_sent(now, size);
        }
        if self.limit.counts_media() {
            self.pacer.forgive(now + PaddingLimit::MAX_DEBT);
        }
    }
}

#[cfg(test)]
mod tests {
    use thalweg_units::Span;

    use super::*;

    fn asked(limit: PaddingLimit) -> Continuous {
        let mut padding = Continuous::default();
        padding.set_limit(Time::ZERO, limit);
        padding
    }

    #[test]
    fn nothing_leaves_that_is_not_asked_for() {
        let mut padding = asked(PaddingLimit::None);
        assert_eq!(padding.next_send(), Time::NEVER);
        padding.on_sent(Time::ZERO, Bytes::new(1250), false);
        padding.set_limit(Time::ZERO, PaddingLimit::UpTo(Rate::from_kbps(1000)));
        assert_eq!(padding.next_send(), Time::ZERO, "what left before does not count");
        padding.set_limit(Time::ZERO, PaddingLimit::up_to(Rate::ZERO));
        assert_eq!(padding.next_send(), Time::NEVER);
    }

    #[test]
    fn media_counts_towards_a_total_and_not_towards_what_is_asked_for_beside_it() {
        let rate = Rate::from_kbps(1000);
        for (limit, expected) in [(PaddingLimit::UpTo(rate), 30), (PaddingLimit::Beside(rate), 10)] {
            let mut padding = asked(limit);
            padding.on_sent(Time::ZERO, Bytes::new(1250), true);
            padding.on_sent(Time::ZERO, Bytes::new(2500), false);
            assert_eq!(padding.next_send(), Time::from_millis(expected), "{limit:?}");
        }
    }

    #[test]
    fn a_burst_of_media_holds_padding_back_for_half_a_second_at_most() {
        let mut padding = asked(PaddingLimit::UpTo(Rate::from_kbps(20)));
        padding.on_sent(Time::from_millis(100), Bytes::new(100_000), false);
        assert_eq!(padding.next_send(), Time::from_millis(100) + Span::from_millis(500));
    }
}
