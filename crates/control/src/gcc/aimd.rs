//! The delay-based rate: additive or multiplicative increase, multiplicative decrease (specs/gcc.md 5; libwebrtc
//! `aimd_rate_control.cc`).

use thalweg_units::{Rate, Span, Time};

use super::link_capacity::LinkCapacity;
use super::overuse::Usage;

/// Parameters of the rate control.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// beta: a decrease sets the rate to this share of the acknowledged rate.
    pub beta: f64,
    /// A decrease goes this much further down, if the rate exceeds it.
    pub margin: Rate,
    /// Growth factor per second while the link capacity is unknown.
    pub growth: f64,
    /// Holds the rate in application-limited regions (the DontIncreaseInAlr trial; off by default).
    pub hold_in_alr: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { beta: 0.85, margin: Rate::from_kbps(5), growth: 1.08, hold_in_alr: false }
    }
}

/// The RTT assumed before one is known.
const DEFAULT_RTT: Span = Span::from_millis(200);
/// Without a first overuse, the acknowledged rate is adopted after this long.
const INITIALISATION: Span = Span::from_secs(5);
/// Before the acknowledged rate is known, a decrease halves the rate, at most once per this interval. libwebrtc says
/// 200 ms too, but its check (`InitialTimeToReduceFurther`) passes with each report. That is harmless with its reports
/// at intervals of 50 ms or more, but not with one report per packet, where the rate went from 5.7 Mbps to the minimum
/// in 12 ms.
const BLIND_INTERVAL: Span = Span::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// The change that the rate control made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Decreased,
    Probed,
    Moved,
    None,
}

/// The rate control's state.
#[derive(Debug, Clone)]
pub(super) struct Aimd {
    config: Config,
    rate: Rate,
    min: Rate,
    initialised: bool,
    state: State,
    changed: Option<Time>,
    first_acknowledged: Option<Time>,
    last_acknowledged: Rate,
    capacity: LinkCapacity,
    rtt: Span,
    pub(super) in_alr: bool,
}

impl Aimd {
    pub(super) fn new(config: Config, start: Rate, min: Rate) -> Aimd {
        Aimd {
            config,
            rate: start,
            min,
            initialised: true,
            state: State::Hold,
            changed: None,
            first_acknowledged: None,
            last_acknowledged: start,
            capacity: LinkCapacity::default(),
            rtt: DEFAULT_RTT,
            in_alr: false,
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    pub(super) fn set_min(&mut self, min: Rate) {
        self.min = min;
    }

    pub(super) fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Sets a rate that was decided elsewhere.
    pub(super) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.initialised = true;
        self.rate = rate.max(self.min);
        self.changed = Some(now);
    }

    /// Updates the rate after a report was judged as `usage`, while packets arrived at `acknowledged` and a probe
    /// measured `probed`.
    pub(super) fn on_usage(
        &mut self,
        now: Time,
        usage: Usage,
        acknowledged: Option<Rate>,
        probed: Option<Rate>,
    ) -> Change {
        if usage == Usage::Over {
            return self.on_overuse(now, acknowledged);
        }
        if let Some(probed) = probed {
            self.set_rate(now, probed);
            return Change::Probed;
        }
        let before = self.rate;
        self.update(now, usage, acknowledged);
        if self.rate == before { Change::None } else { Change::Moved }
    }

    fn on_overuse(&mut self, now: Time, acknowledged: Option<Rate>) -> Change {
        let may_reduce = match acknowledged {
            Some(rate) => self.may_reduce(now, rate),
            None => self.changed.is_none_or(|changed| now - changed >= BLIND_INTERVAL),
        };
        if !may_reduce {
            return Change::None;
        }
        match acknowledged {
            Some(_) => self.update(now, Usage::Over, acknowledged),
            None => {
                self.rate = self.rate.scale(0.5).max(self.min);
                self.changed = Some(now);
            }
        }
        Change::Decreased
    }

    /// At most one decrease per round trip, unless the acknowledged rate is below half of the rate.
    fn may_reduce(&self, now: Time, acknowledged: Rate) -> bool {
        let interval = self.rtt.clamp(Span::from_millis(10), Span::from_millis(200));
        self.changed.is_none_or(|changed| now - changed >= interval) || acknowledged < self.rate.scale(0.5)
    }

    fn update(&mut self, now: Time, usage: Usage, acknowledged: Option<Rate>) {
        if let Some(rate) = acknowledged {
            self.last_acknowledged = rate;
        }
        if !self.initialised {
            if let Some(rate) = acknowledged {
                let first = *self.first_acknowledged.get_or_insert(now);
                if now - first > INITIALISATION {
                    self.set_rate(now, rate);
                }
            }
            if usage != Usage::Over {
                return;
            }
        }
        match (usage, self.state) {
            (Usage::Normal, State::Hold) => {
                self.changed = Some(now);
                self.state = State::Increase;
            }
            (Usage::Over, _) => self.state = State::Decrease,
            (Usage::Under, _) => self.state = State::Hold,
            _ => {}
        }
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(now),
            State::Decrease => self.decrease(now),
        }
        self.rate = self.rate.max(self.min);
    }

    fn increase(&mut self, now: Time) {
        let arriving = self.last_acknowledged;
        if self.capacity.upper().is_some_and(|upper| arriving > upper) {
            self.capacity.reset();
        }
        // The estimate may exceed the acknowledged rate by half at most: this ties it to what the encoder produces.
        let limit =
            if self.in_alr && self.config.hold_in_alr { self.rate } else { arriving.scale(1.5) + Rate::from_kbps(10) };
        if self.rate < limit {
            let elapsed = self.changed.map_or(Span::ZERO, |changed| now - changed);
            let step = if self.capacity.mean().is_some() {
                Rate::from_bps_f64(near_max_slope(self.rate, self.rtt) * elapsed.as_secs_f64())
            } else {
                let exponent = elapsed.as_secs_f64().min(1.0);
                let grown = self.rate.scale(libm::pow(self.config.growth, exponent) - 1.0);
                grown.max(Rate::from_bps(1000))
            };
            self.rate = (self.rate + step).min(limit);
        }
        self.changed = Some(now);
    }

    fn decrease(&mut self, now: Time) {
        let arriving = self.last_acknowledged;
        let mut reduced = arriving.scale(self.config.beta);
        if reduced > self.config.margin {
            reduced = reduced - self.config.margin;
        }
        if reduced > self.rate
            && let Some(mean) = self.capacity.mean()
        {
            reduced = mean.scale(self.config.beta);
        }
        self.rate = self.rate.min(reduced);
        if self.capacity.lower().is_some_and(|lower| arriving < lower) {
            self.capacity.reset();
        }
        self.capacity.on_overuse(arriving);
        self.state = State::Hold;
        self.changed = Some(now);
        self.initialised = true;
    }
}

/// Additive increase near the capacity: half a packet per response time, in bit/s per second.
fn near_max_slope(rate: Rate, rtt: Span) -> f64 {
    let frame = rate.as_bps_f64() / 30.0;
    let packets = libm::ceil(frame / 9600.0).max(1.0);
    let response = 2.0 * (rtt.as_secs_f64() + 0.1);
    (frame / packets / response).max(4000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimd(kbps: u64) -> Aimd {
        let mut aimd = Aimd::new(Config::default(), Rate::from_kbps(kbps), Rate::from_kbps(5));
        aimd.rtt = Span::from_millis(50);
        aimd
    }

    #[test]
    fn a_decrease_keeps_85_percent_of_what_arrives_less_five_kilobits() {
        let mut aimd = aimd(1200);
        aimd.on_usage(Time::from_millis(1000), Usage::Over, Some(Rate::from_kbps(1000)), None);
        assert_eq!(aimd.rate(), Rate::from_kbps(845));
        assert_eq!(aimd.capacity.mean(), Some(Rate::from_kbps(1000)));
        // Far below the estimated link capacity: the capacity is learned anew.
        aimd.on_usage(Time::from_millis(2000), Usage::Over, Some(Rate::from_kbps(900)), None);
        assert_eq!(aimd.capacity.mean(), Some(Rate::from_kbps(900)));
    }

    #[test]
    fn the_steps_of_the_worked_example_come_out() {
        let mut multiplicative = aimd(1000);
        multiplicative.on_usage(Time::from_millis(1000), Usage::Normal, Some(Rate::from_kbps(1000)), None);
        let before = multiplicative.rate();
        multiplicative.on_usage(Time::from_millis(1100), Usage::Normal, Some(Rate::from_kbps(1000)), None);
        let step = (multiplicative.rate() - before).as_bps_f64();
        assert!((step - 7726.0).abs() < 15.0, "{step}");
        assert!((near_max_slope(Rate::from_kbps(1000), Span::from_millis(50)) - 27_777.8).abs() < 0.1);
        assert!((near_max_slope(Rate::from_kbps(300), Span::from_millis(100)) - 12_500.0).abs() < 0.1);
    }

    #[test]
    fn the_rate_runs_ahead_of_what_arrives_by_half_and_no_further() {
        let mut aimd = aimd(1000);
        for ms in 0..100_000 / 100 {
            aimd.on_usage(Time::from_millis(1000 + ms * 100), Usage::Normal, Some(Rate::from_kbps(800)), None);
        }
        assert_eq!(aimd.rate(), Rate::from_kbps(1210));
    }

    #[test]
    fn a_second_decrease_waits_a_round_trip_unless_little_arrives() {
        let mut aimd = aimd(1000);
        aimd.on_usage(Time::from_millis(1000), Usage::Over, Some(Rate::from_kbps(900)), None);
        let once = aimd.rate();
        aimd.on_usage(Time::from_millis(1020), Usage::Over, Some(Rate::from_kbps(700)), None);
        assert_eq!(aimd.rate(), once);
        aimd.on_usage(Time::from_millis(1030), Usage::Over, Some(Rate::from_kbps(300)), None);
        assert_eq!(aimd.rate(), Rate::from_kbps(250));
    }

    #[test]
    fn without_an_acknowledged_rate_the_rate_halves_every_200_ms_however_often_reports_come() {
        let mut aimd = aimd(1600);
        for ms in 0..=450 {
            aimd.on_usage(Time::from_millis(1000 + ms), Usage::Over, None, None);
        }
        assert_eq!(aimd.rate(), Rate::from_kbps(200));
    }

    #[test]
    fn underuse_never_increases() {
        let mut aimd = aimd(1000);
        for ms in 0..100 {
            aimd.on_usage(Time::from_millis(ms * 50), Usage::Under, Some(Rate::from_kbps(2000)), None);
        }
        assert_eq!(aimd.rate(), Rate::from_kbps(1000));
    }
}
