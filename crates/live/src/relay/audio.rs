//! The time of audio packets that go on.

use thalweg_units::{Span, Time};

/// Ticks of Opus in a second (RFC 7587).
const CLOCK: u64 = 48_000;
/// So far the sender's clock may be from ours before it is set anew: it was stopped, or another stream began.
const FAR: u64 = 10 * CLOCK;
/// A measured skew counts by one part in so many: one packet more or less late moves the audio by little.
const SHARE: i64 = 16;
/// The most that audio is moved: more is an error of the sender's reports.
const MOST: Span = Span::from_secs(1);

/// One clock for the packets of all senders that come one after the other: it never goes back.
#[derive(Debug, Default)]
pub(super) struct AudioClock {
    /// A timestamp of the sender, and its ticks here.
    base: Option<(u64, u64)>,
    last: u64,
    skew: Option<Span>,
}

impl AudioClock {
    /// Another sender's packets follow.
    pub(super) fn begin_anew(&mut self) {
        (self.base, self.skew) = (None, None);
    }

    /// The ticks of the packet with this timestamp.
    pub(super) fn ticks(&mut self, arrived: Time, timestamp: u64) -> u64 {
        let now = (u128::from(CLOCK) * arrived.as_nanos() as u128 / 1_000_000_000) as u64;
        let here = |(first, ticks): (u64, u64)| Some(ticks + timestamp.checked_sub(first)?);
        let ticks = self.base.and_then(here).filter(|ticks| ticks.abs_diff(now) < FAR).unwrap_or_else(|| {
            self.base = Some((timestamp, now));
            now
        });
        self.last = self.last.max(ticks);
        self.last
    }

    /// How much later than it comes audio belongs to the pictures that come, by what was measured until now.
    pub(super) fn skew(&mut self, measured: Option<Span>) -> Span {
        if let Some(measured) = measured {
            let measured = measured.clamp(-MOST, MOST);
            self.skew = Some(self.skew.map_or(measured, |skew| skew + (measured - skew) / SHARE));
        }
        self.skew.unwrap_or(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clock_goes_on_from_sender_to_sender_and_over_what_is_left_out() {
        let mut clock = AudioClock::default();
        assert_eq!(clock.ticks(Time::from_millis(1000), 1 << 32), 48_000);
        // What jitters on the way keeps its place, and so does what comes after silence.
        assert_eq!(clock.ticks(Time::from_millis(1050), (1 << 32) + 960), 48_960);
        assert_eq!(clock.ticks(Time::from_millis(3000), (1 << 32) + 96_000), 144_000);
        clock.begin_anew();
        assert_eq!(clock.ticks(Time::from_millis(5000), 7), 240_000);
        assert_eq!(clock.ticks(Time::from_millis(5020), 967), 240_960);
        // A timestamp from before, or from another time: the clock is set anew and does not go back.
        assert_eq!(clock.ticks(Time::from_millis(5010), 3), 240_960);
        assert_eq!(clock.ticks(Time::from_millis(6000), 1 << 40), 288_000);
        assert_eq!(clock.ticks(Time::from_millis(6020), (1 << 40) + 960), 288_960);
    }

    #[test]
    fn the_skew_follows_slowly_and_within_a_second() {
        let mut clock = AudioClock::default();
        assert_eq!(clock.skew(None), Span::ZERO);
        assert_eq!(clock.skew(Some(Span::from_millis(80))), Span::from_millis(80));
        assert_eq!(clock.skew(Some(Span::from_millis(400))), Span::from_millis(100));
        assert_eq!(clock.skew(None), Span::from_millis(100));
        clock.begin_anew();
        assert_eq!(clock.skew(Some(Span::from_secs(9))), Span::from_secs(1));
    }
}
