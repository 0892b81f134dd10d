//! The decoder capabilities that an H.264 stream requires: `profile-level-id` (RFC 6184 section 8.1).

use std::fmt;
use std::str::FromStr;

/// A profile: the set of H.264 tools that a stream uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum H264Profile {
    /// Mandatory in WebRTC (RFC 7742): no B pictures, no CABAC.
    ConstrainedBaseline,
    /// With flexible macroblock order, which hardly any decoder implements; browsers that signal it mean the one above.
    Baseline,
    /// With B pictures and CABAC.
    Main,
    /// With 8x8 transforms, without B pictures.
    ConstrainedHigh,
    /// With 8x8 transforms.
    High,
}

/// `profile_idc`, then a mask of `profile-iop` and the values under the mask: table 5 of RFC 6184, and clause A.2.4.2
/// of H.264 for Constrained High. The first entry of a profile is the one that is written.
const PROFILES: [(H264Profile, u8, u8, u8); 8] = [
    (H264Profile::ConstrainedBaseline, 0x42, 0x4f, 0x40),
    (H264Profile::ConstrainedBaseline, 0x4d, 0x8f, 0x80),
    (H264Profile::ConstrainedBaseline, 0x58, 0xcf, 0xc0),
    (H264Profile::Baseline, 0x42, 0x4f, 0x00),
    (H264Profile::Baseline, 0x58, 0xcf, 0x80),
    (H264Profile::Main, 0x4d, 0xaf, 0x00),
    (H264Profile::ConstrainedHigh, 0x64, 0xff, 0x0c),
    (H264Profile::High, 0x64, 0xff, 0x00),
];

/// The bit of `profile-iop` that turns level 1.1 into level 1b in the profiles before High.
const SET_3: u8 = 0x10;

/// A profile and a level: `profile-level-id`, six hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H264Format {
    /// The profile.
    pub profile: H264Profile,
    /// `level_idc`, ten times the level: 31 is level 3.1, up to 1280 x 720 at 30 fps. Level 1b is 9.
    pub level: u8,
}

impl H264Format {
    /// The default when none is given: Baseline, level 1 (RFC 6184 section 8.1).
    pub const UNSAID: H264Format = H264Format { profile: H264Profile::Baseline, level: 10 };
}

/// The text is not a `profile-level-id`, or names a profile other than [`H264Profile`]'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be six hexadecimal digits of a profile up to High: 42e01f is Constrained Baseline at level 3.1")]
pub struct UnknownProfile;

impl FromStr for H264Format {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<H264Format, UnknownProfile> {
        if text.len() != 6 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(UnknownProfile);
        }
        let number = u32::from_str_radix(text, 16).map_err(|_| UnknownProfile)?;
        let [_, idc, iop, level] = number.to_be_bytes();
        let found = PROFILES.iter().find(|(_, of, mask, bits)| *of == idc && iop & mask == *bits);
        let profile = found.ok_or(UnknownProfile)?.0;
        let is_1b = level == 11 && idc != 0x64 && iop & SET_3 != 0;
        Ok(H264Format { profile, level: if is_1b { 9 } else { level } })
    }
}

impl fmt::Display for H264Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (idc, iop) = match self.profile {
            // With constraint sets 0, 1 and 2, as browsers write it: such a stream also conforms to Main and Extended.
            H264Profile::ConstrainedBaseline => (0x42, 0xe0),
            H264Profile::Baseline => (0x42, 0x00),
            H264Profile::Main => (0x4d, 0x00),
            H264Profile::ConstrainedHigh => (0x64, 0x0c),
            H264Profile::High => (0x64, 0x00),
        };
        let (iop, level) = if self.level == 9 && idc != 0x64 { (iop | SET_3, 11) } else { (iop, self.level) };
        write!(f, "{idc:02x}{iop:02x}{level:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_told_apart_as_table_5_says() {
        let cases = [
            ("42e01f", H264Profile::ConstrainedBaseline, 31),
            ("42C01F", H264Profile::ConstrainedBaseline, 31),
            ("4d801f", H264Profile::ConstrainedBaseline, 31),
            ("58c01f", H264Profile::ConstrainedBaseline, 31),
            ("42001f", H264Profile::Baseline, 31),
            ("58800a", H264Profile::Baseline, 10),
            ("4d0032", H264Profile::Main, 50),
            ("4d401f", H264Profile::Main, 31),
            ("640c1f", H264Profile::ConstrainedHigh, 31),
            ("640034", H264Profile::High, 52),
            ("42f00b", H264Profile::ConstrainedBaseline, 9),
            ("42e00b", H264Profile::ConstrainedBaseline, 11),
        ];
        for (text, profile, level) in cases {
            assert_eq!(text.parse(), Ok(H264Format { profile, level }), "{text}");
        }
    }

    #[test]
    fn other_profiles_and_other_texts_are_unknown() {
        for text in ["f4001f", "58001f", "42e11f", "42e01", "42e01ff", "+2e01f", "", "42é1f"] {
            assert_eq!(text.parse::<H264Format>(), Err(UnknownProfile), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        use H264Profile::*;
        for profile in [ConstrainedBaseline, Baseline, Main, ConstrainedHigh, High] {
            for level in [9, 10, 11, 31, 52] {
                let format = H264Format { profile, level };
                assert_eq!(format.to_string().parse(), Ok(format), "{format}");
            }
        }
        assert_eq!(H264Format { profile: ConstrainedBaseline, level: 31 }.to_string(), "42e01f");
    }
}
