//! The decoder capabilities that an AV1 stream requires: level and tier of profile 0 (AOM, RTP Payload Format For AV1
//! v1.0, section 7.2).

use std::fmt;

/// Level and tier of a stream of profile 0, which is 4:2:0 of 8 or 10 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Av1Format {
    /// `seq_level_idx`, 0 to 31: 4 (X - 2) + Y is level X.Y, so 5 is level 3.1, up to 1280 x 720 at 30 fps; 31 is without
    /// limits.
    pub level: u8,
    /// `seq_tier`: whether the stream may have the bit rates of the high tier.
    pub high_tier: bool,
}

impl Av1Format {
    /// The default when none is given: level 3.1 of the main tier.
    pub const UNSAID: Av1Format = Av1Format { level: 5, high_tier: false };

    /// Reads these parameters of `a=fmtp`, each with its own default; `None` for another profile, and for values that
    /// do not exist.
    pub(super) fn read<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Option<Av1Format> {
        if parameter("profile").is_some_and(|profile| profile != "0") {
            return None;
        }
        let level = parameter("level-idx").map_or(Ok(Av1Format::UNSAID.level), str::parse).ok()?;
        let high_tier = match parameter("tier") {
            None | Some("0") => false,
            Some("1") => true,
            Some(_) => return None,
        };
        (level <= 31).then_some(Av1Format { level, high_tier })
    }
}

impl fmt::Display for Av1Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level-idx={};profile=0;tier={}", self.level, u8::from(self.high_tier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Av1Format> {
        let pairs: Vec<_> = text.split(';').filter_map(|pair| pair.split_once('=')).collect();
        Av1Format::read(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value))
    }

    #[test]
    fn what_is_not_said_is_profile_0_at_level_3_1_of_the_main_tier() {
        assert_eq!(read(""), Some(Av1Format::UNSAID));
        assert_eq!(read("profile=0"), Some(Av1Format::UNSAID));
        assert_eq!(read("level-idx=8;tier=1"), Some(Av1Format { level: 8, high_tier: true }));
        assert_eq!(read("level-idx=31;profile=0;tier=0"), Some(Av1Format { level: 31, high_tier: false }));
    }

    #[test]
    fn other_profiles_and_values_that_do_not_exist_are_refused() {
        for text in ["profile=1", "profile=2", "profile=", "level-idx=32", "level-idx=-1", "level-idx=x", "tier=2"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for format in [Av1Format::UNSAID, Av1Format { level: 19, high_tier: true }] {
            assert_eq!(read(&format.to_string()), Some(format));
        }
        assert_eq!(Av1Format::UNSAID.to_string(), "level-idx=5;profile=0;tier=0");
    }
}
