//! Allocation of a rate to temporal layers.

use thalweg_types::Layer;

/// Cumulative rate of each layer (with the layers below it), as a share of the total: libwebrtc's
/// `kLayerRateAllocation` (modules/video_coding/utility/simulcast_rate_allocator.cc).
const SHARES: [&[f64]; 3] = [&[1.0], &[0.6, 1.0], &[0.4, 0.6, 1.0]];

/// Max number of temporal layers.
pub(crate) const MAX_LAYERS: u8 = SHARES.len() as u8;

/// Cumulative rate of each layer as a share of the total, for this number of layers.
pub(crate) fn shares(layers: u8) -> &'static [f64] {
    SHARES[usize::from(layers.clamp(1, MAX_LAYERS)) - 1]
}

/// Size of a frame of this layer in multiples of the mean frame, when each layer uses exactly its share.
pub(crate) fn weight(layer: Layer) -> f64 {
    let shares = shares(layer.count);
    let number = usize::from(layer.number).min(shares.len() - 1);
    let share = shares[number] - number.checked_sub(1).map_or(0.0, |below| shares[below]);
    // In a group of pictures, one is in the base layer, one in layer 1, and each further layer has twice as many.
    let group = 1 << (shares.len() - 1);
    let own = 1 << number.saturating_sub(1);
    share * f64::from(group) / f64::from(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_layers_together_have_the_rate() {
        let weight = |number, count| weight(Layer { number, count });
        assert_eq!(weight(0, 1), 1.0);
        assert!((weight(0, 2) - 1.2).abs() < 1e-9 && (weight(1, 2) - 0.8).abs() < 1e-9);
        assert!((weight(0, 3) - 1.6).abs() < 1e-9);
        assert!((weight(1, 3) - 0.8).abs() < 1e-9 && (weight(2, 3) - 0.8).abs() < 1e-9);
        assert!((weight(0, 3) + weight(1, 3) + 2.0 * weight(2, 3) - 4.0).abs() < 1e-9);
    }
}
