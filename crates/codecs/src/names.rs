//! Codec names, and which codecs this build includes.

use std::fmt;

/// Each name and whether this build includes the codec.
pub(crate) const NAMES: [(&str, bool); 6] = [
    ("vp8", cfg!(feature = "libvpx")),
    ("vp9", cfg!(feature = "libvpx")),
    ("h264", cfg!(feature = "openh264")),
    ("functional", true),
    ("model", true),
    ("traffic", true),
];

/// Why a codec name cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseCodecError {
    /// No codec has this name.
    Unknown(String),
    /// The codec was left out of this build.
    LeftOut(&'static str),
}

impl fmt::Display for ParseCodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseCodecError::Unknown(name) => {
                write!(f, "unknown codec '{name}': expected ")?;
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
