//! Coefficients to levels.

use super::super::{Block, BlockQuantizer, LARGEST_LEVEL, SCAN_POSITIONS};

pub fn quantize(coefficients: &Block, quantizer: &BlockQuantizer, levels: &mut Block, restored: &mut Block) -> usize {
    let mut coded = 0;
    for i in 0..16 {
        let coefficient = coefficients[i];
        // The most negative number has no positive one: it becomes 32767, as everything beyond does.
        let magnitude = coefficient.saturating_abs();
        let level = if magnitude < quantizer.zero_bins[i] {
            0
        } else {
            let rounded = magnitude.saturating_add(quantizer.rounding[i]) as u32;
            let sum = ((rounded * u32::from(quantizer.multipliers[i])) >> 16) + rounded;
            (((sum * u32::from(quantizer.scales[i])) >> 16) as i16).min(LARGEST_LEVEL)
        };
        levels[i] = if coefficient < 0 { -level } else { level };
        restored[i] = levels[i] * quantizer.steps[i];
        if level != 0 {
            coded = coded.max(usize::from(SCAN_POSITIONS[i]) + 1);
        }
    }
    coded
}
