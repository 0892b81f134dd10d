//! The filter of a scaled sample: its source samples and their weights.

/// Bits of a weight: the weights of one output sample add up to 2^14.
pub(super) const WEIGHT_BITS: i32 = 14;

/// For each output sample, the first of its source samples and their weights.
pub(super) struct Filter {
    /// Number of source samples per output sample.
    pub(super) taps: usize,
    /// Index of the first source sample.
    pub(super) starts: Vec<usize>,
    /// `taps` for each output sample.
    weights: Vec<i16>,
}

impl Filter {
    /// A filter that scales `from` samples to `to` samples.
    pub(super) fn new(from: usize, to: usize) -> Filter {
        let ratio = from as f64 / to as f64;
        let stretch = ratio.max(1.0);
        let taps = (libm::ceil(4.0 * stretch) as usize).min(from);
        let mut starts = Vec::with_capacity(to);
        let mut weights = Vec::with_capacity(to * taps);
        let (mut raw, mut rounded) = (vec![0.0; taps], vec![0; taps]);
        for output in 0..to {
            let centre = (output as f64 + 0.5) * ratio - 0.5;
            let wanted = libm::floor(centre - taps as f64 / 2.0) as i64 + 1;
            let start = wanted.clamp(0, (from - taps) as i64);
            // The edge is repeated beyond the picture: weights outside go to the nearest sample.
            raw.fill(0.0);
            for position in wanted - 2..wanted + taps as i64 + 2 {
                let weight = cubic((position as f64 - centre) / stretch);
                let held = position.clamp(start, start + taps as i64 - 1) - start;
                raw[held as usize] += weight;
            }
            round(&raw, &mut rounded);
            starts.push(start as usize);
            weights.extend_from_slice(&rounded);
        }
        Filter { taps, starts, weights }
    }

    /// Index of the first source sample, and the weights.
    #[inline(always)]
    pub(super) fn of(&self, output: usize) -> (usize, &[i16]) {
        (self.starts[output], &self.weights[output * self.taps..(output + 1) * self.taps])
    }

    /// All weights, those of each sample padded to `taps` with zeros.
    pub(super) fn padded(&self, taps: usize) -> Vec<i16> {
        let mut padded = vec![0; self.starts.len() * taps];
        for (to, from) in padded.chunks_exact_mut(taps).zip(self.weights.chunks_exact(self.taps)) {
            to[..from.len()].copy_from_slice(from);
        }
        padded
    }
}

/// Integer weights in proportion to `raw` with a sum of exactly one: the largest absorbs the rounding error.
fn round(raw: &[f64], rounded: &mut [i16]) {
    let one = 1 << WEIGHT_BITS;
    let sum: f64 = raw.iter().sum();
    for (rounded, raw) in rounded.iter_mut().zip(raw) {
        *rounded = libm::round(raw / sum * f64::from(one)) as i16;
    }
    let error = one - rounded.iter().map(|weight| i32::from(*weight)).sum::<i32>();
    if let Some(largest) = rounded.iter_mut().max_by_key(|weight| **weight) {
        *largest += error as i16;
    }
}

/// The Catmull-Rom cubic.
fn cubic(x: f64) -> f64 {
    let x = x.abs();
    if x < 1.0 {
        (1.5 * x - 2.5) * x * x + 1.0
    } else if x < 2.0 {
        ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    } else {
        0.0
    }
}
