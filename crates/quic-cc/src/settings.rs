//! Which controllers QUIC can drive.

use thalweg_driver::{Config, Driver};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::ControllerConfig;
use thalweg_units::{Bytes, ConfigError, Rate};

/// The schemes that work by round trips, losses and rates of delivery: what QUIC's acknowledgements say.
pub const FIRST_CLASS: [&str; 4] = ["copa", "bbr", "rocc", "scream"];

/// The schemes that work by when packets arrived, which acknowledgements do not say: small changes of the one-way delay (GCC,
/// NADA), and how a frame's packets are spread (SQP, Pudica).
pub const EXPERIMENTAL: [&str; 4] = ["gcc", "nada", "sqp", "pudica"];

/// IPv4 and UDP around QUIC's packets (RFC 791, RFC 768).
const HEADERS: Bytes = Bytes::new(28);

/// RoCC's gamma where it is the whole congestion control, as in its authors' kernel module (docs/papers/rocc.md); under
/// Vidaptive it is 0.5.
const GAMMA: f64 = 1.0;

/// A controller of Thalweg for QUIC connections, and its rates.
///
/// Rates and sizes are QUIC's: of UDP payload, without the 28 bytes of IPv4 and UDP.
#[derive(Debug, Clone)]
pub struct Settings {
    scheme: Scheme,
    config: Config,
}

impl Settings {
    /// The controller of a scheme of [`FIRST_CLASS`] with its published parameters, starting at 1 Mbps, between 100 kbps
    /// and 100 Mbps.
    ///
    /// # Errors
    /// For any other name.
    pub fn named(name: &str) -> Result<Settings, ConfigError> {
        Settings::among(name, &FIRST_CLASS, "Settings::experimental has gcc, nada, sqp and pudica")
    }

    /// The controller of a scheme of [`EXPERIMENTAL`]: expect it to send much less than the path carries,
    /// because it takes the receiver's wait before an acknowledgement for a queue.
    ///
    /// # Errors
    /// For any other name.
    pub fn experimental(name: &str) -> Result<Settings, ConfigError> {
        Settings::among(name, &EXPERIMENTAL, "Settings::named has the others")
    }

    fn among(name: &str, names: &[&str], hint: &str) -> Result<Settings, ConfigError> {
        let choice =
            || ConfigError::because(format!("unknown scheme '{name}': expected one of {}; {hint}", names.join(", ")));
        let mut scheme = names.contains(&name).then(|| thalweg_driver::scheme(name)).ok_or_else(choice)??;
        if let ControllerConfig::Rocc(rocc) = &mut scheme.controller {
            rocc.gamma = GAMMA;
        }
        let [start, min, max] = [1000, 100, 100_000].map(Rate::from_kbps);
        let config = Config::new(start, min, max).with_overhead(HEADERS);
        Ok(Settings { scheme, config })
    }

    /// The same with parameters of the caller's.
    ///
    /// # Errors
    /// For a scheme that needs more than a controller, and for parameters out of range.
    pub fn with_scheme(self, scheme: Scheme) -> Result<Settings, ConfigError> {
        Settings { scheme, ..self }.checked()
    }

    /// The same with these rates: the one before the first acknowledgement, and the least and most that the application
    /// can use.
    ///
    /// # Errors
    /// Unless 0 < min <= start <= max.
    pub fn with_rates(self, start: Rate, min: Rate, max: Rate) -> Result<Settings, ConfigError> {
        Settings { config: Config::new(start, min, max).with_overhead(HEADERS), ..self }.checked()
    }

    /// The rate before the first acknowledgement.
    pub fn start(&self) -> Rate {
        self.config.start
    }

    /// The scheme's name.
    pub fn name(&self) -> &str {
        &self.scheme.name
    }

    fn checked(self) -> Result<Settings, ConfigError> {
        Driver::of_scheme(&self.scheme, self.config).map(|_| self)
    }

    /// A controller in its first state.
    pub(crate) fn driver(&self) -> Driver {
        Driver::of_scheme(&self.scheme, self.config).expect("they were checked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_of_round_trips_are_first_class_and_those_of_arrival_times_are_asked_for_as_experimental() {
        for name in FIRST_CLASS {
            assert_eq!(Settings::named(name).unwrap().checked().unwrap().name(), name);
        }
        for name in EXPERIMENTAL {
            assert!(Settings::experimental(name).unwrap().checked().is_ok());
            let refused = Settings::named(name).unwrap_err().to_string();
            assert!(refused.contains("copa, bbr") && refused.contains("experimental"), "{refused}");
        }
        assert!(Settings::experimental("copa").is_err() && Settings::named("camel").is_err());
    }

    #[test]
    fn rates_out_of_order_are_refused() {
        let [low, high] = [100, 2000].map(Rate::from_kbps);
        assert!(Settings::named("bbr").unwrap().with_rates(low, high, high).is_err());
        assert!(Settings::named("bbr").unwrap().with_rates(low, low, high).is_ok());
    }
}
