//! Codec selection: a codec by name, with its parameters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Seed, Size, Span};

use crate::names::{NAMES, ParseCodecError};
#[cfg(feature = "libvpx")]
use crate::seam::DecodeError;
use crate::seam::{Decoder, EncodeError, Encoder};

/// A codec and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// VP8 by libvpx, as WebRTC configures it.
    Vp8(crate::libvpx::Settings),
    /// VP9 by libvpx, as WebRTC configures it.
    Vp9(crate::libvpx::Vp9Settings),
    /// H.264 by openh264, as WebRTC configures it.
    H264(crate::openh264::Settings),
    /// VP8 by this workspace's own functional codec.
    Functional(crate::functional::Settings),
    /// A statistical model: sizes and modelled quality without pixels or bytes.
    Model(crate::model::Config),
    /// A traffic model of RMCAT: sizes only.
    Traffic(crate::traffic::Config),
}

/// An encoder and the matching decoder.
pub struct CodecPair {
    /// The encoder.
    pub encoder: Box<dyn Encoder>,
    /// The decoder; `None` for models, which make no bytes.
    pub decoder: Option<Box<dyn Decoder>>,
}

impl Codec {
    /// [`Codec::build_seeded`] with seed 1, for codecs that use no random numbers: all but models.
    ///
    /// # Errors
    /// As [`Codec::build_seeded`].
    pub fn build(&self, largest: Size) -> Result<CodecPair, EncodeError> {
        self.build_seeded(largest, Seed::new(1))
    }

    /// Builds an encoder for pictures of up to `largest`, and the decoder. A model draws random numbers from
    /// a child of `seed`; pass the seed of the run, so that runs with different seeds have different frame
    /// sizes.
    ///
    /// # Errors
    /// When a setting or the size is out of range, or the codec was left out of this build.
    pub fn build_seeded(&self, largest: Size, seed: Seed) -> Result<CodecPair, EncodeError> {
        match self {
            Codec::Model(config) => Ok(CodecPair {
                encoder: Box::new(crate::model::ModelEncoder::new(config, largest, seed)?),
                decoder: None,
            }),
            Codec::Traffic(config) => {
                Ok(CodecPair { encoder: Box::new(crate::traffic::TrafficEncoder::new(config, seed)?), decoder: None })
            }
            Codec::Functional(settings) => Ok(CodecPair {
                encoder: Box::new(crate::functional::FunctionalEncoder::new(settings.clone())?),
                decoder: Some(Box::new(crate::functional::FunctionalDecoder::default())),
            }),
            #[cfg(feature = "libvpx")]
            Codec::Vp8(settings) => {
                let encoder = Box::new(crate::libvpx::Vp8Encoder::new(settings.clone(), largest)?);
                Ok(CodecPair { encoder, decoder: Some(opened(crate::libvpx::Vp8Decoder::new())?) })
            }
            #[cfg(feature = "libvpx")]
            Codec::Vp9(settings) => {
                let encoder = Box::new(crate::libvpx::Vp9Encoder::new(settings.clone(), largest)?);
                Ok(CodecPair { encoder, decoder: Some(opened(crate::libvpx::Vp9Decoder::new())?) })
            }
            #[cfg(feature = "openh264")]
            Codec::H264(settings) => {
                let encoder = Box::new(crate::openh264::H264Encoder::new(*settings, largest)?);
                let decoder = crate::openh264::H264Decoder::new().map_err(|error| EncodeError::Library {
                    codec: error.codec,
                    call: "WelsCreateDecoder",
                    reason: error.reason,
                })?;
                Ok(CodecPair { encoder, decoder: Some(Box::new(decoder)) })
            }
            #[cfg(not(all(feature = "libvpx", feature = "openh264")))]
            left_out => Err(EncodeError::LeftOut(ParseCodecError::LeftOut(left_out.name()))),
        }
    }
}

/// A libvpx decoder, or the reason why there is none.
#[cfg(feature = "libvpx")]
fn opened<D: Decoder + 'static>(decoder: Result<D, DecodeError>) -> Result<Box<dyn Decoder>, EncodeError> {
    let refuse = |DecodeError { codec, reason, .. }| EncodeError::Library { codec, call: "vpx_codec_dec_init", reason };
    decoder.map(|decoder| Box::new(decoder) as Box<dyn Decoder>).map_err(refuse)
}

/// Pixels used to guess a quantiser, as a share of the picture's pixels.
const GUESS_SHARE: f64 = 0.25;

/// Coding time in virtual time, so that runs do not depend on the machine. Measured on a 2026 server core, libvpx at
/// cpu_used -6 (specs/measured.md 5: 720p 4-6 ms to encode and 1.5 ms to decode, 1080p 10-13 and 3.5-4 ms).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodecTime {
    /// Encoding time per pixel, in nanoseconds.
    pub encode_ns_per_pixel: f64,
    /// Decoding time per pixel, in nanoseconds.
    pub decode_ns_per_pixel: f64,
    /// Time for each further candidate of the same picture, as a share of the first: the work that candidates of the
    /// functional codec do not share (`thalweg-bench codec`).
    pub candidate_share: f64,
}

impl Default for CodecTime {
    fn default() -> CodecTime {
        CodecTime { encode_ns_per_pixel: 5.5, decode_ns_per_pixel: 1.7, candidate_share: 0.6 }
    }
}

impl CodecTime {
    /// With this encoding time for a picture of `size`.
    pub fn encoding_in(self, time: Span, size: Size) -> CodecTime {
        CodecTime { encode_ns_per_pixel: time.as_nanos() as f64 / size.pixels() as f64, ..self }
    }

    /// Encoding time of one picture. Candidates coded in parallel take as long as one.
    pub fn encode(&self, plan: &EncodePlan) -> Span {
        let rounds = plan.targets.len().div_ceil(usize::from(plan.cores).max(1)).max(1);
        let mut work = 1.0 + self.candidate_share * (rounds - 1) as f64;
        if plan.targets.iter().any(|target| matches!(target, Target::Guess(_))) {
            work += GUESS_SHARE;
        }
        Span::from_nanos((self.encode_ns_per_pixel * plan.size.pixels() as f64 * work).round() as i64)
    }

    /// Decoding time of one picture.
    pub fn decode(&self, size: Size) -> Span {
        Span::from_nanos((self.decode_ns_per_pixel * size.pixels() as f64).round() as i64)
    }
}

impl Codec {
    /// Returns true for a model, which makes no bytes and reads no pixels.
    pub fn is_model(&self) -> bool {
        matches!(self, Codec::Model(_) | Codec::Traffic(_))
    }

    /// The codec for a scheme that chooses among candidates: this one if it can make several, otherwise the functional
    /// codec. A model becomes a model of a functional codec.
    pub fn functional(&self) -> Codec {
        match self {
            Codec::Model(config) => Codec::Model(crate::model::Config { functional: true, ..config.clone() }),
            Codec::Functional(_) => self.clone(),
            // Sizes without quantisers leave nothing to choose between.
            Codec::Traffic(_) => Codec::Model(crate::model::Config { functional: true, ..Default::default() }),
            Codec::Vp8(_) | Codec::Vp9(_) | Codec::H264(_) => Codec::Functional(Default::default()),
        }
    }
}

impl Codec {
    /// The codec's name, as [`FromStr`] reads it.
    pub const fn name(&self) -> &'static str {
        match self {
            Codec::Vp8(_) => "vp8",
            Codec::Vp9(_) => "vp9",
            Codec::H264(_) => "h264",
            Codec::Functional(_) => "functional",
            Codec::Model(_) => "model",
            Codec::Traffic(_) => "traffic",
        }
    }
}

/// The first real codec of this build: VP8 by libvpx, as browsers use it; without it H.264; without both the functional
/// VP8.
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

/// Writes the name without the parameters.
impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Codec {
    type Err = ParseCodecError;
    /// Reads a name, ignoring case; parameters take their defaults.
    fn from_str(text: &str) -> Result<Codec, ParseCodecError> {
        let codec = match text.trim().to_ascii_lowercase().as_str() {
            "vp8" => Codec::Vp8(Default::default()),
            "vp9" => Codec::Vp9(Default::default()),
            "h264" => Codec::H264(Default::default()),
            "functional" => Codec::Functional(Default::default()),
            "model" => Codec::Model(Default::default()),
            "traffic" => Codec::Traffic(Default::default()),
            _ => return Err(ParseCodecError::Unknown(text.to_string())),
        };
        let name = codec.name();
        if NAMES.contains(&(name, true)) { Ok(codec) } else { Err(ParseCodecError::LeftOut(name)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_of_this_build_is_read_by_the_name_it_is_written_with() {
        for (name, present) in NAMES {
            match name.parse::<Codec>() {
                Ok(codec) => assert!(
                    present && codec.to_string() == name && codec.is_model() == matches!(name, "model" | "traffic")
                ),
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
