//! Parsing and printing a number with its unit.

use alloc::string::{String, ToString};
use core::fmt;

/// A quantity could not be read; the message has the value, what is accepted and an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseQuantityError {
    value: String,
    kind: &'static str,
    units: &'static str,
    example: &'static str,
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not {}: write a number and one of {}, as in {}",
            self.value, self.kind, self.units, self.example
        )
    }
}

impl core::error::Error for ParseQuantityError {}

/// The text notation of one kind of quantity.
pub(crate) struct Notation {
    pub(crate) kind: &'static str,
    /// Unit suffixes, longest first among those that share an ending, with their size in base units.
    pub(crate) suffixes: &'static [(&'static str, f64)],
    pub(crate) units: &'static str,
    pub(crate) example: &'static str,
}

impl Notation {
    fn error(&self, text: &str) -> ParseQuantityError {
        ParseQuantityError { value: text.to_string(), kind: self.kind, units: self.units, example: self.example }
    }

    /// Parses `text` into base units, rounded to the nearest integer. Case matters only where the unit's does.
    pub(crate) fn parse(&self, text: &str) -> Result<f64, ParseQuantityError> {
        let trimmed = text.trim();
        for (suffix, scale) in self.suffixes {
            let Some(number) = strip_suffix_ignoring_case(trimmed, suffix) else { continue };
            let Ok(number) = number.trim_end().parse::<f64>() else { continue };
            if number.is_finite() {
                return Ok(libm::round(number * scale));
            }
        }
        // Zero is the same in every unit.
        if trimmed == "0" { Ok(0.0) } else { Err(self.error(text)) }
    }

    /// As [`Notation::parse`], but refuses negative values and values above `max` base units.
    pub(crate) fn parse_unsigned(&self, text: &str) -> Result<u64, ParseQuantityError> {
        let value = self.parse(text)?;
        if (0.0..1.8e19).contains(&value) { Ok(value as u64) } else { Err(self.error(text)) }
    }
}

fn strip_suffix_ignoring_case<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(suffix.len())?;
    let tail = text.get(at..)?;
    if tail.eq_ignore_ascii_case(suffix) { text.get(..at) } else { None }
}

/// Writes `value` base units in the largest unit that shows it exactly; otherwise with three decimals of the largest
/// unit not above it.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: i128, units: &[(&str, i128)]) -> fmt::Result {
    let magnitude = value.unsigned_abs();
    for (name, scale) in units {
        let scale_abs = scale.unsigned_abs();
        if magnitude >= scale_abs && magnitude.is_multiple_of(scale_abs.div_ceil(1000)) {
            let sign = if value < 0 { "-" } else { "" };
            let whole = magnitude / scale_abs;
            let rest = (magnitude % scale_abs) * 1000 / scale_abs;
            return if rest == 0 {
                write!(f, "{sign}{whole}{name}")
            } else {
                let digits = alloc::format!("{rest:03}");
                write!(f, "{sign}{whole}.{}{name}", digits.trim_end_matches('0'))
            };
        }
    }
    let (name, scale) = units[units.len() - 1];
    write!(f, "{}{name}", value / scale)
}

/// Implements serde through `Display` and `FromStr`, so that a configuration can say `"20ms"`. The type's name is passed to
/// the format, so that one with numbers of its own (Python's, in SI units) can give them their unit.
#[cfg(feature = "serde")]
macro_rules! serde_as_text {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_newtype_struct(stringify!($type), crate::parse::Text)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
#[cfg(feature = "serde")]
pub(crate) use serde_as_text;

/// Reads the text of a quantity.
#[cfg(feature = "serde")]
pub(crate) struct Text;

#[cfg(feature = "serde")]
impl<'de> serde::de::Visitor<'de> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_newtype_struct<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        serde::Deserialize::deserialize(deserializer)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.into())
    }
}
