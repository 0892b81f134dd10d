//! The encoders that are compared.

use std::sync::Arc;

use serde::Serialize;
use thalweg_codecs::functional::{FunctionalDecoder, Preset, Settings};
use thalweg_codecs::{Codec, CodecPair, Decoder, EncodeError};
use thalweg_units::Size;

use crate::cpu_seconds;

/// Quantity that an encoder keeps constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Aim {
    /// The quantiser.
    Quantizer,
    /// The bitrate.
    Rate,
    /// The bitrate, by the size of each frame, as `thalweg` encodes; libvpx by its rate control.
    Size,
}

impl std::fmt::Display for Aim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Aim::Quantizer => "one quantiser",
            Aim::Rate => "a rate",
            Aim::Size => "a size",
        })
    }
}

/// An encoder with its settings.
pub(crate) struct Contender {
    pub(crate) name: String,
    /// True if the others are compared with it: libvpx at the first `cpu_used`.
    pub(crate) is_baseline: bool,
    pub(crate) is_libvpx: bool,
    codec: Codec,
}

impl Contender {
    pub(crate) fn build(&self, size: Size) -> Result<CodecPair, EncodeError> {
        self.codec.build(size)
    }
}

/// libvpx in real-time mode at each `cpu_used` if this build has it, and the functional encoder at each preset.
pub(crate) fn contenders(cpu_used: &[i8], presets: &[Preset]) -> Vec<Contender> {
    let libvpx = cpu_used.iter().enumerate().map(|(index, &cpu_used)| {
        let settings = thalweg_codecs::libvpx::Settings { cpu_used, ..Default::default() };
        Contender {
            name: format!("libvpx {cpu_used}"),
            is_baseline: index == 0,
            is_libvpx: true,
            codec: Codec::Vp8(settings),
        }
    });
    libvpx.filter(|_| cfg!(feature = "libvpx")).chain(presets.iter().map(|preset| functional(*preset))).collect()
}

pub(crate) fn functional(preset: Preset) -> Contender {
    // The quantiser is fixed, so no finest one is set.
    let settings = Settings { preset, min_quantizer: 0, ..Settings::default() };
    Contender { name: preset.to_string(), is_baseline: false, is_libvpx: false, codec: Codec::Functional(settings) }
}

/// CPU time of a contender's decoder over that of ours, with the streams in turn; `None` if it has no decoder.
pub(crate) fn decoder_speed(theirs: &Contender, size: Size, streams: &[Vec<Arc<[u8]>>]) -> anyhow::Result<Option<f64>> {
    let (mut our_time, mut their_time) = (0.0, 0.0);
    for stream in streams {
        let Some(mut decoder) = theirs.build(size)?.decoder else { return Ok(None) };
        our_time += time(stream, &mut FunctionalDecoder::default())?;
        their_time += time(stream, &mut *decoder)?;
    }
    Ok((our_time > 0.0).then(|| their_time / our_time))
}

fn time(stream: &[Arc<[u8]>], decoder: &mut dyn Decoder) -> anyhow::Result<f64> {
    let start = cpu_seconds();
    for frame in stream {
        decoder.decode(frame)?;
    }
    Ok(cpu_seconds() - start)
}
