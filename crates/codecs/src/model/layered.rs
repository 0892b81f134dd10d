//! Bits of frames in temporal layers.

use serde::{Deserialize, Serialize};
use thalweg_types::Layer;

/// Cost of frames in three temporal layers (`cargo run --release -p thalweg-calibrate -- layer-sizes`: libvpx VP8 at
/// 720p, eight intra periods of 32 pictures, groups of 4).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layered {
    /// Bits of a frame of each layer at one quantiser, relative to their mean; each above 0. The farther back a frame's
    /// reference, the more bits it takes.
    pub at_one_quantizer: [f64; 3],
    /// Mean size relative to the mean without layers, at least 1: the cost of references farther back than the previous
    /// frame.
    pub cost: f64,
}

/// Bits of a frame of each layer while rate control steers, relative to their mean. libvpx made 1.50 to 1.57, 0.78 to
/// 0.83 and 0.85 to 0.88 for both videos at 1, 2 and 4 Mbps (0.4, 0.2 and 0.4 of the rate for one, one and two frames
/// in four are 1.6, 0.8 and 0.8).
const STEERED: [f64; 3] = [1.50, 0.80, 0.85];

/// Size of a keyframe with layers relative to one without: 1.24 to 1.41 for both videos at 0.5 to 4 Mbps.
const KEYFRAME: f64 = 1.3;

impl Default for Layered {
    /// Values of the built-in scene: 1.08, 1.12 and 1.19 for the base at quantisers 20, 40 and 80, then 1.03 to 1.06
    /// and 0.95 to 0.89 for the upper layers; the mean is 1.11, 1.14 and 1.18 times that without layers.
    fn default() -> Layered {
        Layered { at_one_quantizer: [1.13, 1.05, 0.91], cost: 1.14 }
    }
}

/// Factors by which a frame of a layer differs from one without layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Factors {
    /// Factor on the bits that rate control allows.
    pub steered: f64,
    /// Factor on the bits at one quantiser.
    pub own: f64,
    /// Factor on the bits of a keyframe.
    pub keyframe: f64,
}

impl Layered {
    /// The factors of a frame. With two layers, frames refer as far back as those of the upper two of three, and cost
    /// half as much extra.
    pub(super) fn factors(&self, layer: Layer) -> Factors {
        let number = usize::from(layer.number);
        let of = |[base, first, second]: [f64; 3]| match layer.count {
            0 | 1 => 1.0,
            2 => [first, second][number.min(1)] * 2.0 / (first + second),
            _ => [base, first, second][number.min(2)],
        };
        let cost = match layer.count {
            0 | 1 => 1.0,
            2 => (1.0 + self.cost) / 2.0,
            _ => self.cost,
        };
        let steered = if layer.count == 2 { crate::layers::weight(layer) } else { of(STEERED) };
        let keyframe = if layer.count > 1 { KEYFRAME } else { 1.0 };
        Factors { steered, own: of(self.at_one_quantizer) * cost, keyframe }
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Layered::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(number: u8, count: u8) -> Layer {
        Layer { number, count }
    }

    #[test]
    fn without_layers_nothing_is_different() {
        let factors = Layered::default().factors(Layer::default());
        assert_eq!(factors, Factors { steered: 1.0, own: 1.0, keyframe: 1.0 });
    }

    #[test]
    fn a_group_of_frames_has_the_rate_and_the_cost() {
        let layered = Layered::default();
        let of = |layers: &[Layer], part: fn(Factors) -> f64| {
            layers.iter().map(|layer| part(layered.factors(*layer))).sum::<f64>() / layers.len() as f64
        };
        let four = [layer(0, 3), layer(2, 3), layer(1, 3), layer(2, 3)];
        let two = [layer(0, 2), layer(1, 2)];
        assert!((of(&four, |factors| factors.steered) - 1.0).abs() < 1e-9);
        assert!((of(&two, |factors| factors.steered) - 1.0).abs() < 1e-9);
        assert!((of(&four, |factors| factors.own) - 1.14).abs() < 1e-9);
        assert!((of(&two, |factors| factors.own) - 1.07).abs() < 1e-9);
    }
}
