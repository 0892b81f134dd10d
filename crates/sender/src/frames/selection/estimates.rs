//! Estimates the size of a layer's next frame.

use thalweg_units::Bytes;

/// A group has at most three layers.
const LAYERS: usize = 3;
/// Before the first frame of a layer, a base frame counts as this share of a keyframe, and a frame of another layer as
/// this share of a base frame (specs/rebera.md 6, \[R\]).
const OF_KEYFRAME: f64 = 0.3;
const OF_BASE: f64 = 0.5;

/// A moving average of each layer's frame sizes, keyframes excluded.
#[derive(Debug, Clone)]
pub(super) struct Estimates {
    gain: f64,
    keyframe: Option<f64>,
    sizes: [Option<f64>; LAYERS],
}

impl Estimates {
    /// No sizes yet; in the average the newest size has weight `gain`.
    pub(super) fn new(gain: f64) -> Estimates {
        Estimates { gain, keyframe: None, sizes: [None; LAYERS] }
    }

    pub(super) fn on_keyframe(&mut self, size: Bytes) {
        self.keyframe = Some(size.as_f64());
    }

    pub(super) fn on_frame(&mut self, layer: u8, size: Bytes) {
        let before = self.of(layer);
        if let Some(average) = self.sizes.get_mut(usize::from(layer)) {
            *average = Some(self.gain * size.as_f64() + (1.0 - self.gain) * before);
        }
    }

    /// Estimated bytes of a frame of this layer; 0 before any frame.
    pub(super) fn of(&self, layer: u8) -> f64 {
        let known = |layer: u8| self.sizes.get(usize::from(layer)).copied().flatten();
        let base = || known(0).unwrap_or(OF_KEYFRAME * self.keyframe.unwrap_or(0.0));
        known(layer).unwrap_or_else(|| if layer == 0 { base() } else { OF_BASE * base() })
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, sizes: [f64; LAYERS]) {
        self.sizes = sizes.map(Some);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_what_its_last_frames_were_and_before_the_first_a_share_of_what_is_known() {
        let mut estimates = Estimates::new(0.75);
        assert_eq!(estimates.of(1), 0.0);
        estimates.on_keyframe(Bytes::new(5000));
        assert_eq!([0, 1, 2].map(|layer| estimates.of(layer)), [1500.0, 750.0, 750.0]);
        estimates.on_frame(0, Bytes::new(2500));
        assert_eq!([0, 1, 2].map(|layer| estimates.of(layer)), [2250.0, 1125.0, 1125.0]);
        // specs/rebera.md 9, example 4: an average of 2400 and a frame of 2500 give 2475.
        estimates.set([2400.0, 1500.0, 850.0]);
        estimates.on_frame(0, Bytes::new(2500));
        assert_eq!(estimates.of(0), 2475.0);
    }
}
