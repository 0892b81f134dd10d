//! Copa's velocity: how fast the window moves while it keeps its direction (copa.md section 5).

use thalweg_units::{Span, Time};

/// v, and since when the window has gone one way.
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

    /// An acknowledgement came while the window is `cwnd`; once an `srtt`, the way it went since the last mark is judged.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        srtt: Span,
        cwnd: f64,
        up: bool,
        limited: bool,
        cap: f64,
        double_after: u32,
    ) {
        let (marked_at, marked) = *self.mark.get_or_insert((now, cwnd));
        if now - marked_at >= srtt {
            let direction = if cwnd > marked { 1 } else { -1 };
            if direction == self.direction && (limited || direction < 0) {
                self.same += 1;
                if self.same >= double_after {
                    self.value = (2.0 * self.value).min(cap);
                }
            } else {
                self.value = 1.0;
                self.same = 0;
            }
            self.direction = direction;
            self.mark = Some((now, cwnd));
        }
        let wanted = if up { 1 } else { -1 };
        // mvfst's safeguard: a fast window does not overshoot into the other direction.
        if wanted != self.direction && self.value > 1.0 {
            *self = Velocity { value: 1.0, direction: wanted, same: 0, mark: Some((now, cwnd)) };
        }
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

    #[test]
    fn velocity_doubles_from_the_third_round_trip_in_one_direction_on() {
        let mut velocity = Velocity::default();
        let srtt = Span::from_millis(50);
        let values: Vec<f64> = (0..8)
            .map(|round| {
                velocity.on_ack(Time::from_millis(50 * round), srtt, 10.0 + round as f64, true, true, 100.0, 3);
                velocity.get()
            })
            .collect();
        assert_eq!(values, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
    }

    #[test]
    fn a_change_of_mind_resets_it_at_once() {
        let mut velocity = Velocity::running(8.0, 1, Time::ZERO, 10.0);
        velocity.on_ack(Time::from_millis(1), Span::from_millis(50), 12.0, false, true, 100.0, 3);
        assert_eq!(velocity.get(), 1.0);
    }
}
