//! Copa's velocity: the speed at which the window moves while it keeps its direction (specs/copa.md 5).

use thalweg_units::{Span, Time};

/// How the velocity reacts when the window changes direction before its round trip is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Turning {
    /// It stays until the round trip is over (the paper, genericCC): the window returns as fast as it moved, so an
    /// overshoot is corrected within a round trip. Needed where packets are paced at window / srtt: the bytes in flight
    /// then follow the window a round trip later, and the window has overshot by the time the queue shows it.
    #[default]
    AtRoundTrip,
    /// It falls to 1 at once (mvfst): for senders paced at twice window / srtt, whose bytes in flight equal the window.
    AtOnce,
}

/// When the velocity changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// It doubles after this many round trips in one direction.
    pub(super) double_after: u32,
    pub(super) turning: Turning,
}

/// The data of an acknowledgement that the velocity needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ack {
    pub(super) now: Time,
    pub(super) srtt: Span,
    /// The window in packets.
    pub(super) cwnd: f64,
    /// True if the window is to grow.
    pub(super) up: bool,
    /// True if the window limits the sender.
    pub(super) limited: bool,
    pub(super) delta: f64,
}

impl Ack {
    /// The velocity at which the window doubles or halves in a round trip (specs/copa.md 3: v is at most delta times
    /// the window, so that nothing changes by more than a factor of 2).
    fn max(&self) -> f64 {
        (self.delta * self.cwnd / if self.up { 1.0 } else { 2.0 }).max(1.0)
    }
}

/// v, and how long the window has moved in one direction.
#[derive(Debug, Clone)]
pub(super) struct Velocity {
    value: f64,
    direction: i8,
    same: u32,
    mark: Option<(Time, f64)>,
}

impl Default for Velocity {
    fn default() -> Velocity {
        Velocity { value: 1.0, direction: 0, same: 0, mark: None }
    }
}

impl Velocity {
    pub(super) fn get(&self) -> f64 {
        self.value
    }

    /// Once per smoothed round trip, evaluates the direction in which the window moved since the last mark.
    pub(super) fn on_ack(&mut self, ack: &Ack, rule: Rule) {
        let (marked_at, marked) = *self.mark.get_or_insert((ack.now, ack.cwnd));
        if ack.now - marked_at >= ack.srtt {
            let direction = if ack.cwnd > marked { 1 } else { -1 };
            if direction == self.direction && (ack.limited || direction < 0) {
                self.same += 1;
                if self.same >= rule.double_after {
                    self.value *= 2.0;
                }
            } else {
                self.value = 1.0;
                self.same = 0;
            }
            self.direction = direction;
            self.mark = Some((ack.now, ack.cwnd));
        }
        let wanted = if ack.up { 1 } else { -1 };
        if rule.turning == Turning::AtOnce && wanted != self.direction && self.value > 1.0 {
            *self = Velocity { value: 1.0, direction: wanted, same: 0, mark: Some((ack.now, ack.cwnd)) };
        }
        self.value = self.value.min(ack.max());
    }

    #[cfg(test)]
    pub(super) fn running(value: f64, direction: i8, at: Time, cwnd: f64) -> Velocity {
        Velocity { value, direction, same: 5, mark: Some((at, cwnd)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SRTT: Span = Span::from_millis(50);

    fn ack(ms: u64, cwnd: f64, up: bool) -> Ack {
        Ack { now: Time::from_millis(ms), srtt: SRTT, cwnd, up, limited: true, delta: 0.9 }
    }

    fn rule(turning: Turning) -> Rule {
        Rule { double_after: 3, turning }
    }

    #[test]
    fn velocity_doubles_from_the_third_round_trip_in_one_direction_on() {
        let mut velocity = Velocity::default();
        let values: Vec<f64> = (0..8)
            .map(|round| {
                velocity.on_ack(&ack(50 * round, 100.0 + round as f64, true), rule(Turning::AtRoundTrip));
                velocity.get()
            })
            .collect();
        assert_eq!(values, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    }

    #[test]
    fn a_turn_resets_it_at_once_or_when_the_round_trip_is_over_and_the_window_has_fallen() {
        for (turning, after_a_millisecond) in [(Turning::AtOnce, 1.0), (Turning::AtRoundTrip, 8.0)] {
            let mut velocity = Velocity::running(8.0, 1, Time::ZERO, 40.0);
            velocity.on_ack(&ack(1, 42.0, false), rule(turning));
            assert_eq!(velocity.get(), after_a_millisecond, "{turning:?}");
            velocity.on_ack(&ack(51, 39.0, false), rule(turning));
            assert_eq!(velocity.get(), 1.0, "{turning:?}");
        }
    }

    #[test]
    fn in_a_round_trip_the_window_at_most_doubles_or_halves() {
        for (up, max) in [(true, 18.0), (false, 9.0)] {
            let mut velocity = Velocity::running(1000.0, if up { 1 } else { -1 }, Time::ZERO, 20.0);
            velocity.on_ack(&ack(1, 20.0, up), rule(Turning::AtRoundTrip));
            assert_eq!(velocity.get(), max);
            velocity.on_ack(&ack(2, 1.0, up), rule(Turning::AtRoundTrip));
            assert_eq!(velocity.get(), 1.0);
        }
    }
}
