//! The libvpx real-time encoder.

use std::sync::Arc;

use thalweg_types::{Basis, Buffers, EncodePlan, EncodedFrame, Layer, Target};
use thalweg_units::{Bytes, Size, check};
use vpx_sys as vpx;

use super::context::{CLOCK, Context, Parameters};
use super::format::{Format, Rates};
use super::windup::Windup;
use crate::layers::MAX_LAYERS;
use crate::seam::{Candidate, EncodeError, Encoder, Image, at_size, buffers_at_most};
use crate::single::SingleOffer;
use crate::vp8::{ALTREF, GOLDEN};

/// A libvpx encoder. It is opened at the largest size it will be asked for, because libvpx refuses to grow beyond that.
///
/// Frames may be based on named buffers and be in temporal layers. When the number of layers changes, the next frame is
/// a keyframe.
pub struct VpxEncoder<F: Format> {
    settings: F,
    context: Context<F>,
    largest: Size,
    timestamp: i64,
    offer: SingleOffer,
    windup: Windup,
}

/// VP8 by libvpx.
pub type Vp8Encoder = VpxEncoder<super::settings::Settings>;

/// VP9 by libvpx.
pub type Vp9Encoder = VpxEncoder<super::settings::Vp9Settings>;

impl<F: Format> VpxEncoder<F> {
    /// Creates an encoder for pictures of up to `largest`.
    ///
    /// # Errors
    /// When a setting or the size is out of range, or libvpx cannot be set up.
    pub fn new(settings: F, largest: Size) -> Result<VpxEncoder<F>, EncodeError> {
        settings.check().and(settings.rates().check()).map_err(EncodeError::of_setting(F::CODEC))?;
        Ok(VpxEncoder {
            context: Context::open(&settings, largest, 1)?,
            settings,
            largest,
            timestamp: 0,
            offer: SingleOffer::default(),
            windup: Windup::default(),
        })
    }

    /// Reopens the encoder if the number of layers changes; returns whether it did.
    fn set_layers(&mut self, layers: u8) -> Result<bool, EncodeError> {
        check("plan.layer.count", layers).within(1..=MAX_LAYERS, "1").map_err(EncodeError::of_setting(F::CODEC))?;
        if layers == self.context.layers() {
            return Ok(false);
        }
        self.context = Context::open(&self.settings, self.largest, layers)?;
        Ok(true)
    }
}

/// The flags of `vpx_codec_encode` that express a basis, for a frame that is not a keyframe. VP9 uses VP8's flag names.
fn flags(basis: Basis) -> u32 {
    let Basis::Buffers(Buffers { last, long_term, kept_in, becomes_last, .. }) = basis else { return 0 };
    let refers = |buffer| long_term.is_some_and(|(used, _)| used == buffer);
    [
        (!last, vpx::VP8_EFLAG_NO_REF_LAST),
        (!refers(GOLDEN), vpx::VP8_EFLAG_NO_REF_GF),
        (!refers(ALTREF), vpx::VP8_EFLAG_NO_REF_ARF),
        (!becomes_last, vpx::VP8_EFLAG_NO_UPD_LAST),
        (kept_in != Some(GOLDEN), vpx::VP8_EFLAG_NO_UPD_GF),
        (kept_in != Some(ALTREF), vpx::VP8_EFLAG_NO_UPD_ARF),
        // Its changes to the probabilities apply to this frame only.
        (true, vpx::VP8_EFLAG_NO_UPD_ENTROPY),
    ]
    .into_iter()
    .fold(0, |flags, (is, flag)| if is { flags | flag } else { flags })
}

impl<F: Format> Encoder for VpxEncoder<F> {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        let picture = image.picture.ok_or(EncodeError::Blank { codec: F::CODEC, size: image.size })?;
        buffers_at_most(F::CODEC, plan)?;
        let size = plan.size;
        if size.width > self.largest.width || size.height > self.largest.height || size.width < 2 || size.height < 2 {
            let range = format!("2x2 to {}, the size it was opened at; open it at the largest", self.largest);
            return Err(EncodeError::Size { codec: F::CODEC, size, range });
        }
        let Rates { quantizers: range, drop_frame_threshold, bound_debt, .. } = self.settings.rates();
        let (rate, quantizers) = match plan.targets[..] {
            [Target::Rate(rate)] => (Some(rate), range),
            [Target::Quantizer(quantizer)] => {
                let quantizer = F::quantizer(quantizer);
                (None, (quantizer, quantizer))
            }
            _ => {
                return Err(EncodeError::Target {
                    codec: F::CODEC,
                    target: format!("{:?}", plan.targets),
                    range: "one rate or one quantiser; a functional codec can do more".into(),
                });
            }
        };
        let reopened = self.set_layers(plan.layer.count)?;
        // Where libvpx may drop frames, dropping ends its debts.
        let bounded = bound_debt && !plan.may_drop;
        let rate = rate.map(|rate| if bounded { self.windup.rate_to_ask(rate) } else { rate });
        let resized = self.context.configure(Parameters {
            size,
            kbps: rate.map(|rate| (rate.as_bps() / 1000).clamp(1, 1_000_000) as u32),
            quantizers,
            drop_frame_threshold: if plan.may_drop { drop_frame_threshold.into() } else { 0 },
        })?;
        let keyframe = plan.keyframe || reopened || resized || self.offer.owes_keyframe(plan.basis);
        // A keyframe is in the base layer, wherever in a pattern it comes.
        let layer = if keyframe { Layer { number: 0, ..plan.layer } } else { plan.layer };
        if layer.count > 1 {
            self.context.set_layer(layer)?;
        }
        let flags = if keyframe { vpx::VPX_EFLAG_FORCE_KF } else { flags(plan.basis) };
        let duration = (plan.interval.as_nanos() * CLOCK / 1_000_000_000).max(1);
        let input = at_size(picture, size);
        let made = self.context.encode(&input, self.timestamp, duration, flags);
        self.timestamp += duration;
        let candidate = made?.map(|made| {
            let frame = EncodedFrame::new(Bytes::new(made.data.len() as u64), size).with(|frame| {
                frame.keyframe = made.keyframe;
                frame.layer = layer.number;
                frame.quantizer = made.quantizer;
            });
            Candidate { data: Arc::from(made.data), frame, modelled: None }
        });
        if let Some(candidate) = &candidate {
            let frame = &candidate.frame;
            let coarsest = frame.quantizer.is_some_and(|index| index >= F::quantizer_index(quantizers.1));
            self.windup.on_frame(frame.size, plan.interval, coarsest, frame.keyframe);
        }
        let is_key = candidate.as_ref().map_or(keyframe, |candidate| candidate.frame.keyframe);
        self.offer.on_encoded(plan.basis, is_key, candidate.is_some());
        Ok(candidate.into_iter().collect())
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        self.offer.commit(choice)
    }

    fn settings(&self) -> String {
        self.settings.to_string()
    }
}
