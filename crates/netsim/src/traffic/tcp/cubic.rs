//! Cubic's congestion window (RFC 9438; specs/cubic.md 1).

use thalweg_units::{ConfigError, Span, Time, check};

/// Parameters of Cubic.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct CubicConfig {
    /// C of RFC 9438, the steepness of the cubic in segments per cubic second: 0.4. 0 for none: the window then grows as
    /// the Reno-friendly window alone.
    pub steepness: f64,
    /// beta of RFC 9438, the share of the window that is left after a loss: 0.7.
    pub decrease: f64,
    /// Makes room for other flows at a loss before the previous window is reached again (RFC 9438 section 4.7).
    pub fast_convergence: bool,
    /// The initial window, and the max window after an idle time, in segments (RFC 6928: 10).
    pub initial_window: u32,
}

impl Default for CubicConfig {
    fn default() -> CubicConfig {
        CubicConfig { steepness: 0.4, decrease: 0.7, fast_convergence: true, initial_window: 10 }
    }
}

impl CubicConfig {
    /// Reno's window (RFC 5681): half of it is left after a loss, and it grows by a segment in a round trip.
    pub(super) const RENO: CubicConfig =
        CubicConfig { steepness: 0.0, decrease: 0.5, fast_convergence: false, initial_window: 10 };

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("cubic.steepness", self.steepness).within(0.0..=100.0, "0.4")?;
        check("cubic.decrease", self.decrease).within(0.1..=0.95, "0.7")?;
        check("cubic.initial_window", self.initial_window).within(1..=10_000, "10")?;
        Ok(())
    }

    /// Growth per round trip of the Reno-friendly window, so that its average equals Reno's (RFC 9438 section 4.3).
    fn friendly_increase(&self) -> f64 {
        3.0 * (1.0 - self.decrease) / (1.0 + self.decrease)
    }
}

/// A period of congestion avoidance between two losses.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    began: Time,
    /// K: when the cubic reaches its plateau, in seconds since the epoch began.
    level: f64,
    /// The Reno-friendly window.
    friendly: f64,
}

/// The window, in segments.
#[derive(Debug, Clone)]
pub struct Cubic {
    config: CubicConfig,
    window: f64,
    threshold: f64,
    /// W_max: the window at the plateau of the cubic.
    plateau: f64,
    /// The window before the last loss.
    prior: f64,
    epoch: Option<Epoch>,
    /// Since when the application has not filled the window.
    unfilled_since: Option<Time>,
}

impl Cubic {
    /// The initial window of a new connection.
    pub fn new(config: CubicConfig) -> Cubic {
        let window = f64::from(config.initial_window);
        Cubic { config, window, threshold: f64::INFINITY, plateau: 0.0, prior: 0.0, epoch: None, unfilled_since: None }
    }

    /// The window: how many segments may be in flight, at least 1.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The slow start threshold, in segments; infinite before the first loss.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns true if the window is below the slow start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// `segments` were acknowledged, with smoothed round trip `rtt`; `filled` if the application had filled the window.
    pub fn on_acknowledged(&mut self, now: Time, segments: f64, rtt: Span, filled: bool) {
        if !filled {
            self.unfilled_since.get_or_insert(now);
            return;
        }
        if let (Some(since), Some(epoch)) = (self.unfilled_since.take(), &mut self.epoch) {
            // RFC 9438 section 4.2: the time in which the application did not fill the window does not count for its
            // growth.
            epoch.began += now - since;
        }
        if self.in_slow_start() {
            self.window += segments;
        } else {
            self.avoid_congestion(now, segments, rtt);
        }
    }

    /// Grows the window by `segments` in slow start, which may be less than were acknowledged (HyStart++).
    pub(super) fn grow_by(&mut self, segments: f64) {
        self.window += segments;
    }

    /// Ends slow start without a loss.
    pub(super) fn leave_slow_start(&mut self) {
        self.threshold = self.window;
    }

    fn avoid_congestion(&mut self, now: Time, segments: f64, rtt: Span) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now));
        let since = (now - epoch.began).as_secs_f64();
        let wanted = self.at(since + rtt.as_secs_f64(), &epoch).clamp(self.window, 1.5 * self.window);
        let increase = if epoch.friendly >= self.prior { 1.0 } else { self.config.friendly_increase() };
        epoch.friendly += increase * segments / self.window;
        if self.config.steepness == 0.0 || self.at(since, &epoch) < epoch.friendly {
            self.window = self.window.max(epoch.friendly);
        } else {
            self.window += segments * (wanted - self.window) / self.window;
        }
        self.epoch = Some(epoch);
    }

    fn begin(&mut self, now: Time) -> Epoch {
        // RFC 9438 starts at the window at the beginning of the epoch, where RFC 8312 had the plateau times 1 - beta.
        let below = self.plateau - self.window;
        let level =
            if below > 0.0 && self.config.steepness > 0.0 { libm::cbrt(below / self.config.steepness) } else { 0.0 };
        self.plateau = self.plateau.max(self.window);
        Epoch { began: now, level, friendly: self.window }
    }

    /// W(t): the cubic `since` seconds after the epoch began.
    fn at(&self, since: f64, epoch: &Epoch) -> f64 {
        let away = since - epoch.level;
        self.config.steepness * away * away * away + self.plateau
    }

    /// The first loss of a recovery. `under_way` is the number of segments in flight if the application had not filled
    /// the window.
    pub fn on_loss(&mut self, under_way: Option<f64>) {
        self.prior = self.window;
        self.plateau = if self.config.fast_convergence && self.window < self.plateau {
            self.window * (1.0 + self.config.decrease) / 2.0
        } else {
            self.window
        };
        self.threshold = (under_way.unwrap_or(self.window) * self.config.decrease).max(2.0);
        self.window = self.threshold;
        self.epoch = None;
    }

    /// Leaves this share of the window, and ends slow start.
    pub(super) fn reduce(&mut self, left: f64) {
        self.window = (self.window * left).max(2.0);
        self.threshold = self.window;
        self.epoch = None;
    }

    /// The retransmission timer expired; `again` for the same bytes, which keeps the threshold (RFC 5681 section 3.1).
    pub fn on_timeout(&mut self, again: bool) {
        if !again {
            self.prior = self.window;
            self.plateau = self.window;
            self.threshold = (self.window * self.config.decrease).max(2.0);
        }
        self.window = 1.0;
        self.epoch = None;
    }

    /// Nothing was sent for longer than the retransmission timeout, so the window no longer reflects the path
    /// (RFC 5681 section 4.1).
    pub fn on_idle(&mut self) {
        self.window = self.window.min(f64::from(self.config.initial_window));
        self.epoch = None;
        self.unfilled_since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 0.001, "{value} is not {expected}");
    }

    /// A window of 100 right after a loss.
    fn after_a_loss() -> Cubic {
        Cubic { window: 100.0, threshold: 50.0, ..Cubic::new(CubicConfig::default()) }
            .after(|cubic| cubic.on_loss(None))
    }

    impl Cubic {
        fn after(mut self, what: impl FnOnce(&mut Cubic)) -> Cubic {
            what(&mut self);
            self
        }
    }

    #[test]
    fn after_a_loss_at_100_the_cubic_is_level_after_4_2_seconds() {
        let mut cubic = after_a_loss();
        assert_eq!(cubic.window(), 70.0);
        let epoch = cubic.begin(Time::ZERO);
        assert!((epoch.level - 4.21716).abs() < 1e-5);
        for (since, window) in
            [(0.0, 70.0), (1.0, 86.681), (epoch.level, 100.0), (epoch.level + 2.0, 103.2), (6.0, 102.267)]
        {
            near(cubic.at(since, &epoch), window);
        }
    }

    #[test]
    fn an_acknowledgement_moves_the_window_towards_where_the_cubic_is_a_round_trip_later() {
        let mut cubic = after_a_loss();
        cubic.epoch = Some(cubic.begin(Time::ZERO));
        cubic.window = 72.0;
        near(cubic.at(1.1, &cubic.epoch.unwrap()), 87.885);
        cubic.on_acknowledged(Time::from_secs_f64(1.0), 1.0, RTT, true);
        near(cubic.window(), 72.2206);
        // The cubic is far above the window, so the target is one and a half windows: 108 from 72.
        cubic.window = 72.0;
        cubic.on_acknowledged(Time::from_secs_f64(8.0), 72.0, RTT, true);
        near(cubic.window(), 108.0);
    }

    #[test]
    fn the_friendly_window_gains_half_a_segment_in_a_round_trip_until_it_is_back_where_the_loss_was() {
        let mut cubic = after_a_loss();
        cubic.epoch = Some(cubic.begin(Time::ZERO));
        for round in 0..10u64 {
            cubic.window = 70.0;
            cubic.on_acknowledged(Time::from_millis(round), 70.0, RTT, true);
        }
        near(cubic.epoch.unwrap().friendly, 75.294);
        cubic.epoch.as_mut().unwrap().friendly = 100.0;
        cubic.window = 70.0;
        cubic.on_acknowledged(Time::from_millis(10), 70.0, RTT, true);
        near(cubic.epoch.unwrap().friendly, 101.0);
        // The cubic is at 70, so the Reno-friendly window counts.
        near(cubic.window(), 101.0);
    }

    #[test]
    fn reno_keeps_half_and_gains_a_segment_in_a_round_trip() {
        let mut reno = Cubic { window: 100.0, threshold: 50.0, ..Cubic::new(CubicConfig::RENO) };
        reno.on_loss(None);
        assert_eq!(reno.window(), 50.0);
        // A minute later the cubic would have grown without bounds.
        for round in 0..600 {
            let window = reno.window();
            reno.on_acknowledged(Time::from_millis(100 * round), window, RTT, true);
            near(reno.window(), window + 1.0);
        }
    }

    #[test]
    fn a_loss_below_the_last_plateau_leaves_room_to_others() {
        let lose_at_80 = |fast_convergence| {
            let config = CubicConfig { fast_convergence, ..CubicConfig::default() };
            let cubic = Cubic { window: 80.0, plateau: 100.0, threshold: 50.0, ..Cubic::new(config) };
            let cubic = cubic.after(|cubic| cubic.on_loss(None));
            (cubic.plateau, cubic.window)
        };
        assert_eq!(lose_at_80(true), (68.0, 56.0));
        assert_eq!(lose_at_80(false), (80.0, 56.0));
    }

    #[test]
    fn slow_start_doubles_in_a_round_trip_until_a_loss() {
        let mut cubic = Cubic::new(CubicConfig::default());
        for _ in 0..10 {
            cubic.on_acknowledged(Time::ZERO, 1.0, RTT, true);
        }
        assert!(cubic.window() == 20.0 && cubic.in_slow_start());
        cubic.on_loss(Some(5.0));
        assert!(cubic.window() == 3.5 && !cubic.in_slow_start());
        cubic.on_loss(Some(1.0));
        assert_eq!(cubic.window(), 2.0);
    }

    #[test]
    fn a_timeout_begins_again_at_one_and_a_second_one_keeps_the_threshold() {
        let mut cubic = after_a_loss();
        cubic.on_timeout(false);
        assert_eq!((cubic.window(), cubic.threshold()), (1.0, 49.0));
        cubic.on_timeout(true);
        assert_eq!((cubic.window(), cubic.threshold(), cubic.plateau), (1.0, 49.0, 70.0));
    }

    #[test]
    fn time_without_need_of_the_window_is_no_time_of_growth() {
        let mut cubic = after_a_loss();
        cubic.on_acknowledged(Time::ZERO, 1.0, RTT, true);
        let window = cubic.window();
        cubic.on_acknowledged(Time::from_secs_f64(1.0), 1.0, RTT, false);
        cubic.on_acknowledged(Time::from_secs_f64(8.0), 1.0, RTT, false);
        assert_eq!(cubic.window(), window);
        cubic.on_acknowledged(Time::from_secs_f64(9.0), 1.0, RTT, true);
        assert_eq!(cubic.epoch.unwrap().began, Time::from_secs_f64(8.0));
        cubic.on_idle();
        assert_eq!(cubic.window(), 10.0);
    }
}
