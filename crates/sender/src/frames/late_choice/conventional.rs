//! The ablation with conventional transport and codec: one quantiser per second (Salsify section 5.2;
//! specs/salsify.md 5).

use thalweg_units::{ConfigError, Rate, Span, Time, above, above_to, check};

/// The parameters; defaults as in the authors' code.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct EachSecond {
    /// How long a quantiser stays in force.
    pub every: Span,
    /// The weight of the newest rate in the average that it is compared with.
    pub gain: f64,
    /// The rate is proportional to the quantiser to the power of minus this.
    pub exponent: f64,
    /// The first quantiser.
    pub first: u8,
}

impl Default for EachSecond {
    fn default() -> EachSecond {
        EachSecond { every: Span::from_secs(1), gain: 0.8, exponent: 0.75, first: 64 }
    }
}

impl EachSecond {
    pub(super) fn build(&self) -> Result<Steps, ConfigError> {
        check("each_second.every", self.every).within(above(Span::ZERO), "1s")?;
        for (name, value) in [("each_second.gain", self.gain), ("each_second.exponent", self.exponent)] {
            check(name, value).within(above_to(0.0, 1.0), "the default")?;
        }
        Ok(Steps { config: *self, quantizer: f64::from(self.first.clamp(1, 127)), average: None, next: Time::ZERO })
    }
}

/// The quantiser in force and the average rate.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    config: EachSecond,
    quantizer: f64,
    average: Option<f64>,
    next: Time,
}

impl Steps {
    /// The quantiser now, for an estimated capacity of `rate`.
    pub(super) fn quantizer(&mut self, now: Time, rate: Rate) -> u8 {
        if now >= self.next {
            self.next = now + self.config.every;
            // A rate of zero has no ratio; it counts as 1 bps.
            let rate = rate.as_bps_f64().max(1.0);
            let average = self.average.unwrap_or(rate);
            let change = ((rate - average) / average).clamp(-1.0, 1.5);
            self.quantizer = if change < -0.99 {
                127.0
            } else {
                (self.quantizer / libm::pow(1.0 + change, 1.0 / self.config.exponent)).clamp(1.0, 127.0)
            };
            self.average = Some(self.config.gain * rate + (1.0 - self.config.gain) * average);
        }
        libm::round(self.quantizer) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiser_follows_the_change_of_the_rate_once_a_second() {
        let mut steps = EachSecond::default().build().unwrap();
        assert_eq!(steps.quantizer(Time::ZERO, Rate::from_kbps(1000)), 64);
        assert_eq!(steps.quantizer(Time::from_millis(900), Rate::from_kbps(500)), 64);
        // Half the rate: 64 / 0.5^(4/3).
        assert_eq!(steps.quantizer(Time::from_millis(1000), Rate::from_kbps(500)), 127);
        // The average is 600 now. 1500 would be a change of 1.5, the most that counts: 127 / 2.5^(4/3).
        assert_eq!(steps.quantizer(Time::from_secs_f64(2.0), Rate::from_kbps(6000)), 37);
    }
}
