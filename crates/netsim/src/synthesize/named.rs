//! Synthetic links by name: a preset such as `lte-driving`, or a kind with the parameters that differ from its
//! defaults, such as `poisson:rate=2Mbps`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thalweg_units::{ConfigError, Seed, Span};

use super::{CellularModel, DoublyStochastic, Dropout, Intermittent, Poisson, Ramp, presets};
use crate::trace::Trace;

/// Any synthetic link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Synthetic {
    /// A cellular link that resembles a recording.
    Cellular(CellularModel),
    /// Sprout's model.
    Sprout(DoublyStochastic),
    /// Poisson opportunities.
    Poisson(Poisson),
    /// A rate that goes off and on again.
    Intermittent(Intermittent),
    /// A rate that falls to zero and rises back.
    Ramp(Ramp),
    /// One outage.
    Dropout(Dropout),
}

/// A kind of link that takes parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// A description of it.
    pub about: &'static str,
    /// Its parameters with their defaults, as written after the name and a colon.
    pub parameters: &'static str,
}

/// Every kind that takes parameters.
pub const KINDS: [Kind; 5] = [
    Kind {
        name: "sprout",
        about: "Sprout's doubly stochastic link: deliveries at random at a rate that wanders, outages of a second",
        parameters: "start=6Mbps,wander=2400kbps,ceiling=12Mbps,outage=1s",
    },
    Kind {
        name: "poisson",
        about: "deliveries at random at a constant rate (Salsify's emulated Wi-Fi)",
        parameters: "rate=570kbps",
    },
    Kind {
        name: "intermittent",
        about: "a constant rate that fails and is restored after exponential times; what arrives meanwhile waits",
        parameters: "rate=12Mbps,on=5s,off=200ms",
    },
    Kind {
        name: "ramp",
        about: "a level rate that falls to zero in a straight line and comes back",
        parameters: "rate=24Mbps,level=70s,fall=20s",
    },
    Kind { name: "dropout", about: "a constant rate with one outage", parameters: "rate=500kbps,at=30s,lasts=1s" },
];

impl Synthetic {
    /// Generates a trace of `duration`; a ramp has its own period instead.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn synthesize(&self, duration: Span, seed: Seed) -> Result<Trace, ConfigError> {
        match self {
            Synthetic::Cellular(model) => model.synthesize(duration, seed),
            Synthetic::Sprout(model) => model.synthesize(duration, seed),
            Synthetic::Poisson(model) => model.synthesize(duration, seed),
            Synthetic::Intermittent(model) => model.synthesize(duration, seed),
            Synthetic::Ramp(model) => model.synthesize(),
            Synthetic::Dropout(model) => model.synthesize(duration),
        }
    }

    /// Sets a parameter.
    fn set(&mut self, key: &str, value: &str) -> Result<(), SyntheticError> {
        fn into<T: FromStr<Err: fmt::Display>>(field: &mut T, key: &str, value: &str) -> Result<(), SyntheticError> {
            *field = value.parse().map_err(|error: T::Err| SyntheticError(alloc::format!("{key}: {error}")))?;
            Ok(())
        }
        match (self, key) {
            (Synthetic::Sprout(model), "start") => into(&mut model.start, key, value),
            (Synthetic::Sprout(model), "wander") => into(&mut model.wander, key, value),
            (Synthetic::Sprout(model), "ceiling") => into(&mut model.ceiling, key, value),
            (Synthetic::Sprout(model), "outage") => into(&mut model.outage, key, value),
            (Synthetic::Poisson(model), "rate") => into(&mut model.rate, key, value),
            (Synthetic::Intermittent(model), "rate") => into(&mut model.rate, key, value),
            (Synthetic::Intermittent(model), "on") => into(&mut model.on, key, value),
            (Synthetic::Intermittent(model), "off") => into(&mut model.off, key, value),
            (Synthetic::Ramp(model), "rate") => into(&mut model.rate, key, value),
            (Synthetic::Ramp(model), "level") => into(&mut model.level, key, value),
            (Synthetic::Ramp(model), "fall") => into(&mut model.fall, key, value),
            (Synthetic::Dropout(model), "rate") => into(&mut model.rate, key, value),
            (Synthetic::Dropout(model), "at") => into(&mut model.at, key, value),
            (Synthetic::Dropout(model), "lasts") => into(&mut model.lasts, key, value),
            _ => Err(SyntheticError(alloc::format!("unknown parameter '{key}'"))),
        }
    }
}

impl FromStr for Synthetic {
    type Err = SyntheticError;
    fn from_str(name: &str) -> Result<Synthetic, SyntheticError> {
        if let Some(preset) = presets().iter().find(|preset| preset.name == name) {
            return Ok(Synthetic::Cellular(preset.model));
        }
        let (kind, parameters) = name.split_once(':').unwrap_or((name, ""));
        let mut link = match kind {
            "sprout" => Synthetic::Sprout(DoublyStochastic::default()),
            "poisson" => Synthetic::Poisson(Poisson::default()),
            "intermittent" => Synthetic::Intermittent(Intermittent::default()),
            "ramp" => Synthetic::Ramp(Ramp::default()),
            "dropout" => Synthetic::Dropout(Dropout::default()),
            _ => {
                let kinds = KINDS.iter().map(|kind| kind.name);
                let names: Vec<&str> = presets().iter().map(|preset| preset.name).chain(kinds).collect();
                let names = names.join(", ");
                return Err(SyntheticError(alloc::format!("unknown synthetic link '{name}': expected one of {names}")));
            }
        };
        for parameter in parameters.split(',').filter(|parameter| !parameter.is_empty()) {
            let set = match parameter.split_once('=') {
                Some((key, value)) => link.set(key.trim(), value.trim()),
                None => Err(SyntheticError(alloc::format!("'{parameter}' has no '='"))),
            };
            set.map_err(|SyntheticError(why)| {
                let written = KINDS.iter().find(|known| known.name == kind).map_or("", |known| known.parameters);
                SyntheticError(alloc::format!("'{name}': {why}; write {kind}:KEY=VALUE, as in {kind}:{written}"))
            })?;
        }
        Ok(link)
    }
}

/// No synthetic link has this name, or the parameters are wrong; the message has the value, what exists, and how to
/// write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticError(String);

impl fmt::Display for SyntheticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for SyntheticError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use thalweg_units::Rate;

    #[test]
    fn every_kind_reads_its_own_defaults_and_makes_a_trace_that_its_seed_decides() {
        for kind in &KINDS {
            let written: Synthetic = alloc::format!("{}:{}", kind.name, kind.parameters).parse().unwrap();
            assert_eq!(written, kind.name.parse().unwrap(), "{}", kind.name);
            let trace = |seed| written.synthesize(Span::from_secs(60), Seed::new(seed)).unwrap();
            assert_eq!(trace(1), trace(1));
            let random = !matches!(written, Synthetic::Ramp(_) | Synthetic::Dropout(_));
            assert_eq!(trace(1) != trace(2), random, "{}", kind.name);
        }
        assert_eq!("lte-driving".parse(), Ok(Synthetic::Cellular(presets()[0].model)));
    }

    #[test]
    fn a_parameter_changes_what_it_names() {
        let expected = Poisson { rate: Rate::from_kbps(2000) };
        assert_eq!("poisson:rate=2Mbps".parse(), Ok(Synthetic::Poisson(expected)));
    }

    #[test]
    fn a_name_or_parameter_that_is_none_is_refused_with_what_there_is() {
        for (name, words) in [
            ("sprouts", ["'sprouts'", "lte-driving", "poisson"]),
            ("poisson:speed=1Mbps", ["'speed'", "poisson:rate=570kbps", "KEY=VALUE"]),
            ("ramp:24Mbps", ["'24Mbps'", "'='", "level=70s"]),
            ("dropout:lasts=fast", ["'fast'", "lasts", "20ms"]),
        ] {
            let said = name.parse::<Synthetic>().unwrap_err().to_string();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }
}
