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
const ROUNDING: u8 = 48;

impl MacroblockQuantizer {
    /// Quantisers for the factors that a decoder will use.
    pub fn new(factors: &MacroblockFactors, _speed: Speed) -> Self {
        let t = |n: &str| crate::encode::tune(n, ROUNDING as i64) as u8;
        let quantizer = |[first, other]: [i16; 2], n: &str| {
            let mut rounding = [t(&format!("{n}A")); 16];
            for i in [3, 6, 7, 9, 10, 11, 12, 13, 14, 15] {
                rounding[i] = t(&format!("{n}H"));
            }
            rounding[0] = t(&format!("{n}D"));
            BlockQuantizer::new(first, other, &rounding, &[0; 16])
        };
        Self {
            luma: quantizer(factors.luma, "RY"),
            y2: quantizer(factors.y2, "R2"),
            chroma: quantizer(factors.chroma, "RC"),
        }
    }
}
