//! Reports that the receiver held back for long.

use thalweg_control::Acknowledgement;
use thalweg_units::{Span, Time};

/// Reports that come within this time were sent at once.
const AT_ONCE: Span = Span::from_millis(20);
/// So long after the first packet that it reports, a report has been held: libwebrtc's come every 50 to 250 ms
/// (`RemoteEstimatorProxy`).
const HELD: Span = Span::from_millis(400);

/// Counts the times at which reports came that had been held.
///
/// Measures the time between the arrivals that are reported at once, by the receiver's clock: a path on which nothing
/// arrives delays reports too, but then the arrivals are close together.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// When the reports came that are together now, and the first and the last arrival in them.
    together: Option<(Time, Time, Time)>,
    /// True if these are counted already.
    is_counted: bool,
    times: u64,
}

impl Held {
    /// A report came.
    pub(super) fn on_report(&mut self, now: Time, acknowledgements: &[Acknowledgement]) {
        let arrivals = || acknowledgements.iter().filter_map(|one| one.arrival);
        let Some((first, last)) = arrivals().min().zip(arrivals().max()) else { return };
        let (at, first, last) = match self.together {
            Some((at, earliest, latest)) if now - at <= AT_ONCE => (at, earliest.min(first), latest.max(last)),
            _ => {
                self.is_counted = false;
                (now, first, last)
            }
        };
        self.together = Some((at, first, last));
        if last - first > HELD && !self.is_counted {
            self.is_counted = true;
            self.times += 1;
        }
    }

    /// How many times such reports came.
    pub(super) fn times(&self) -> u64 {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use thalweg_control::PacketId;

    use super::*;

    /// A report at a time on arrivals at these times, in milliseconds.
    fn report(held: &mut Held, now: u64, arrivals: &[u64]) -> u64 {
        let arrived = |at: &u64| Acknowledgement::new(PacketId(*at), Some(Time::from_millis(*at)));
        held.on_report(Time::from_millis(now), &arrivals.iter().map(arrived).collect::<Vec<_>>());
        held.times()
    }

    #[test]
    fn what_was_held_is_counted_once_for_all_reports_that_come_at_once() {
        let mut held = Held::default();
        assert_eq!(report(&mut held, 1000, &[100, 300, 500]), 0, "400 ms at most");
        assert_eq!(report(&mut held, 2000, &[600, 1001]), 1);
        assert_eq!(report(&mut held, 2015, &[1002]), 1, "together with the last");
        // One report for each packet, all sent at once.
        assert_eq!(report(&mut held, 3000, &[1100]), 1);
        assert_eq!(report(&mut held, 3001, &[1300]), 1);
        assert_eq!(report(&mut held, 3002, &[1501]), 2);
        assert_eq!(report(&mut held, 3003, &[1900]), 2);
        // Nothing came for long, and then all at once.
        assert_eq!(report(&mut held, 9000, &[8000, 8001]), 2);
        assert_eq!(report(&mut held, 9500, &[]), 2);
    }
}
