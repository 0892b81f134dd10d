//! Quantisers of blocks, with division prepared as multiplication.

/// The largest level of a quantised coefficient. The standard's tokens reach 2114; no residual of 8-bit pixels needs
/// more than 2047, which is the limit of libvpx too.
pub const LARGEST_LEVEL: i16 = 2047;

/// A block's quantiser: `level = min((|coefficient| + rounding) / step, 2047)` with the coefficient's sign, and 0 where
/// `|coefficient| < zero_bin`. The division is exact for all coefficients (Granlund and Montgomery, "Division by
/// invariant integers using multiplication", 1994, figure 4.1 with 16-bit words).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockQuantizer {
    pub(super) steps: [i16; 16],
    pub(super) rounding: [i16; 16],
    pub(super) zero_bins: [i16; 16],
    pub(super) multipliers: [u16; 16],
    pub(super) scales: [u16; 16],
}

impl BlockQuantizer {
    /// A quantiser with a step for the first coefficient and one for the others. `rounding` (0 to 127, larger values
    /// count as 127) and `zero_bins` are in 128ths of the step for each coefficient (in a block's order, not the
    /// scan's): 64 rounds to the nearest level, 48 gives libvpx's dead zone; a zero bin at or below `128 - rounding`
    /// has no effect.
    ///
    /// # Panics
    /// When a step is not in 2 to 1023. VP8's steps are in 4 to 440.
    #[must_use]
    pub fn new(first_step: i16, other_step: i16, rounding: &[u8; 16], zero_bins: &[u8; 16]) -> Self {
        let mut steps = [other_step; 16];
        steps[0] = first_step;
        for step in [first_step, other_step] {
            assert!((2..1024).contains(&step), "a quantiser's step is {step}, not in 2 to 1023");
        }
        let share = |part: u8, step: i16| ((i32::from(part) * i32::from(step)) >> 7) as i16;
        Self {
            steps,
            rounding: std::array::from_fn(|i| share(rounding[i].min(127), steps[i])),
            zero_bins: std::array::from_fn(|i| share(zero_bins[i], steps[i])),
            multipliers: steps.map(|step| reciprocal(step).0),
            scales: steps.map(|step| reciprocal(step).1),
        }
    }
}

/// The numbers for which `(n * multiplier / 65536 + n) * scale / 65536` is `n / step` for every 16-bit `n`, divisions
/// rounding down.
fn reciprocal(step: i16) -> (u16, u16) {
    let step = step as u32;
    let bits = (step - 1).ilog2() + 1; // the least with 2^bits >= step
    let multiplier = (((1 << bits) - step) << 16) / step + 1;
    (multiplier as u16, (1 << (16 - bits)) as u16)
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    #[test]
    fn multiplication_divides_every_number_by_every_step_exactly() {
        for step in 2..1024_i16 {
            let (multiplier, scale) = reciprocal(step);
            for number in 0..=0x7fff_u32 {
                let sum = ((number * u32::from(multiplier)) >> 16) + number;
                assert!(sum < 1 << 16);
                assert_eq!((sum * u32::from(scale)) >> 16, number / step as u32, "{number} / {step}");
            }
        }
    }
}
