//! A frame rate as a fraction.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// Frames per second, exactly: NTSC's 29.97 is 30000/1001 (SMPTE ST 12-1), whose pictures a decimal fraction would let
/// drift by 3.6 ms an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameRate {
    pictures: u32,
    seconds: u32,
}

/// The bounds of a frame rate that is asked for.
const RANGE: core::ops::RangeInclusive<f64> = 1.0..=240.0;
/// How far a decimal number may be from the NTSC rate it abbreviates: 23.98 is 23.976, and 29.97 is 29.97003.
const ABBREVIATED: f64 = 0.006;

impl FrameRate {
    /// So many frames each second; 0 counts as 1.
    pub const fn whole(pictures: u32) -> FrameRate {
        FrameRate { pictures: if pictures == 0 { 1 } else { pictures }, seconds: 1 }
    }

    /// Frames per so many seconds; `None` outside 1 to 240 fps.
    pub fn new(pictures: u32, seconds: u32) -> Option<FrameRate> {
        let fits = seconds > 0 && RANGE.contains(&(f64::from(pictures) / f64::from(seconds)));
        fits.then_some(FrameRate { pictures, seconds })
    }

    /// The rate that a decimal number means: a whole number, NTSC's n x 1000/1001, or thousandths.
    pub fn near(fps: f64) -> Option<FrameRate> {
        if !RANGE.contains(&fps) {
            return None;
        }
        let thousandths = libm::round(fps * 1000.0) as u32;
        if thousandths.is_multiple_of(1000) {
            return FrameRate::new(thousandths / 1000, 1);
        }
        let above = libm::ceil(fps);
        if libm::fabs(above * 1000.0 / 1001.0 - fps) < ABBREVIATED {
            return FrameRate::new(above as u32 * 1000, 1001);
        }
        FrameRate::new(thousandths, 1000)
    }

    /// Pictures, and in how many seconds: 30000 and 1001.
    pub const fn ratio(self) -> (u32, u32) {
        (self.pictures, self.seconds)
    }

    /// Frames per second.
    pub fn as_f64(self) -> f64 {
        f64::from(self.pictures) / f64::from(self.seconds)
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            1 => write!(f, "{}", self.pictures),
            seconds => write!(f, "{}/{seconds}", self.pictures),
        }
    }
}

/// The error of parsing a frame rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseFrameRateError(String);

impl fmt::Display for ParseFrameRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (RANGE.start(), RANGE.end());
        write!(
            f,
            "invalid frame rate '{}': write {min} to {max} frames per second, as in 30, 29.97 or 30000/1001",
            self.0
        )
    }
}

impl core::error::Error for ParseFrameRateError {}

impl FromStr for FrameRate {
    type Err = ParseFrameRateError;

    /// Parses `30`, `30000/1001` or `29.97` (also with `fps`).
    fn from_str(text: &str) -> Result<FrameRate, ParseFrameRateError> {
        let number = text.trim().trim_end_matches("fps").trim_end();
        let found = match number.split_once('/') {
            Some((pictures, seconds)) => {
                let whole = |part: &str| part.trim().parse().ok();
                whole(pictures).zip(whole(seconds)).and_then(|(pictures, seconds)| FrameRate::new(pictures, seconds))
            }
            None => number.parse().ok().and_then(FrameRate::near),
        };
        found.ok_or_else(|| ParseFrameRateError(text.to_string()))
    }
}

/// A number where it is whole, text such as `"30000/1001"` where not.
#[cfg(feature = "serde")]
impl serde::Serialize for FrameRate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.seconds {
            1 => serializer.serialize_u32(self.pictures),
            _ => serializer.collect_str(self),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for FrameRate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = FrameRate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a frame rate such as 30, 29.97 or \"30000/1001\"")
            }

            fn visit_f64<E: serde::de::Error>(self, fps: f64) -> Result<FrameRate, E> {
                FrameRate::near(fps).ok_or_else(|| E::custom(ParseFrameRateError(fps.to_string())))
            }

            fn visit_i64<E: serde::de::Error>(self, fps: i64) -> Result<FrameRate, E> {
                self.visit_f64(fps as f64)
            }

            fn visit_u64<E: serde::de::Error>(self, fps: u64) -> Result<FrameRate, E> {
                self.visit_f64(fps as f64)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<FrameRate, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_frame_rate_is_a_number_a_fraction_or_an_abbreviation_of_ntscs() {
        for (text, ratio, shown) in [
            ("30", (30, 1), "30"),
            ("60 fps", (60, 1), "60"),
            ("30000/1001", (30_000, 1001), "30000/1001"),
            ("29.97", (30_000, 1001), "30000/1001"),
            ("23.976", (24_000, 1001), "24000/1001"),
            ("23.98", (24_000, 1001), "24000/1001"),
            ("59.94", (60_000, 1001), "60000/1001"),
            ("12.5", (12_500, 1000), "12500/1000"),
            ("30.0000003", (30, 1), "30"),
        ] {
            let rate: FrameRate = text.parse().unwrap();
            assert_eq!((rate.ratio(), format!("{rate}").as_str()), (ratio, shown), "{text}");
            assert_eq!(rate.to_string().parse(), Ok(rate), "{text}");
        }
        for wrong in ["", "0", "-30", "241", "30/0", "1/2", "fast", "30000/1001/2", "NaN"] {
            assert!(wrong.parse::<FrameRate>().unwrap_err().to_string().contains(&format!("'{wrong}'")), "{wrong}");
        }
    }
}
