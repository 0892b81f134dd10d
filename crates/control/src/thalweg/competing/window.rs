//! A window that competes as Cubic's does (RFC 9438), so that beside one flow of Cubic it is half of the whole.
//!
//! It grows with time, not with what is acknowledged: a camera sends what its frames need, and need not fill it.

use thalweg_units::{Span, Time};

/// C of RFC 9438, in packets per cubic second.
const STEEPNESS: f64 = 0.4;
/// beta of RFC 9438: the share that is left after a loss.
const DECREASE: f64 = 0.7;
/// Growth in a round trip of the Reno-friendly window, of which the mean is Reno's (RFC 9438 section 4.3).
const FRIENDLY: f64 = 3.0 * (1.0 - DECREASE) / (1.0 + DECREASE);
/// The least window, in packets: those with which the path is probed.
const LEAST: f64 = 4.0;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    packets: f64,
    /// W_max: the window at the plateau of the cubic.
    plateau: f64,
    /// When it last decreased.
    began: Time,
    /// K: seconds from there to the plateau.
    level: f64,
    friendly: f64,
    updated: Time,
}

impl Window {
    /// A window of so many packets, from which it grows as from a plateau.
    pub(super) fn new(now: Time, packets: f64) -> Window {
        let packets = packets.max(LEAST);
        Window { packets, plateau: packets, began: now, level: 0.0, friendly: packets, updated: now }
    }

    /// Its size in packets.
    pub(super) fn packets(&self) -> f64 {
        self.packets
    }

    /// Grows, up to `most` packets.
    pub(super) fn on_time(&mut self, now: Time, round_trip: Span, most: f64) {
        let increase = if self.friendly >= self.plateau { 1.0 } else { FRIENDLY };
        self.friendly += increase * (now - self.updated).ratio(round_trip.max(Span::from_millis(1)));
        self.updated = now;
        let away = (now - self.began).as_secs_f64() - self.level;
        let cubic = self.plateau + STEEPNESS * away * away * away;
        self.packets = self.packets.max(cubic.max(self.friendly).min(most));
        self.friendly = self.friendly.min(self.packets);
    }

    /// A packet was lost that left at `sent`: decreases the window, once for all that left before.
    pub(super) fn on_loss(&mut self, now: Time, sent: Time) {
        if sent <= self.began {
            return;
        }
        // Less than before leaves room for others (RFC 9438 section 4.7).
        let gives_way = self.packets < self.plateau;
        self.plateau = if gives_way { self.packets * (1.0 + DECREASE) / 2.0 } else { self.packets };
        self.packets = (self.packets * DECREASE).max(LEAST);
        self.level = libm::cbrt((self.plateau - self.packets).max(0.0) / STEEPNESS);
        (self.began, self.friendly, self.updated) = (now, self.packets, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn after(window: &mut Window, milliseconds: core::ops::RangeInclusive<u64>, round_trip: i64) -> f64 {
        for at in milliseconds.step_by(10) {
            window.on_time(MS(at), Span::from_millis(round_trip), 1000.0);
        }
        window.packets()
    }

    #[test]
    fn a_loss_leaves_seven_tenths_once_a_round_trip_and_the_plateau_is_reached_again_after_k() {
        let mut window = Window::new(MS(0), 100.0);
        window.on_loss(MS(1000), MS(900));
        window.on_loss(MS(1010), MS(950));
        assert!((window.packets() - 70.0).abs() < 1e-9, "the second left before the window decreased");
        // K = (30 / 0.4)^(1/3) = 4.217 s; at a round trip of a second the Reno-friendly window has grown by 2.2 packets.
        let (half, whole) = (after(&mut window, 1010..=3110, 1000), after(&mut window, 3120..=5220, 1000));
        assert!((96.0..=96.5).contains(&half), "{half}: 100 - 0.4 * 2.1^3");
        assert!((99.9..=100.1).contains(&whole), "{whole}");
    }

    #[test]
    fn with_short_round_trips_it_grows_as_renos_mean_does() {
        let mut window = Window::new(MS(0), 20.0);
        window.on_loss(MS(1000), MS(900));
        // 0.53 packets each 50 ms from 14: 19.3 after half a second; the cubic has reached less than that.
        let packets = after(&mut window, 1010..=1500, 50);
        assert!((19.0..=19.6).contains(&packets), "{packets}");
    }

    #[test]
    fn a_loss_below_the_last_plateau_leaves_room_for_others() {
        let mut window = Window::new(MS(0), 100.0);
        window.on_loss(MS(1000), MS(900));
        window.on_loss(MS(1200), MS(1100));
        assert!((window.packets() - 49.0).abs() < 1e-9);
        // The plateau is 0.85 of the 70 packets that it had, not 100.
        let packets = after(&mut window, 1210..=6200, 1000);
        assert!((62.5..=63.1).contains(&packets), "{packets}: K is 2.97 s, 59.5 + 0.4 * 2.03^3");
    }
}
