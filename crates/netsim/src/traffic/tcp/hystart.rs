//! HyStart++: slow start that ends when round trips grow (RFC 9406).

use thalweg_units::Span;

/// Samples needed in a round before it is evaluated (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// A round trip has grown if it is longer by an eighth (MIN_RTT_DIVISOR), clamped to MIN_RTT_THRESH and MAX_RTT_THRESH.
const LONGER: i64 = 8;
const MIN_RTT_THRESHOLD: Span = Span::from_millis(4);
const MAX_RTT_THRESHOLD: Span = Span::from_millis(16);
/// Conservative slow start grows at a quarter of the speed (CSS_GROWTH_DIVISOR) for this many rounds (CSS_ROUNDS).
const CONSERVATIVE_DIVISOR: f64 = 4.0;
const CONSERVATIVE_ROUNDS: u32 = 5;
/// Without pacing one acknowledgement counts for at most this many segments (L).
const BURST: f64 = 8.0;

/// The effect of an acknowledgement on slow start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Growth {
    /// The window grows by this many segments.
    By(f64),
    /// Slow start ends.
    Leave,
}

/// Rounds of slow start.
#[derive(Debug, Clone)]
pub(super) struct HyStart {
    paced: bool,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    last_round: Span,
    this_round: Span,
    samples: u32,
    /// Conservative slow start: the round trip that started it, and its rounds so far.
    conservative: Option<(Span, u32)>,
}

impl HyStart {
    pub(super) fn new(paced: bool) -> HyStart {
        HyStart { paced, round_end: 0, last_round: Span::MAX, this_round: Span::MAX, samples: 0, conservative: None }
    }

    /// `segments` were acknowledged, up to byte `up_to`, and `next` is the next byte to be sent; their round trip was
    /// `rtt`.
    pub(super) fn on_acknowledged(&mut self, segments: f64, (up_to, next): (u64, u64), rtt: Option<Span>) -> Growth {
        if up_to >= self.round_end && self.begin_round(next) {
            return Growth::Leave;
        }
        if let Some(rtt) = rtt {
            self.this_round = self.this_round.min(rtt);
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            self.judge();
        }
        let segments = if self.paced { segments } else { segments.min(BURST) };
        Growth::By(if self.conservative.is_some() { segments / CONSERVATIVE_DIVISOR } else { segments })
    }

    /// Begins a round; returns whether slow start ends with it.
    fn begin_round(&mut self, next: u64) -> bool {
        self.round_end = next;
        self.last_round = self.this_round;
        self.this_round = Span::MAX;
        self.samples = 0;
        self.conservative.as_mut().is_some_and(|(_, rounds)| {
            *rounds += 1;
            *rounds >= CONSERVATIVE_ROUNDS
        })
    }

    fn judge(&mut self) {
        match self.conservative {
            // The delay was temporary.
            Some((began, _)) if self.this_round < began => self.conservative = None,
            None if self.last_round < Span::MAX => {
                let longer = (self.last_round / LONGER).max(MIN_RTT_THRESHOLD).min(MAX_RTT_THRESHOLD);
                if self.this_round >= self.last_round + longer {
                    self.conservative = Some((self.this_round, 0));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a round of ten acknowledgements and returns the effect of the last.
    fn round(hystart: &mut HyStart, number: u64, millis: i64) -> Growth {
        let mut growth = Growth::By(0.0);
        for index in 0..10 {
            let bytes = (number * 10 + index, (number + 1) * 10);
            growth = hystart.on_acknowledged(1.0, bytes, Some(Span::from_millis(millis)));
            if growth == Growth::Leave {
                break;
            }
        }
        growth
    }

    #[test]
    fn a_round_trip_longer_by_an_eighth_slows_growth_and_ends_it_after_five_rounds() {
        let mut hystart = HyStart::new(false);
        assert_eq!(round(&mut hystart, 0, 80), Growth::By(1.0));
        assert_eq!(round(&mut hystart, 1, 89), Growth::By(1.0));
        assert_eq!(round(&mut hystart, 2, 101), Growth::By(0.25));
        for number in 3..7 {
            assert_eq!(round(&mut hystart, number, 101), Growth::By(0.25));
        }
        assert_eq!(round(&mut hystart, 7, 101), Growth::Leave);
    }

    #[test]
    fn a_passing_delay_does_not_end_slow_start() {
        let mut hystart = HyStart::new(false);
        round(&mut hystart, 0, 80);
        assert_eq!(round(&mut hystart, 1, 95), Growth::By(0.25));
        assert_eq!(round(&mut hystart, 2, 82), Growth::By(1.0));
    }

    #[test]
    fn one_acknowledgement_of_many_counts_for_eight_unless_paced() {
        let grow = |paced| HyStart::new(paced).on_acknowledged(20.0, (0, 10), None);
        assert_eq!((grow(false), grow(true)), (Growth::By(8.0), Growth::By(20.0)));
    }
}
