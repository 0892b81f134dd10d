//! Quantisation of coefficients.

use super::super::{Block, BlockQuantizer, LARGEST_LEVEL, SCAN_POSITIONS};

pub fn quantize(coefficients: &Block, quantizer: &BlockQuantizer, levels: &mut Block, restored: &mut Block) -> u16 {
    let mut coded = 0;
    for i in 0..16 {
        let coefficient = coefficients[i];
        // The most negative number has no positive counterpart: it becomes 32767.
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
            coded |= 1 << SCAN_POSITIONS[i];
        }
    }
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of some coefficients, with 0 for the rest.
    fn quantized(quantizer: &BlockQuantizer, coefficients: &[i16]) -> (Block, Block, u16) {
        let mut block = [0; 16];
        block[..coefficients.len()].copy_from_slice(coefficients);
        let (mut levels, mut restored) = ([9; 16], [9; 16]);
        let coded = quantize(&block, quantizer, &mut levels, &mut restored);
        (levels, restored, coded)
    }

    #[test]
    fn coefficients_are_rounded_to_their_steps() {
        let nearest = BlockQuantizer::new(20, 30, &[64; 16], &[0; 16]);
        let (levels, restored, coded) = quantized(&nearest, &[-30, 14, 15, -45]);
        assert_eq!(levels[..4], [-2, 0, 1, -2]);
        assert_eq!(restored[..4], [-40, 0, 30, -60]);
        // The third coefficient is the sixth of the scan, and the fourth the seventh.
        assert_eq!(coded, 0b110_0001);
    }

    #[test]
    fn a_zero_bin_silences_what_rounding_would_keep() {
        let wide = BlockQuantizer::new(20, 20, &[64; 16], &[96; 16]);
        assert_eq!(quantized(&wide, &[14, -14, 15, -15]).0[..4], [0, 0, 1, -1]);
        assert_eq!(quantized(&wide, &[14, -14]).2, 0);
    }

    #[test]
    fn the_largest_coefficients_have_the_largest_level() {
        let fine = BlockQuantizer::new(4, 8, &[64; 16], &[0; 16]);
        let (levels, restored, coded) = quantized(&fine, &[i16::MIN, i16::MAX, i16::MIN]);
        assert_eq!(levels[..3], [-2047, 2047, -2047]);
        assert_eq!(restored[..3], [-8188, 16376, -16376]);
        assert_eq!(coded, 0b10_0011);
    }
}
