//! A_r: the receiver's rate (specs/rrtcc.md 5; `remote_rate_control.cc` of 2012).

use thalweg_units::{Bytes, Rate, Span, Time};

use super::detector::Usage;
use super::greatest::Max;
use super::{Increase, ReceiverConfig};

/// How many standard deviations above the max known rate a rate must be for the maximum to be forgotten, and for the
/// region to count as above it.
const ABOVE: (f64, f64) = (3.0, 2.5);
/// The same below it.
const BELOW: f64 = 3.0;
/// The weight of one run in the average period.
const PERIOD_GAIN: f64 = 0.1;
/// The response time minus period and round trip.
const RESPONSE: Span = Span::from_millis(300);
/// Min and max growth factor per second.
const GROWTHS: (f64, f64) = (1.005, 1.3);
/// The growth added to the factor.
const STEP: Rate = Rate::from_kbps(1);
/// A rate may exceed what R allows only below these: R, and A_r.
const SANE_BELOW: (Rate, Rate) = (Rate::from_kbps(100), Rate::from_kbps(150));
/// The packet size of [`Increase::Additive`], half of which is added per response time, and the response time minus the
/// round trip.
const PACKET: Bytes = Bytes::new(1200);
const ADDITIVE_RESPONSE: Span = Span::from_millis(100);
/// The growth factor per second while the max rate is not known (gcc-02).
const ADDITIVE_GROWTH: f64 = 1.08;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Hold,
    Increase,
    Decrease,
}

/// The position of the rate relative to the max known rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Unknown,
    Near,
    Above,
}

/// The input of one update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    /// By the receiver's clock.
    pub(super) now: Time,
    pub(super) usage: Usage,
    /// R.
    pub(super) received: Rate,
    pub(super) rtt: Span,
    /// The variance of the filter's noise, ms^2.
    pub(super) noise: f64,
    /// The min rate.
    pub(super) min: Rate,
}

/// The rate and its state.
#[derive(Debug, Clone)]
pub(super) struct RateControl {
    config: ReceiverConfig,
    rate: Rate,
    phase: Phase,
    region: Region,
    greatest: Max,
    /// The max R during the hold.
    held: Rate,
    /// The average interval between updates, in ms.
    period: f64,
    ran: Option<Time>,
    changed: Option<Time>,
}

impl RateControl {
    pub(super) fn new(config: ReceiverConfig, start: Rate) -> RateControl {
        RateControl {
            config,
            rate: start,
            phase: Phase::Hold,
            region: Region::Unknown,
            greatest: Max::unknown(),
            held: Rate::ZERO,
            period: config.period.as_millis_f64(),
            ran: None,
            changed: None,
        }
    }

    /// A_r.
    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    pub(super) fn region(&self) -> Region {
        self.region
    }

    /// When it was last updated, by the receiver's clock.
    pub(super) fn ran(&self) -> Option<Time> {
        self.ran
    }

    /// Limits the rate to the application's demand.
    pub(super) fn limit(&mut self, clamp: impl Fn(Rate) -> Rate) {
        self.rate = clamp(self.rate);
    }

    /// The receiver's clock jumped: discards the times measured by it.
    pub(super) fn forget_times(&mut self) {
        self.ran = None;
        self.changed = None;
    }

    /// Updates the rate; returns the reason if the rate may have changed.
    pub(super) fn run(&mut self, input: &Input) -> Option<&'static str> {
        if let Some(ran) = self.ran {
            self.period += PERIOD_GAIN * ((input.now - ran).as_millis_f64().max(0.0) - self.period);
        }
        self.ran = Some(input.now);
        match (input.usage, self.phase) {
            (Usage::Normal, Phase::Hold) => {
                self.phase = Phase::Increase;
                self.changed = Some(input.now);
            }
            (Usage::Normal, _) => {}
            (Usage::Over, _) => self.phase = Phase::Decrease,
            (Usage::Under, _) => self.phase = Phase::Hold,
        }
        match self.phase {
            Phase::Hold => {
                self.held = self.held.max(input.received);
                None
            }
            Phase::Increase => Some(self.increase(input)),
            Phase::Decrease => Some(self.decrease(input)),
        }
    }

    fn increase(&mut self, input: &Input) -> &'static str {
        match self.greatest.deviations(input.received) {
            Some(by) if by > ABOVE.0 => {
                self.region = Region::Unknown;
                self.greatest.forget();
            }
            Some(by) if by > ABOVE.1 => self.region = Region::Above,
            _ => {}
        }
        let passed = self.changed.replace(input.now).map_or(Span::ZERO, |at| input.now - at).max(Span::ZERO);
        let grown = match self.config.increase {
            Increase::Multiplicative => self.multiplied(passed, input),
            Increase::Additive => self.added(passed, input.rtt),
        };
        let held = core::mem::take(&mut self.held).scale(self.decrease_factor());
        if held > grown {
            // The path is known to carry the rate that arrived during the hold.
            self.greatest.set(held);
            self.region = Region::Near;
            self.rate = held;
            return "what arrived while it held";
        }
        let matters = input.received > SANE_BELOW.0 || grown > SANE_BELOW.1;
        if matters && grown > input.received.scale(self.config.max_of_received) {
            return "no more than what arrives allows";
        }
        self.rate = grown;
        "no overuse"
    }

    fn multiplied(&self, passed: Span, input: &Input) -> Rate {
        let response = self.period + (input.rtt + RESPONSE).as_millis_f64();
        let seconds = passed.as_secs_f64();
        let factor = libm::pow(growth(response, input.noise), seconds.min(60.0));
        let factor = match self.region {
            Region::Near => factor - (factor - 1.0) / 2.0,
            Region::Unknown => factor + 2.0 * (factor - 1.0),
            Region::Above => factor,
        };
        self.rate.scale(factor) + STEP
    }

    /// The rate after additive growth: half a packet per response time near the max known rate, otherwise 8 % a second
    /// (gcc-02 section 5.5).
    fn added(&self, passed: Span, rtt: Span) -> Rate {
        let seconds = passed.as_secs_f64().min(1.0);
        if self.region == Region::Unknown {
            return self.rate.scale(libm::pow(ADDITIVE_GROWTH, seconds)).max(self.rate + STEP);
        }
        let responses = passed.ratio(rtt + ADDITIVE_RESPONSE).min(1.0);
        self.rate + Rate::from_bps(PACKET.scale(0.5 * responses).bits()).max(STEP)
    }

    fn decrease_factor(&self) -> f64 {
        if self.region == Region::Near { self.config.decrease_near } else { self.config.decrease }
    }

    fn decrease(&mut self, input: &Input) -> &'static str {
        let factor = self.decrease_factor();
        if input.received < input.min {
            self.rate = input.min;
        } else {
            let mut aim = input.received.scale(factor);
            if aim > self.rate {
                // Overuse never raises the rate.
                if self.region != Region::Unknown
                    && let Some(greatest) = self.greatest.get()
                {
                    aim = greatest.scale(factor);
                }
                aim = aim.min(self.rate);
            }
            self.rate = aim;
            self.region = Region::Near;
            if self.greatest.deviations(input.received).is_some_and(|by| by < -BELOW) {
                self.greatest.forget();
            }
            self.greatest.learn(input.received);
        }
        // Hold until the queue is empty.
        self.phase = Phase::Hold;
        self.changed = Some(input.now);
        "overuse: less than what arrives"
    }
}

/// The growth factor per second: the lower, the longer the response time and the noisier the path.
fn growth(response_ms: f64, noise: f64) -> f64 {
    // 6700 / 33^2.
    let bend = 800.0 - 6700.0 / (33.0 * 33.0) * noise;
    let growth = GROWTHS.0 + 0.0407 / (1.0 + libm::exp(0.0025 * (0.85 * response_ms - bend)));
    growth.clamp(GROWTHS.0, GROWTHS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBPS: fn(u64) -> Rate = Rate::from_kbps;

    fn input(second: u64, usage: Usage, received: u64) -> Input {
        let (now, rtt) = (Time::from_millis(1000 * second), Span::from_millis(100));
        Input { now, usage, received: KBPS(received), rtt, noise: 1.0, min: KBPS(32) }
    }

    fn control(start: u64) -> RateControl {
        RateControl::new(ReceiverConfig::default(), KBPS(start))
    }

    #[test]
    fn growth_depends_on_response_and_noise_as_worked() {
        // specs/rrtcc.md 8, example 2: avg_period 1000 and 300 ms beside the round trip.
        for (rtt, noise, expected) in [(100.0, 1.0, 1.01602), (100.0, 50.0, 1.01106), (480.0, 1.0, 1.01078)] {
            let growth = growth(1300.0 + rtt, noise);
            assert!((growth - expected).abs() < 6e-6, "{rtt} {noise}: {growth}");
        }
        assert_eq!(growth(1e9, 1e9), 1.005);
    }

    #[test]
    fn a_second_in_unknown_country_and_near_the_greatest_gives_the_worked_rates() {
        let mut unknown = control(128);
        unknown.run(&input(0, Usage::Normal, 128));
        unknown.rate = KBPS(128);
        assert_eq!(unknown.run(&input(1, Usage::Normal, 128)), Some("no overuse"));
        assert!((unknown.rate.as_bps_f64() - 135_153.0).abs() < 3.0, "{}", unknown.rate.as_bps());
        let mut near = RateControl { region: Region::Near, ..control(128) };
        near.run(&input(0, Usage::Normal, 128));
        near.rate = KBPS(128);
        near.run(&input(1, Usage::Normal, 128));
        // 1.00801.
        assert!((near.rate.as_bps_f64() - (128_000.0 * 1.00801 + 1000.0)).abs() < 3.0, "{}", near.rate.as_bps());
    }

    #[test]
    fn overuse_leaves_nine_tenths_of_what_arrives_and_holds_until_it_is_over() {
        let mut control = control(1200);
        assert!(control.run(&input(1, Usage::Over, 1000)).is_some_and(|why| why.contains("overuse")));
        assert_eq!((control.rate, control.region, control.phase), (KBPS(900), Region::Near, Phase::Hold));
        assert_eq!(control.run(&input(2, Usage::Under, 950)), None);
        assert_eq!(control.rate, KBPS(900));
        // 0.95 x 1000 arrived during the hold: near the max known rate.
        control.run(&input(3, Usage::Under, 1000));
        assert_eq!(control.run(&input(4, Usage::Normal, 900)), Some("what arrived while it held"));
        assert_eq!((control.rate, control.greatest.get()), (KBPS(950), Some(KBPS(950))));
    }

    #[test]
    fn overuse_never_raises_the_rate() {
        let mut control = control(500);
        control.run(&input(1, Usage::Over, 1000));
        assert_eq!(control.rate, KBPS(500));
        // Near: 0.95 of the max known rate; 0.05 x 2000 + 0.95 x 1000 only later.
        control.run(&input(2, Usage::Over, 2000));
        assert_eq!(control.rate, KBPS(500));
        control.run(&input(3, Usage::Over, 20));
        assert_eq!(control.rate, KBPS(32));
    }

    #[test]
    fn more_than_three_deviations_above_the_greatest_it_is_forgotten() {
        let mut control = RateControl { region: Region::Near, ..control(900) };
        control.greatest.learn(KBPS(1000));
        control.run(&input(1, Usage::Normal, 1052));
        assert_eq!(control.region, Region::Above);
        control.run(&input(2, Usage::Normal, 1070));
        assert_eq!((control.region, control.greatest.get()), (Region::Unknown, None));
    }

    #[test]
    fn a_source_that_sends_little_keeps_the_rate_within_half_as_much_again() {
        let mut control = control(300);
        control.run(&input(0, Usage::Normal, 150));
        assert_eq!(control.run(&input(1, Usage::Normal, 150)), Some("no more than what arrives allows"));
        assert_eq!(control.rate, KBPS(300));
    }

    #[test]
    fn additive_growth_is_eight_percent_or_half_a_packet_a_response_time() {
        let config = ReceiverConfig { increase: Increase::Additive, ..ReceiverConfig::default() };
        let mut control = RateControl::new(config, KBPS(1000));
        control.run(&input(0, Usage::Normal, 1000));
        control.rate = KBPS(1000);
        control.run(&input(1, Usage::Normal, 1000));
        assert_eq!(control.rate, KBPS(1080));
        control.region = Region::Near;
        control.run(&input(2, Usage::Normal, 1080));
        // 600 bytes, read as a rate, at each update; the response time of 200 ms has passed.
        assert_eq!(control.rate, Rate::from_bps(1_084_800));
    }
}
