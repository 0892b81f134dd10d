//! Codecs by name: `vp8`, `vp9`, `h264`, `functional`, `model`.

use std::fmt;
use std::str::FromStr;

use crate::config::Codec;

/// Each name and whether this build has it.
const NAMES: [(&str, bool); 5] = [
    ("vp8", cfg!(feature = "libvpx")),
    ("vp9", cfg!(feature = "libvpx")),
    ("h264", cfg!(feature = "openh264")),
    ("functional", true),
    ("model", true),
];

impl Codec {
    /// Its name, which [`FromStr`] reads.
    pub const fn name(&self) -> &'static str {
        match self {
            Codec::Vp8(_) => "vp8",
            Codec::Vp9(_) => "vp9",
            Codec::H264(_) => "h264",
            Codec::Functional(_) => "functional",
            Codec::Model(_) => "model",
        }
    }
}

/// The first real codec of this build: VP8 by libvpx as browsers use it, or else H.264, or else the functional VP8.
impl Default for Codec {
    fn default() -> Codec {
        if cfg!(feature = "libvpx") {
            Codec::Vp8(Default::default())
        } else if cfg!(feature = "openh264") {
            Codec::H264(Default::default())
        } else {
            Codec::Functional(Default::default())
        }
    }
}

/// The name; parameters are not shown.
impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Codec {
    type Err = ParseCodecError;
    /// Reads a name, in any case; the parameters are the defaults.
    fn from_str(text: &str) -> Result<Codec, ParseCodecError> {
        let codec = match text.trim().to_ascii_lowercase().as_str() {
            "vp8" => Codec::Vp8(Default::default()),
            "vp9" => Codec::Vp9(Default::default()),
            "h264" => Codec::H264(Default::default()),
            "functional" => Codec::Functional(Default::default()),
            "model" => Codec::Model(Default::default()),
            _ => return Err(ParseCodecError::Unknown(text.to_string())),
        };
        let name = codec.name();
        if NAMES.contains(&(name, true)) { Ok(codec) } else { Err(ParseCodecError::LeftOut(name)) }
    }
}

/// A codec cannot be had by this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseCodecError {
    /// No codec is called that.
    Unknown(String),
    /// The codec was left out of this build.
    LeftOut(&'static str),
}

impl fmt::Display for ParseCodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseCodecError::Unknown(name) => {
                write!(f, "'{name}' is not a codec: choose ")?;
                for (index, (name, present)) in NAMES.into_iter().enumerate() {
                    let between = if index == 0 {
                        ""
                    } else if index + 1 < NAMES.len() {
                        ", "
                    } else {
                        " or "
                    };
                    let missing = if present { "" } else { " (left out of this build)" };
                    write!(f, "{between}{name}{missing}")?;
                }
                Ok(())
            }
            ParseCodecError::LeftOut(name) => {
                let (feature, package) = match *name {
                    "vp8" | "vp9" => ("libvpx", "install Debian's libvpx-dev and "),
                    _ => ("openh264", ""),
                };
                write!(
                    f,
                    "the codec {name} was left out of this build: {package}build with the cargo feature {feature}"
                )
            }
        }
    }
}

impl std::error::Error for ParseCodecError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_of_this_build_is_read_by_the_name_it_is_written_with() {
        for (name, present) in NAMES {
            match name.parse::<Codec>() {
                Ok(codec) => assert!(present && codec.to_string() == name && codec.is_model() == (name == "model")),
                Err(error) => assert!(!present && error == ParseCodecError::LeftOut(name), "{error}"),
            }
        }
        assert_eq!(" Model ".parse::<Codec>().map(|codec| codec.name()), Ok("model"));
    }

    #[test]
    fn the_default_is_in_this_build() {
        assert!(NAMES.contains(&(Codec::default().name(), true)));
    }

    #[test]
    fn an_unknown_name_lists_the_choices_and_a_missing_codec_says_how_to_get_it() {
        let message = "av2".parse::<Codec>().unwrap_err().to_string();
        assert!(["'av2'", "vp8", "h264", "model"].iter().all(|word| message.contains(word)), "{message}");
        let message = ParseCodecError::LeftOut("vp8").to_string();
        assert!(message.contains("libvpx-dev") && message.contains("feature libvpx"), "{message}");
        let message = ParseCodecError::LeftOut("h264").to_string();
        assert!(message.contains("feature openh264"), "{message}");
    }
}
