//! Frames of a given size.
//!
//! How large a frame gets at a quantiser follows well enough from how large the coefficients of its residual are: a
//! coefficient below its dead zone costs nothing, a larger one some bits for being there and more with its logarithm.
//! The first coding shows how far that is from the truth, and the next is nearly always near enough.

use super::Analysis;
use super::analysis::Found;
use super::coding::{self, Coded, Coding};
use super::cost::binary_logarithm;
use super::plan::PlanKind;
use crate::quantize::OTHER_FACTORS;

/// A frame is near enough to its target from here on, in 128ths of it.
const NEAR_ENOUGH: usize = 118;
/// What the next coding aims at, in 128ths of the target.
const AIM: u64 = 123;
/// The coarsest quantiser.
const COARSEST: u8 = 127;
/// The most codings of a frame but for the last resorts.
const MAX_CODINGS: u32 = 4;

/// Codes an analysed image to at most `target` bytes, if it can be done, and near to it.
pub fn code_to_size(analysis: &Analysis<'_>, target: usize) -> Coded {
    if let Ok(coded) = search(analysis, target) {
        return coded;
    }
    // The modes of a key frame are chosen as it is coded: there is nothing to be chosen otherwise.
    if matches!(analysis.plan.kind, PlanKind::Key) {
        return coding::code(analysis, Coding::BARE);
    }
    // Modes chosen for a finer quantiser take more than the coarsest has for them.
    let frugal = analysis.for_quantizer(COARSEST);
    let whole = match search(&frugal, target) {
        Ok(coded) => return coded,
        Err(whole) => whole,
    };
    let modes = coding::code(&frugal, Coding::BARE);
    if modes.frame.len() <= target {
        return code_partly(&frugal, target, modes.frame.len(), whole).unwrap_or(modes);
    }
    // Motion that was worth its bits is none at this size: everything stays where it was.
    coding::code(&analysis.without_motion(), Coding::BARE)
}

/// Codes what there is room for at the coarsest quantiser, where the prediction is furthest from the image: frame by
/// frame the picture gets right although no frame could say all of it. `modes` is how many bytes the modes take alone,
/// `whole` how many all of it does.
fn code_partly(analysis: &Analysis<'_>, target: usize, modes: usize, whole: usize) -> Option<Coded> {
    /// Attempts before the levels are given up.
    const ATTEMPTS: u32 = 3;
    let mut differences = analysis.found.as_ref()?.differences();
    differences.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = differences.iter().map(|&difference| u64::from(difference)).sum();
    let levels = whole.saturating_sub(modes).max(1) as u64;
    // What levels take goes roughly with how much there is to make good. A tenth is kept for modes that follow from
    // them.
    let mut room = all as u128 * (target - modes) as u128 * 9 / 10 / u128::from(levels);
    for _ in 0..ATTEMPTS {
        let mut sum = 0;
        let fits = differences.iter().take_while(|&&difference| {
            sum += u128::from(difference);
            sum <= room
        });
        // Only what differs more than the first that does not fit is coded.
        let tolerated = *differences.get(fits.count())?;
        let coded = coding::code(analysis, Coding { tolerated, ..Coding::at(COARSEST) });
        if coded.frame.len() <= target {
            return Some(coded);
        }
        room = room * (target - modes) as u128 / (coded.frame.len() - modes).max(1) as u128 * 9 / 10;
    }
    None
}

/// Codes an analysed image to about `target` bytes, at the quantiser `finest` or a coarser one: in one coding if the
/// estimate is near, in three at the most.
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
        // A frame that is too small is made up for by the next; one far too large delays many.
        if coded.frame.len() * 2 <= target * 3 || coded.frame.len() < best.frame.len() {
            best = coded;
        }
    }
    best
}

/// The best of a few codings that have at most `target` bytes; or how many bytes the coarsest quantiser's has
/// when that has more.
fn search(analysis: &Analysis<'_>, target: usize) -> Result<Coded, usize> {
    let estimate = Estimate::new(analysis);
    let mut best: Option<Coded> = None;
    // The coarsest quantiser that is known to be too fine, and the finest that is known to fit.
    let (mut too_fine, mut fits): (Option<Measured>, Option<Measured>) = (None, None);
    let mut quantizer = estimate.quantizer(target as u64, None);
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
        let aim = target as u64 * AIM / 128;
        let next = match (too_fine, fits) {
            (Some(too_fine), Some(fits)) => between(too_fine, fits, aim),
            _ => estimate.next(aim, measured),
        };
        quantizer = next.clamp(min, max);
    }
    match (best, too_fine) {
        (Some(best), _) => Ok(best),
        (None, Some(coarsest)) if coarsest.quantizer == i32::from(COARSEST) => Err(coarsest.size as usize),
        (None, _) => {
            let coarsest = coding::code(analysis, Coding::at(COARSEST));
            if coarsest.frame.len() <= target { Ok(coarsest) } else { Err(coarsest.frame.len()) }
        }
    }
}

/// What a coding was.
#[derive(Debug, Clone, Copy)]
struct Measured {
    /// What does not depend on the quantiser: header and modes, bytes.
    fixed: u64,
    /// All of it, bytes.
    size: u64,
    quantizer: i32,
}

impl Measured {
    fn of(coded: &Coded) -> Self {
        Self { fixed: coded.modes_size as u64, size: coded.frame.len() as u64, quantizer: i32::from(coded.quantizer) }
    }
}

/// Which quantiser between two should give a size, as the size's logarithm falls in a straight line.
fn between(too_fine: Measured, fits: Measured, size: u64) -> i32 {
    let logarithm = |size: u64| i32::from(binary_logarithm(size.clamp(1, u64::from(u32::MAX))));
    let [large, small, aim] = [too_fine.size, fits.size, size].map(logarithm);
    let span = fits.quantizer - too_fine.quantizer;
    too_fine.quantizer + (span * (large - aim) + (large - small) / 2) / (large - small).max(1)
}

/// How many magnitudes of coefficients are distinguished: four in each octave.
const BINS: usize = 48;

/// What is known of a frame's size before it is coded.
struct Estimate {
    /// How many coefficients there are of each magnitude.
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

    /// The finest quantiser at which the frame should have at most `target` bytes, going by what was measured.
    fn quantizer(&self, target: u64, measured: Option<Measured>) -> i32 {
        let (fixed, actual, expected) = match measured {
            None if self.bins.is_none() => return self.hint,
            // A guess: two bits a macroblock for modes, and the estimate as it is.
            None => (self.macroblocks / 4, 1, 1),
            Some(Measured { fixed, size, quantizer }) => {
                (fixed, size.saturating_sub(fixed).max(1), self.levels(quantizer).max(1))
            }
        };
        let fits = |quantizer: i32| {
            u128::from(self.levels(quantizer)) * u128::from(actual) / u128::from(expected) + u128::from(fixed)
                <= u128::from(target)
        };
        // It falls as the quantiser rises.
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

    /// The quantiser to try after one that was measured. The estimate is not to be trusted far from there.
    fn next(&self, target: u64, measured: Measured) -> i32 {
        let quantizer = measured.quantizer;
        self.quantizer(target, Some(measured)).clamp((quantizer / 2 - 4).max(0), (quantizer * 2 + 8).min(127))
    }

    /// Roughly how many bytes the levels take.
    fn levels(&self, quantizer: i32) -> u64 {
        let step = u64::from(OTHER_FACTORS[quantizer as usize]);
        let Some(bins) = &self.bins else {
            // Of key frames it is only known that their size falls nearly with the step.
            return (1 << 32) / (step + 8);
        };
        let bits = bins.iter().enumerate().map(|(bin, &count)| count * u64::from(bits(bin, step)));
        bits.sum::<u64>() / 256 / 8
    }
}

/// The magnitudes of a sample of the coefficients, by quarters of octaves.
fn count(found: &Found) -> [u64; BINS] {
    /// One macroblock in so many.
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

/// The quarter of an octave of a magnitude from 1 on.
fn bin(magnitude: u16) -> usize {
    let octave = magnitude.ilog2();
    let quarter = (u32::from(magnitude) << 2 >> octave) & 3;
    ((octave * 4 + quarter) as usize).min(BINS - 1)
}

/// What a coefficient costs, in 256ths of a bit, by its magnitude over the step, in quarters of octaves from a half on:
/// one near the step is often left out. Fitted to what frames of the project's clips took.
const BITS: [u32; 12] = [0, 30, 100, 350, 800, 1200, 1450, 1550, 1650, 1750, 1850, 1950];

/// What a coefficient of some magnitude costs at a step, in 256ths of a bit.
fn bits(bin: usize, step: u64) -> u32 {
    // In 256ths of a quarter of an octave; the magnitudes of a bin are on average in its middle.
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
