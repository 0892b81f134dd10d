//! ref_wnd: when it shrinks and grows (draft section "Reference Window Update").

use thalweg_units::{Bytes, Span, Time};

use super::{Losses, WindowConfig};

/// The kind of congestion that shrinks the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Congestion {
    /// Packets were lost.
    Lost,
    /// Packets were marked, on a path with classic ECN: this factor is left.
    Marked(f64),
    /// Packets were marked, on an L4S path.
    MarkedL4s {
        /// l4s_alpha.
        alpha: f64,
        /// True if the queue is so short (below a quarter of the target) that a window near its last inflection shrinks
        /// less.
        queue_is_short: bool,
        /// max_bytes_in_flight_prev.
        in_flight_before: Bytes,
    },
    /// The queueing delay is above half its target; `alpha` says how far.
    Delayed {
        /// a.
        alpha: f64,
    },
}

/// The reference window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    config: WindowConfig,
    /// w, in bytes.
    bytes: f64,
    /// w_i: the window at the last congestion.
    inflection: f64,
    /// True if the window grew since w_i was set.
    may_set_inflection: bool,
    last_reaction: Option<Time>,
    last_loss_reaction: Option<Time>,
    last_mark_reaction: Option<Time>,
    /// The time of the last loss or mark: growth is limited for a while after it.
    last_congestion: Option<Time>,
}

impl Window {
    pub(super) fn new(config: WindowConfig) -> Window {
        Window {
            bytes: config.min.as_f64(),
            // The draft's initial value: no window is close to it.
            inflection: 1.0,
            may_set_inflection: true,
            last_reaction: None,
            last_loss_reaction: None,
            last_mark_reaction: None,
            last_congestion: None,
            config,
        }
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(libm::round(self.bytes) as u64)
    }

    pub(super) fn inflection(&self) -> Bytes {
        Bytes::new(libm::round(self.inflection) as u64)
    }

    /// MSS / w: large if the window holds few packets.
    pub(super) fn segment_share(&self) -> f64 {
        self.config.segment.as_f64() / self.bytes
    }

    /// Sets the window, limited to its min.
    pub(super) fn set(&mut self, bytes: Bytes) {
        self.bytes = bytes.as_f64().max(self.config.min.as_f64());
    }

    /// The min interval between reactions: min(VIRTUAL_RTT, s_rtt).
    pub(super) fn turn(&self, srtt: Span) -> Span {
        self.config.virtual_rtt.min(srtt)
    }

    /// max(1, s_rtt / VIRTUAL_RTT): the number of reactions per round trip, by which each is divided.
    fn turns(&self, srtt: Span) -> f64 {
        srtt.ratio(self.config.virtual_rtt).max(1.0)
    }

    /// POST_CONGESTION_DELAY_RTT round trips.
    fn long_while(&self, srtt: Span) -> Span {
        srtt.max(self.config.virtual_rtt).scale(self.config.post_congestion)
    }

    /// scl: 0.1 at the last inflection, 1 at a distance of an eighth.
    pub(super) fn closeness(&self) -> f64 {
        let away = self.config.closeness * (self.bytes - self.inflection) / self.inflection;
        (away * away).clamp(0.1, 1.0)
    }

    /// Returns true if a reaction is due.
    pub(super) fn answers(&self, now: Time, srtt: Span) -> bool {
        self.last_reaction.is_none_or(|at| now - at >= self.turn(srtt))
    }

    /// Returns true if a reaction to a loss is due, given that reactions are due.
    pub(super) fn answers_loss(&self, now: Time, srtt: Span) -> bool {
        self.config.losses == Losses::EachVirtualRoundTrip || self.last_loss_reaction.is_none_or(|at| now - at >= srtt)
    }

    /// Returns true if a classic answer to a mark is due, once in a round trip.
    pub(super) fn answers_classic_mark(&self, now: Time, srtt: Span) -> bool {
        self.last_mark_reaction.is_none_or(|at| now - at >= srtt)
    }

    /// Records a loss or mark, whether or not the window reacts to it.
    pub(super) fn note_congestion(&mut self, now: Time) {
        self.last_congestion = Some(now);
    }

    /// Shrinks the window; `closeness` is its value before the reaction.
    pub(super) fn reduce(&mut self, now: Time, srtt: Span, congestion: Congestion, closeness: f64) {
        if self.may_set_inflection {
            self.may_set_inflection = false;
            self.inflection = self.bytes;
        }
        let turns = self.turns(srtt);
        self.bytes *= match congestion {
            Congestion::Lost => {
                self.last_loss_reaction = Some(now);
                self.config.beta_loss
            }
            Congestion::Marked(beta) => {
                self.last_mark_reaction = Some(now);
                beta
            }
            Congestion::MarkedL4s { alpha, queue_is_short, in_flight_before } => {
                // After a long time without congestion, the window may be far above the bytes in flight.
                if self.last_reaction.is_some_and(|at| now - at > self.long_while(srtt)) {
                    self.bytes = self.bytes.min(in_flight_before.as_f64());
                }
                1.0 - alpha / 2.0 / turns * if queue_is_short { closeness.max(0.25) } else { 1.0 }
            }
            Congestion::Delayed { alpha } => 1.0 - alpha / 2.0 / turns,
        };
        self.bytes = self.bytes.max(self.config.min.as_f64());
        self.last_reaction = Some(now);
    }

    /// Grows by the bytes acknowledged without a mark, if enough was in flight to use the window.
    pub(super) fn increase(&mut self, now: Time, srtt: Span, acked: Bytes, closeness: f64, in_flight: Bytes) {
        let segment = self.config.segment.as_f64();
        let post_congestion =
            self.last_congestion.map_or(1.0, |at| (now - at).ratio(self.long_while(srtt)).clamp(0.0, 1.0));
        let multiplicative = self.config.multiplicative * self.bytes / segment * post_congestion * closeness;
        let step = acked.as_f64()
            * self.segment_share().min(1.0)
            * srtt.ratio(self.config.virtual_rtt).min(1.0)
            * closeness.max(0.25)
            * (1.0 + multiplicative);
        if step > 0.0 && self.bytes + step <= segment + self.config.headroom * in_flight.as_f64() {
            self.bytes += step;
            self.may_set_inflection = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SRTT: Span = Span::from_millis(50);

    fn window(bytes: f64, inflection: f64) -> Window {
        Window { bytes, inflection, ..Window::new(WindowConfig::default()) }
    }

    #[test]
    fn steps_are_a_tenth_at_the_last_inflection_and_whole_an_eighth_away() {
        for (bytes, inflection, closeness) in
            [(40e3, 50e3, 1.0), (45e3, 50e3, 0.64), (49e3, 50e3, 0.1), (50e3, 1.0, 1.0)]
        {
            assert!((window(bytes, inflection).closeness() - closeness).abs() < 1e-9, "{bytes}");
        }
    }

    #[test]
    fn delay_half_way_to_the_target_takes_an_eighth_and_loss_three_tenths() {
        let now = Time::from_millis(1000);
        for (congestion, left) in [
            (Congestion::Delayed { alpha: 0.5 }, 43_750.0),
            (Congestion::Lost, 35_000.0),
            (Congestion::Marked(0.8), 40_000.0),
            (Congestion::MarkedL4s { alpha: 1.0, queue_is_short: false, in_flight_before: Bytes::ZERO }, 37_500.0),
        ] {
            let mut window = window(50e3, 100e3);
            window.reduce(now, SRTT, congestion, 1.0);
            assert!((window.bytes - left).abs() < 1e-6, "{congestion:?}: {}", window.bytes);
            assert_eq!(window.inflection, 50e3);
            assert!(
                !window.answers(now + Span::from_millis(24), SRTT) && window.answers(now + Span::from_millis(25), SRTT)
            );
        }
    }

    #[test]
    fn near_the_inflection_a_mark_takes_a_quarter_while_the_queue_is_short() {
        let mut window = window(50e3, 51e3);
        let marked = Congestion::MarkedL4s { alpha: 1.0, queue_is_short: true, in_flight_before: Bytes::ZERO };
        window.reduce(Time::from_millis(1000), SRTT, marked, window.closeness());
        assert!((window.bytes - 50e3 * (1.0 - 0.25 / 4.0)).abs() < 1e-6, "{}", window.bytes);
    }

    #[test]
    fn the_first_mark_for_long_brings_the_window_down_to_what_was_in_flight() {
        let mut window = window(50e3, 51e3);
        window.last_reaction = Some(Time::ZERO);
        let marked = Congestion::MarkedL4s { alpha: 0.0, queue_is_short: true, in_flight_before: Bytes::new(20_000) };
        window.reduce(Time::from_millis(5001), SRTT, marked, 1.0);
        assert_eq!(window.bytes, 20e3);
    }

    #[test]
    fn a_round_trip_grows_the_window_as_the_worked_numbers_say() {
        let now = Time::from_millis(200_000);
        for (inflection, srtt_ms, clean_for, bytes, step) in [
            (100e3, 50, 100, 50e3, 2000.0),
            // scl is 0.1 at 50 of 51 kB; one second without congestion, of five.
            (51e3, 50, 1, 50e3, 255.0),
            (100e3, 10, 100, 50e3, 800.0),
        ] {
            let mut window = window(bytes, inflection);
            window.note_congestion(now - Span::from_secs(clean_for));
            let closeness = window.closeness();
            let (acked, in_flight) = (Bytes::new(bytes as u64), Bytes::new(bytes as u64));
            window.increase(now, Span::from_millis(srtt_ms), acked, closeness, in_flight);
            assert!((window.bytes - bytes - step).abs() < 1e-6, "{}", window.bytes - bytes);
            assert!(window.may_set_inflection);
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = window(50e3, 100e3);
        window.increase(Time::from_millis(1000), SRTT, Bytes::new(20_000), 1.0, Bytes::new(30_000));
        assert_eq!(window.bytes, 50e3);
        window.increase(Time::from_millis(1000), SRTT, Bytes::new(20_000), 1.0, Bytes::new(34_000));
        assert_eq!(window.bytes, 50_800.0);
    }

    #[test]
    fn losses_are_answered_each_virtual_round_trip_or_each_round_trip() {
        for (losses, soon) in [(Losses::EachVirtualRoundTrip, true), (Losses::EachRoundTrip, false)] {
            let mut window = Window::new(WindowConfig { losses, ..WindowConfig::default() });
            window.reduce(Time::from_millis(1000), SRTT, Congestion::Lost, 1.0);
            assert_eq!(window.bytes, 3000.0, "never less than the least");
            assert_eq!(window.answers_loss(Time::from_millis(1026), SRTT), soon);
            assert!(window.answers_loss(Time::from_millis(1050), SRTT));
        }
    }

    proptest! {
        #[test]
        fn the_window_stays_above_the_least_and_grows_no_further_than_what_was_in_flight_bears(
            steps in prop::collection::vec((0u8..6, 1i64..400, 1u64..200_000, 0.0f64..1.0), 1..200)
        ) {
            let mut window = Window::new(WindowConfig::default());
            let mut now = Time::ZERO;
            for (kind, srtt, bytes, alpha) in steps {
                now += Span::from_millis(srtt);
                let (srtt, bytes, closeness) = (Span::from_millis(srtt), Bytes::new(bytes), window.closeness());
                let before = window.bytes;
                prop_assert!((0.1..=1.0).contains(&closeness));
                let congestion = match kind {
                    0 => Congestion::Lost,
                    1 => Congestion::Marked(0.8),
                    2 => Congestion::MarkedL4s { alpha, queue_is_short: true, in_flight_before: bytes },
                    3 => Congestion::Delayed { alpha },
                    _ => {
                        window.increase(now, srtt, bytes, closeness, bytes);
                        let max = before.max(1000.0 + 1.5 * bytes.as_f64());
                        prop_assert!(window.bytes >= before && window.bytes <= max);
                        continue;
                    }
                };
                window.reduce(now, srtt, congestion, closeness);
                prop_assert!(window.bytes >= 3000.0 && window.bytes <= before);
            }
        }
    }
}
