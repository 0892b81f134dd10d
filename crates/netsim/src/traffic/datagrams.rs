//! Unresponsive cross traffic: datagrams at a given rate, without congestion control.

use thalweg_units::{Bytes, ConfigError, Random, Rate, Seed, Span, Time, above, check};

use super::times::check_times;

/// When datagrams leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Arrivals {
    /// At equal intervals.
    #[default]
    Constant,
    /// At exponentially distributed intervals (a Poisson process).
    Poisson,
}

/// Datagrams at a constant mean rate during a given time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DatagramsConfig {
    /// Their mean rate, from the IP header upwards.
    pub rate: Rate,
    /// The size of each, from the IP header upwards.
    pub size: Bytes,
    /// How many leave together, at intervals that keep the mean rate.
    pub burst: u32,
    /// How they, or their bursts, are spaced.
    pub arrivals: Arrivals,
    /// When the first one leaves, since the start of the run.
    pub from: Span,
    /// When they stop, since the start of the run; `None` never.
    pub until: Option<Span>,
}

impl Default for DatagramsConfig {
    /// 400 kbps of 1200-byte datagrams during the whole run (specs/camel.md C11).
    fn default() -> DatagramsConfig {
        DatagramsConfig {
            rate: Rate::from_kbps(400),
            size: Bytes::new(1200),
            burst: 1,
            arrivals: Arrivals::Constant,
            from: Span::ZERO,
            until: None,
        }
    }
}

/// A source of datagrams. Its owner offers each datagram to the first hop of a path.
#[derive(Debug, Clone)]
pub struct Datagrams {
    config: DatagramsConfig,
    next: Time,
    /// How many of the present burst are still to leave.
    left: u32,
    random: Random,
}

impl Datagrams {
    /// The source, before its first datagram.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn new(config: DatagramsConfig, seed: Seed) -> Result<Datagrams, ConfigError> {
        check("datagrams.rate", config.rate).within(above(Rate::ZERO), "400kbps")?;
        check("datagrams.size", config.size)
            .within(Bytes::new(28)..=Bytes::new(65_535), "1200B: IP and UDP headers are in it")?;
        check("datagrams.burst", config.burst).within(1..=10_000, "125")?;
        check_times("datagrams", (config.from, config.until))?;
        Ok(Datagrams { config, next: Time::ZERO + config.from, left: config.burst, random: seed.random() })
    }

    /// The size of the next datagram that leaves at or before `now`, if any.
    pub fn poll(&mut self, now: Time) -> Option<Bytes> {
        if self.next_event() > now {
            return None;
        }
        self.left -= 1;
        if self.left > 0 {
            return Some(self.config.size);
        }
        self.left = self.config.burst;
        let mean = self.config.rate.time_for(self.config.size * u64::from(self.config.burst));
        let gap = match self.config.arrivals {
            Arrivals::Constant => mean,
            Arrivals::Poisson => mean.scale(self.random.exponential(1.0)),
        };
        self.next += gap.max(Span::from_nanos(1));
        Some(self.config.size)
    }

    /// When the next datagram leaves; [`Time::NEVER`] after the end.
    pub fn next_event(&self) -> Time {
        match self.config.until {
            Some(until) if self.next >= Time::ZERO + until => Time::NEVER,
            _ => self.next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(config: DatagramsConfig, until: Time) -> usize {
        let mut source = Datagrams::new(config, Seed::new(3)).unwrap();
        core::iter::from_fn(|| source.poll(until)).count()
    }

    #[test]
    fn four_hundred_kilobits_are_a_datagram_every_24_ms_between_its_bounds() {
        let config =
            DatagramsConfig { until: Some(Span::from_secs(60)), from: Span::from_secs(30), ..Default::default() };
        assert_eq!(count(config, Time::from_secs_f64(29.999)), 0);
        assert_eq!(count(config, Time::from_secs_f64(30.0)), 1);
        assert_eq!(count(config, Time::from_secs_f64(90.0)), 1250);
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_mean_rate_stays() {
        let config = DatagramsConfig {
            rate: Rate::from_kbps(1000),
            size: Bytes::new(1000),
            burst: 125,
            from: Span::from_secs(30),
            ..Default::default()
        };
        // A megabit a second.
        for (at, sent) in [(29.999, 0), (30.0, 125), (30.999, 125), (31.0, 250)] {
            assert_eq!(count(config, Time::from_secs_f64(at)), sent);
        }
        let once = DatagramsConfig { until: Some(Span::from_millis(30_001)), ..config };
        assert_eq!(count(once, Time::from_secs_f64(1e4)), 125);
        assert!(Datagrams::new(DatagramsConfig { burst: 0, ..config }, Seed::new(1)).is_err());
    }

    #[test]
    fn a_poisson_source_has_the_same_mean_and_another_spacing() {
        let config = DatagramsConfig { arrivals: Arrivals::Poisson, ..Default::default() };
        let sent = count(config, Time::from_secs_f64(240.0));
        // 10 000 expected, standard deviation 100.
        assert!((9_600..10_400).contains(&sent) && sent != 10_000, "{sent}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_range() {
        let error =
            Datagrams::new(DatagramsConfig { rate: Rate::ZERO, ..Default::default() }, Seed::new(1)).unwrap_err();
        assert!(alloc::format!("{error}").contains("above 0"), "{error}");
    }
}
