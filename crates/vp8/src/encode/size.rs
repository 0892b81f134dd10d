//! Frames of a given size.
//!
//! The size of a frame at a quantiser can be estimated from the magnitudes of its residual's coefficients: a
//! coefficient below its dead zone costs nothing, a larger one costs some bits plus more with its logarithm. The first
//! coding shows the error of the estimate, and the next coding is nearly always close enough.

use super::Analysis;
use super::analysis::Found;
use super::coding::{self, Coded, Coding};
use super::cost::binary_logarithm;
use super::plan::{Fit, PlanKind};
use crate::quantize::OTHER_FACTORS;

/// A frame of at least this size, in 128ths of its target, is accepted.
const NEAR_ENOUGH: usize = 108;
/// The target of the next coding, in 128ths of the requested size.
const AIM: u64 = 119;
/// The coarsest quantiser.
const COARSEST: u8 = 127;
/// Maximum number of codings per frame, before the last resorts.
const MAX_CODINGS: u32 = 4;

/// Codes an analysed picture to at most `target` bytes, if possible, and close to it.
pub fn code_to_size(analysis: &Analysis<'_>, target: usize) -> Coded {
    if let Ok(coded) = search(analysis, target) {
        return coded;
    }
    // Without levels a key frame is grey, and so is what refers to it until there is room for much more.
    if matches!(analysis.plan.kind, PlanKind::Key) {
        return coding::code(analysis, Coding::at(COARSEST));
    }
    // Modes chosen for a finer quantiser take more bits than is reasonable at the coarsest one.
    let frugal = analysis.for_quantizer(COARSEST);
    let whole = match search(&frugal, target) {
        Ok(coded) => return coded,
        Err(whole) => whole,
    };
    let modes = coding::code(&frugal, Coding::BARE);
    if let Some(coded) = code_partly(&frugal, target, modes.frame.len(), whole) {
        return coded;
    }
    // Motion is not worth its bits at this size, or nearly everything is new and so intra, of which all is coded or
    // nothing: every macroblock is copied from its position, and those that differ most are corrected. Otherwise a
    // picture unlike the last would not be seen before a frame can have all of it.
    let still = analysis.without_motion();
    let copies = coding::code(&still, Coding::BARE);
    let whole = coding::code(&still, Coding::at(COARSEST)).frame.len();
    code_partly(&still, target, copies.frame.len(), whole).unwrap_or(copies)
}

/// Codes, at the coarsest quantiser, as many macroblocks as fit, those with the largest prediction error first: over
/// several frames the picture becomes correct although no single frame could code all of it. `modes` is the number of
/// bytes of the modes alone, `whole` that of everything.
fn code_partly(analysis: &Analysis<'_>, target: usize, modes: usize, whole: usize) -> Option<Coded> {
    /// Attempts before levels are given up.
    const ATTEMPTS: u32 = 3;
    let mut differences = analysis.found.as_ref()?.differences();
    differences.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = differences.iter().map(|&difference| u64::from(difference)).sum();
    let levels = whole.saturating_sub(modes).max(1) as u64;
    // The bytes of levels are roughly proportional to the error that they correct. A tenth is reserved for modes that
    // depend on them.
    let mut room = all as u128 * target.checked_sub(modes)? as u128 * 9 / 10 / u128::from(levels);
    for _ in 0..ATTEMPTS {
        let mut sum = 0;
        let fits = differences.iter().take_while(|&&difference| {
            sum += u128::from(difference);
            sum <= room
        });
        // Only macroblocks that differ more than the first one that does not fit are coded.
        let tolerated = *differences.get(fits.count())?;
        let coded = coding::code(analysis, Coding { tolerated, ..Coding::at(COARSEST) });
        if coded.frame.len() <= target {
            return Some(coded);
        }
        room = room * (target - modes) as u128 / (coded.frame.len() - modes).max(1) as u128 * 9 / 10;
    }
    None
}

/// Codes an analysed picture to about `target` bytes, at the quantiser `finest` or a coarser one: in one coding if the
/// estimate is good, in three at most.
pub fn code_about(analysis: &Analysis<'_>, target: usize, finest: u8) -> Coded {
    const CODINGS: usize = 3;
    let estimate = Estimate::new(analysis);
    let finest = i32::from(finest.min(COARSEST));
    let mut quantizer = estimate.quantizer(target as u64, None).max(finest);
    let mut best = coding::code(analysis, Coding::at(quantizer as u8));
    let mut measured = Measured::of(&best);
    for _ in 1..CODINGS {
        let size = measured.size as usize;
        let is_about = size * 4 >= target * 3 && size * 4 <= target * 5;
        let next = estimate.next(target as u64, measured).max(finest);
        if is_about || next == quantizer {
            break;
        }
        quantizer = next;
        let coded = coding::code(analysis, Coding::at(quantizer as u8));
        measured = Measured::of(&coded);
        // A frame that is too small is compensated by the next; one that is far too large delays many.
        if coded.frame.len() * 2 <= target * 3 || coded.frame.len() < best.frame.len() {
            best = coded;
        }
    }
    best
}

/// The best of a few codings that have at most `target` bytes; `Err` with the size at the coarsest quantiser if even
/// that is larger.
fn search(analysis: &Analysis<'_>, target: usize) -> Result<Coded, usize> {
    let estimate = Estimate::new(analysis);
    let mut best: Option<Coded> = None;
    // The coarsest quantiser known to be too fine, and the finest known to fit.
    let (mut too_fine, mut fits): (Option<Measured>, Option<Measured>) = (None, None);
    let aim = target as u64 * AIM / 128;
    // With what the last frame taught the first coding is mostly near enough.
    let fit = analysis.plan.fit;
    let mut quantizer = estimate.quantizer(if fit.is_some() { aim } else { target as u64 }, fit);
    for _ in 0..MAX_CODINGS {
        let coded = coding::code(analysis, Coding::at(quantizer as u8));
        let size = coded.frame.len();
        let measured = Measured::of(&coded);
        if size <= target {
            (fits, best) = (Some(measured), Some(coded));
            if size * 128 >= target * NEAR_ENOUGH {
                break;
            }
        } else {
            too_fine = Some(measured);
        }
        let min = too_fine.map_or(0, |measured| measured.quantizer + 1);
        let max = fits.map_or(127, |measured| measured.quantizer - 1);
        if min > max {
            break;
        }
        let next = match (too_fine, fits) {
            (Some(too_fine), Some(fits)) => between(too_fine, fits, aim),
            _ => estimate.next(aim, measured),
        };
        quantizer = next.clamp(min, max);
    }
    match (best, too_fine) {
        (Some(best), _) => Ok(Coded { fit: estimate.teaches(Measured::of(&best)), ..best }),
        (None, Some(coarsest)) if coarsest.quantizer == i32::from(COARSEST) => Err(coarsest.size as usize),
        (None, _) => {
            let coarsest = coding::code(analysis, Coding::at(COARSEST));
            if coarsest.frame.len() <= target { Ok(coarsest) } else { Err(coarsest.frame.len()) }
        }
    }
}

/// The result of a coding.
#[derive(Debug, Clone, Copy)]
struct Measured {
    /// Bytes that do not depend on the quantiser: header and modes.
    fixed: u64,
    /// Total size in bytes.
    size: u64,
    quantizer: i32,
}

impl Measured {
    fn of(coded: &Coded) -> Self {
        Self { fixed: coded.modes_size as u64, size: coded.frame.len() as u64, quantizer: i32::from(coded.quantizer) }
    }
}

/// The quantiser between two others that should give a size, with linear interpolation of the size's logarithm.
fn between(too_fine: Measured, fits: Measured, size: u64) -> i32 {
    let logarithm = |size: u64| i32::from(binary_logarithm(size.clamp(1, u64::from(u32::MAX))));
    let [large, small, aim] = [too_fine.size, fits.size, size].map(logarithm);
    let span = fits.quantizer - too_fine.quantizer;
    too_fine.quantizer + (span * (large - aim) + (large - small) / 2) / (large - small).max(1)
}

/// Number of magnitude bins of coefficients: four per octave.
const BINS: usize = 48;

/// The estimate of a frame's size before coding.
struct Estimate {
    /// Number of coefficients in each magnitude bin.
    bins: Option<[u64; BINS]>,
    macroblocks: u64,
    hint: i32,
}

impl Estimate {
    fn new(analysis: &Analysis<'_>) -> Self {
        Self {
            bins: analysis.found.as_ref().map(count),
            macroblocks: analysis.image.size().macroblocks() as u64,
            hint: i32::from(analysis.plan.quantizer.min(127)),
        }
    }

    /// The finest quantiser at which the frame should have at most `target` bytes, corrected by a measurement.
    fn quantizer(&self, target: u64, fit: Option<Fit>) -> i32 {
        // A guess: two bits per macroblock for modes, and the uncorrected estimate.
        let uncorrected = Fit { fixed: self.macroblocks / 4, levels: (1, 1) };
        let Fit { fixed, levels: (actual, expected) } = match fit {
            None if self.bins.is_none() => return self.hint,
            fit => fit.unwrap_or(uncorrected),
        };
        let fits = |quantizer: i32| {
            u128::from(self.levels(quantizer)) * u128::from(actual) / u128::from(expected) + u128::from(fixed)
                <= u128::from(target)
        };
        // The size falls as the quantiser rises.
        let (mut min, mut max) = (0, 127);
        while min < max {
            let middle = (min + max) / 2;
            if fits(middle) {
                max = middle;
            } else {
                min = middle + 1;
            }
        }
        min
    }

    /// The quantiser to try after a measurement. The estimate is not reliable far from the measured quantiser.
    fn next(&self, target: u64, measured: Measured) -> i32 {
        let quantizer = measured.quantizer;
        self.quantizer(target, Some(self.fit(measured))).clamp((quantizer / 2 - 4).max(0), (quantizer * 2 + 8).min(127))
    }

    fn fit(&self, Measured { fixed, size, quantizer }: Measured) -> Fit {
        Fit { fixed, levels: (size.saturating_sub(fixed).max(1), self.levels(quantizer).max(1)) }
    }

    /// The fit for the next frame: none after a key frame or one with hardly any levels.
    fn teaches(&self, measured: Measured) -> Option<Fit> {
        let fit = self.fit(measured);
        let (actual, expected) = fit.levels;
        (self.bins.is_some() && actual.min(expected) * 4 > fit.fixed).then_some(fit)
    }

    /// Estimated bytes of the levels.
    fn levels(&self, quantizer: i32) -> u64 {
        let step = u64::from(OTHER_FACTORS[quantizer as usize]);
        let Some(bins) = &self.bins else {
            // For key frames it is only known that their size is nearly inversely proportional to the step.
            return (1 << 32) / (step + 8);
        };
        let bits = bins.iter().enumerate().map(|(bin, &count)| count * u64::from(bits(bin, step)));
        bits.sum::<u64>() / 256 / 8
    }
}

/// Histogram of the magnitudes of a sample of the coefficients, by quarters of octaves.
fn count(found: &Found) -> [u64; BINS] {
    /// One in so many macroblocks is sampled.
    const SAMPLED: usize = 4;
    let mut bins = [0; BINS];
    for block in found.residuals.iter().step_by(SAMPLED).flatten() {
        for magnitude in block.iter().map(|coefficient| coefficient.unsigned_abs()) {
            if magnitude > 1 {
                bins[bin(magnitude)] += SAMPLED as u64;
            }
        }
    }
    bins
}

/// The bin of a magnitude of at least 1, in quarters of octaves.
fn bin(magnitude: u16) -> usize {
    let octave = magnitude.ilog2();
    let quarter = (u32::from(magnitude) << 2 >> octave) & 3;
    ((octave * 4 + quarter) as usize).min(BINS - 1)
}

/// Cost of a coefficient in 256ths of a bit, by its magnitude over the step, in quarters of octaves from one half on: a
/// magnitude near the step is often quantised to 0. Fitted to frames of the project's clips.
const BITS: [u32; 12] = [0, 30, 100, 350, 800, 1200, 1450, 1550, 1650, 1750, 1850, 1950];

/// Cost of a coefficient with this magnitude at a step, in 256ths of a bit.
fn bits(bin: usize, step: u64) -> u32 {
    // In 256ths of a quarter of an octave; the mean magnitude of a bin is its middle.
    let above = bin as i32 * 256 + 128 - i32::from(binary_logarithm(step)) * 4 + 4 * 256;
    if above <= 0 {
        return 0;
    }
    let (place, part) = ((above / 256) as usize, (above % 256) as u32);
    match BITS.get(place..place + 2) {
        Some(&[below, over]) => (below * (256 - part) + over * part) / 256,
        _ => BITS[BITS.len() - 1] + 100 * (place + 1 - BITS.len()) as u32,
    }
}
