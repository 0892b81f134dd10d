//! How coefficients are rounded to levels.

use crate::encode::settings::Speed;
use crate::kernels::BlockQuantizer;
use crate::syntax::tokens::MacroblockFactors;

/// The quantisers of a macroblock's blocks.
#[derive(Debug, Clone)]
pub struct MacroblockQuantizer {
    pub luma: BlockQuantizer,
    pub y2: BlockQuantizer,
    pub chroma: BlockQuantizer,
}

/// Where between two levels the larger one begins to be taken, in 128ths of a step below it: less than half, since smaller
/// levels take fewer bits. Tuned on the project's clips (see the crate's README).

impl MacroblockQuantizer {
    /// Quantisers for the factors that a decoder will use.
    pub fn new(factors: &MacroblockFactors, _speed: Speed) -> Self {
        let t = |n: &'static str, d: u8| crate::encode::tune(n, d as i64) as u8;
        let quantizer = |[first, other]: [i16; 2], [d, a, h]: [u8; 3]| {
            let mut rounding = [a; 16];
            for i in [3, 6, 7, 9, 10, 11, 12, 13, 14, 15] {
                rounding[i] = h;
            }
            rounding[0] = d;
            BlockQuantizer::new(first, other, &rounding, &[0; 16])
        };
        Self {
            luma: quantizer(factors.luma, [t("RYD", 60), t("RYA", 60), t("RYH", 52)]),
            y2: quantizer(factors.y2, [t("R2D", 40), t("R2A", 36), t("R2H", 36)]),
            chroma: quantizer(factors.chroma, [t("RCD", 40), t("RCA", 40), t("RCH", 40)]),
        }
    }
}
