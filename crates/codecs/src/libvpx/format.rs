//! Differences between VP8 and VP9 behind libvpx's common interface.

use thalweg_types::Layer;
use thalweg_units::{ConfigError, check};
use vpx_sys as vpx;

use super::settings::RateBuffer;
use crate::layers::shares;

/// VP8 or VP9, with its settings.
pub trait Format: std::fmt::Display + Clone + Send {
    /// The encoder's name in messages.
    const CODEC: &'static str;

    /// libvpx's encoder.
    fn interface() -> *mut vpx::vpx_codec_iface_t;

    /// The settings that both formats have.
    fn rates(&self) -> Rates;

    /// Checks that the format's own settings are in range.
    ///
    /// # Errors
    /// When a setting is out of range.
    fn check(&self) -> Result<(), ConfigError>;

    /// Sets the format-specific part of the configuration; `layers` is the number of temporal layers, at least 1.
    fn configure(&self, layers: u8, config: &mut vpx::vpx_codec_enc_cfg);

    /// Sets the rate in kbit/s: the total, and the cumulative rate of each layer.
    fn set_rate(config: &mut vpx::vpx_codec_enc_cfg, kbps: u32);

    /// Controls with an int argument that are set once, with their values.
    fn controls(&self, layers: u8) -> Vec<(vpx::vp8e_enc_control_id, i32)>;

    /// The control that sets the next frame's layer.
    fn set_layer(layer: Layer) -> Control;

    /// The control that sets the buffer level, in percent, below which layered frames are dropped, where the
    /// configuration does not set it.
    fn set_drop_threshold(percent: u32) -> Option<Control>;

    /// libvpx's quantiser 0..=63 for a quantiser index in the codec's own scale.
    fn quantizer(index: u8) -> u8;

    /// The quantiser index (VP8 0..=127, VP9 0..=255) that corresponds to libvpx's quantiser 0..=63.
    fn quantizer_index(quantizer: u8) -> u8;
}

/// A control with its argument.
#[derive(Debug, Clone, Copy)]
pub enum Control {
    /// A control with an int argument.
    Int(vpx::vp8e_enc_control_id, i32),
    /// `VP9E_SET_SVC_LAYER_ID`.
    Layer(vpx::vpx_svc_layer_id),
    /// `VP9E_SET_SVC_FRAME_DROP_LAYER`.
    Drop(vpx::vpx_svc_frame_drop),
}

/// The settings that VP8 and VP9 have in common.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// The rate control's buffer.
    pub buffer: RateBuffer,
    /// The finest and the coarsest quantiser, 0..=63.
    pub quantizers: (u8, u8),
    /// `rc_dropframe_thresh`, in percent.
    pub drop_frame_threshold: u8,
    /// `rc_undershoot_pct`.
    pub undershoot_percent: u32,
    /// `rc_overshoot_pct`.
    pub overshoot_percent: u32,
    /// Raises the requested rate to at least that of the coarsest quantiser.
    pub bound_debt: bool,
    /// Encoder threads.
    pub threads: u8,
}

impl Rates {
    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (min, max) = self.quantizers;
        check("quantisers", format_args!("{min} to {max}")).is(min <= max && max <= 63, "min <= max <= 63")?;
        check("drop_frame_threshold", self.drop_frame_threshold).within(0..=100, "30")?;
        check("threads", self.threads).within(1..=16, "1")
    }
}

/// Common part of the implementations of [`Format`]: the codec's name, libvpx's encoder, and the common settings, which
/// have the same names in both.
macro_rules! common {
    ($codec:literal, $interface:ident) => {
        const CODEC: &'static str = $codec;

        fn interface() -> *mut vpx::vpx_codec_iface_t {
            // SAFETY: the call returns the address of a static.
            unsafe { vpx::$interface() }
        }

        fn rates(&self) -> Rates {
            Rates {
                buffer: self.rate_buffer,
                quantizers: (self.min_quantizer, self.max_quantizer),
                drop_frame_threshold: self.drop_frame_threshold,
                undershoot_percent: self.undershoot_percent,
                overshoot_percent: self.overshoot_percent,
                bound_debt: self.bound_debt,
                threads: self.threads,
            }
        }
    };
}
pub(super) use common;

/// The cumulative rate of each layer in kbit/s, strictly increasing, as libvpx requires; for one layer, the rate
/// itself.
pub fn layer_rates(layers: u8, kbps: u32) -> impl Iterator<Item = u32> {
    let mut below = 0;
    shares(layers).iter().map(move |share| {
        below = ((f64::from(kbps) * share).round() as u32).max(below + 1);
        below
    })
}

/// Writes the temporal layer pattern ([`thalweg_types::layers`]) into a configuration: the frame rate divisor of each
/// layer, and the layer of each picture of a group.
pub fn set_pattern(layers: u8, config: &mut vpx::vpx_codec_enc_cfg) {
    let group = 1u32 << (layers - 1);
    config.ts_number_layers = layers.into();
    config.ts_periodicity = group;
    for layer in 0..layers {
        config.ts_rate_decimator[usize::from(layer)] = group >> layer;
    }
    for place in 0..group {
        let layer = if place == 0 { 0 } else { u32::from(layers) - 1 - place.trailing_zeros() };
        config.ts_layer_id[place as usize] = layer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_share_the_rate_as_in_libwebrtc_and_each_has_some() {
        let rates = |layers, kbps| layer_rates(layers, kbps).collect::<Vec<_>>();
        assert_eq!(
            (rates(1, 1000), rates(2, 1000), rates(3, 1000)),
            (vec![1000], vec![600, 1000], vec![400, 600, 1000])
        );
        assert_eq!(rates(3, 1), [1, 2, 3]);
    }

    #[test]
    fn of_a_group_of_four_libvpx_is_told_the_pattern() {
        let mut config = vpx::vpx_codec_enc_cfg::default();
        set_pattern(3, &mut config);
        assert_eq!((config.ts_number_layers, config.ts_periodicity), (3, 4));
        assert_eq!((&config.ts_rate_decimator[..3], &config.ts_layer_id[..4]), (&[4, 2, 1][..], &[0, 2, 1, 2][..]));
    }
}
