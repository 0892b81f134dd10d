//! A parameter that is searched: its place in the scheme, its range and its scale.

use serde::{Deserialize, Serialize};
use toml::Value;

use super::Invalid;

/// A parameter of the scheme with the range in which it is searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its path in the scheme, such as `controller.copa.delta`; a number names an element of a list.
    pub path: String,
    /// The lowest value, in `unit`.
    pub low: f64,
    /// The highest value.
    pub high: f64,
    /// How the range is divided.
    #[serde(default)]
    pub scale: Scale,
    /// Tries only whole numbers.
    #[serde(default)]
    pub integer: bool,
    /// The unit of a quantity, such as `ms` or `B`; empty for a plain number.
    #[serde(default)]
    pub unit: String,
}

/// How a range is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

/// Significant digits of a value: no run could distinguish more, and would only fill the trace.
const DIGITS: i32 = 4;

impl Parameter {
    /// # Errors
    /// When the range is none.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let Parameter { path, low, high, scale, integer, .. } = self;
        let wrong = |why: &str| Err(Invalid(format!("parameter {path}: from {low} to {high}: {why}")));
        if !(low.is_finite() && high.is_finite() && low < high) {
            return wrong("low must be below high, both finite");
        }
        if *scale == Scale::Log && *low <= 0.0 {
            return wrong("a log scale begins above 0: raise low, or use scale = \"linear\"");
        }
        if *integer && (low.fract(), high.fract()) != (0.0, 0.0) {
            return wrong("the ends of a range of integers must be whole");
        }
        Ok(())
    }

    /// The value at a place from 0 to 1, rounded to what is tried.
    pub fn value(&self, place: f64) -> f64 {
        let place = place.clamp(0.0, 1.0);
        let exact = match self.scale {
            Scale::Linear => self.low + (self.high - self.low) * place,
            Scale::Log => self.low * (self.high / self.low).powf(place),
        };
        let rounded = if self.integer { exact.round() } else { significant(exact) };
        rounded.clamp(self.low, self.high)
    }

    /// The place of a value.
    ///
    /// # Errors
    /// When it is out of the range.
    pub fn place(&self, value: f64) -> Result<f64, Invalid> {
        let Parameter { path, low, high, unit, .. } = self;
        if !(*low..=*high).contains(&value) {
            return Err(Invalid(format!(
                "parameter {path}: the base has {value}{unit}, which is not within {low}{unit} and {high}{unit}: widen \
                 the range, or set the base's value"
            )));
        }
        Ok(match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value / low).ln() / (high / low).ln(),
        })
    }

    /// The place a step away, of an integer at least the next one.
    pub(super) fn stepped(&self, place: f64, step: f64) -> f64 {
        let onwards = (place + step).clamp(0.0, 1.0);
        let value = self.value(place);
        if !self.integer || self.value(onwards) != value {
            return onwards;
        }
        self.place((value + step.signum()).clamp(self.low, self.high)).unwrap_or(onwards)
    }

    /// A value as the scheme's TOML has it.
    pub fn toml(&self, value: f64) -> Value {
        match (self.unit.as_str(), self.integer) {
            ("", true) => Value::Integer(value as i64),
            ("", false) => Value::Float(value),
            (unit, _) => Value::String(format!("{value}{unit}")),
        }
    }
}

/// Rounded to [`DIGITS`], by way of text, which gives the double that is nearest to the decimal number.
fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    if digits < 0 {
        let unit = 10f64.powi(-digits);
        return (value / unit).round() * unit;
    }
    format!("{value:.*}", digits as usize).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(low: f64, high: f64, scale: Scale) -> Parameter {
        Parameter { path: "a.b".into(), low, high, scale, integer: false, unit: String::new() }
    }

    #[test]
    fn places_divide_the_range_by_differences_or_by_ratios() {
        let (linear, log) = (parameter(10.0, 1000.0, Scale::Linear), parameter(10.0, 1000.0, Scale::Log));
        assert_eq!((linear.value(0.5), log.value(0.5)), (505.0, 100.0));
        assert_eq!([-1.0, 0.0, 1.0, 2.0].map(|place| log.value(place)), [10.0, 10.0, 1000.0, 1000.0]);
        for parameter in [linear, log] {
            let place = parameter.place(123.4).unwrap();
            assert_eq!(parameter.value(place), 123.4);
        }
    }

    #[test]
    fn values_are_whole_or_have_four_digits_and_a_unit() {
        let fine = parameter(0.0, 1.0, Scale::Linear);
        assert_eq!((fine.value(0.123_456_7), fine.value(0.000_123_456_7)), (0.1235, 0.000_123_5));
        assert_eq!(parameter(0.0, 2e6, Scale::Linear).value(0.617_283_5), 1_235_000.0);
        let whole = Parameter { integer: true, unit: "B".into(), ..parameter(1.0, 10.0, Scale::Linear) };
        assert_eq!((whole.value(0.3), whole.toml(4.0)), (4.0, Value::String("4B".into())));
        assert_eq!(Parameter { unit: String::new(), ..whole }.toml(4.0), Value::Integer(4));
        assert_eq!(fine.toml(0.5), Value::Float(0.5));
    }

    #[test]
    fn a_step_stays_in_the_range_and_changes_an_integer() {
        let fine = parameter(0.0, 1.0, Scale::Linear);
        assert_eq!((fine.stepped(0.5, 0.25), fine.stepped(0.5, -1.0)), (0.75, 0.0));
        let whole = Parameter { integer: true, ..parameter(0.0, 4.0, Scale::Linear) };
        assert_eq!((whole.stepped(0.5, 0.01), whole.stepped(0.5, -0.01), whole.stepped(1.0, 0.01)), (0.75, 0.25, 1.0));
    }

    #[test]
    fn ranges_that_are_none_and_values_outside_are_refused_with_the_fix() {
        let refused = |parameter: Parameter| parameter.check().unwrap_err().to_string();
        assert!(refused(parameter(2.0, 1.0, Scale::Linear)).contains("from 2 to 1: low must be below high"));
        assert!(refused(parameter(f64::NAN, 1.0, Scale::Linear)).contains("finite"));
        assert!(refused(parameter(0.0, 1.0, Scale::Log)).contains("raise low"));
        let halves = Parameter { integer: true, ..parameter(0.5, 1.0, Scale::Linear) };
        assert!(refused(halves).contains("must be whole"));
        let outside = parameter(0.0, 1.0, Scale::Linear).place(2.0).unwrap_err().to_string();
        assert!(outside.contains("the base has 2") && outside.contains("widen the range"), "{outside}");
    }
}
