//! Candidates: an analysed picture coded at a quantiser.

mod canvas;
mod frame;
mod intra;
pub mod macroblocks;
mod mode_costs;
pub mod probabilities;
mod quantizers;
pub mod residual;
mod tokens;
mod trim;

use std::sync::Arc;

use canvas::Canvas;
use macroblocks::{CodedMacroblocks, Counts, MacroblockCoder, Terms};
use quantizers::MacroblockQuantizer;

use super::Analysis;
use super::analysis::Choice;
use super::cost::best_probability;
use super::plan::{Fit, PlanKind};
use super::settings::Speed;
use super::weights::Weights;
use crate::bool_coder::Probability;
use crate::image::Image;
use crate::state::State;
use crate::syntax::header::{FilterHeader, InterHeader, KeyHeader, QuantizerHeader, ReferenceUpdate};
use crate::syntax::{FrameHeader, FrameKind, Probabilities};

/// A coded frame.
#[derive(Debug, Clone)]
pub struct Coded {
    /// Its bytes.
    pub frame: Vec<u8>,
    /// The state of a decoder after this frame.
    pub state: State,
    /// The picture that the decoder shows (if the frame is to be shown).
    pub image: Arc<Image>,
    /// The quantiser it was coded with, 0 to 127.
    pub quantizer: u8,
    /// Bytes of the macroblocks' modes; nearly all others are levels.
    pub modes_size: usize,
    /// How its size differed from its estimate, for the next [`Plan`](super::Plan): of an inter frame of a given size.
    pub fit: Option<Fit>,
}

/// The parameters of a candidate.
#[derive(Debug, Clone, Copy)]
pub struct Coding {
    pub quantizer: u8,
    /// Inter macroblocks with at most this prediction error get no residual; at [`u32::MAX`] no macroblock, inter or
    /// intra, gets one.
    pub tolerated: u32,
    pub modes: IntraVariety,
}

/// The set of intra modes to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntraVariety {
    /// All modes that the speed allows.
    All,
    /// Only modes of whole macroblocks.
    Whole,
    /// The same mode for all macroblocks.
    One,
}

impl Coding {
    /// The parameters for a quantiser.
    pub const fn at(quantizer: u8) -> Self {
        Self { quantizer, tolerated: 0, modes: IntraVariety::All }
    }

    /// At the coarsest quantiser, modes only.
    pub const BARE: Self = Self { quantizer: 127, tolerated: u32::MAX, modes: IntraVariety::All };
}

/// Codes an analysed picture.
pub fn code(analysis: &Analysis<'_>, coding: Coding) -> Coded {
    code_over(analysis, coding, None)
}

/// Codes an analysed picture; `prediction` are the inter predictions, if they can be drawn over without a copy.
///
/// The modes of a frame are limited to 512 KiB, which only pictures of more than ten million pixels can exceed: cheaper
/// modes are chosen then, and if they are still too large only the one cheapest mode is coded.
pub fn code_over(analysis: &Analysis<'_>, coding: Coding, prediction: Option<Image>) -> Coded {
    attempt(analysis, coding, prediction)
        .or_else(|| {
            let coding = Coding { modes: IntraVariety::Whole, ..coding };
            attempt(&analysis.for_quantizer(Coding::BARE.quantizer), coding, None)
        })
        .or_else(|| {
            let coding = Coding { modes: IntraVariety::One, ..Coding::BARE };
            attempt(&analysis.without_motion(), coding, None)
        })
        .expect("four bits for each macroblock of the largest picture are less than a frame has")
}

/// Codes an analysed picture, unless its modes exceed the limit of a frame.
fn attempt(analysis: &Analysis<'_>, coding: Coding, prediction: Option<Image>) -> Option<Coded> {
    let quantizer = coding.quantizer.min(127);
    let quantizers = QuantizerHeader { luma: quantizer, ..QuantizerHeader::default() };
    let factors = quantizers.factors(quantizer);
    let before = match analysis.plan.kind {
        PlanKind::Key => &Probabilities::default(),
        PlanKind::Inter { .. } => analysis.state.probabilities(),
    };
    let filter = filter(quantizer);
    let CodedMacroblocks { image, modes, tokens, counts } = code_macroblocks(
        analysis,
        &MacroblockQuantizer::new(&factors),
        &Weights::new(factors.luma[1], analysis.settings.speed),
        before,
        coding,
        &filter,
        prediction,
    );
    let coefficients = probabilities::choose_coefficients(&tokens, &before.coefficients);
    let header = FrameHeader {
        version: 0,
        is_shown: analysis.plan.is_shown,
        kind: kind(analysis, before, &counts),
        segmentation: None,
        filter,
        partitions: analysis.settings.partitions,
        quantizer: quantizers,
        keeps_probabilities: analysis.plan.keeps_probabilities,
        coefficients,
        skip: skip_probability(&counts),
    };
    let coding = analysis.state.before(&header).expect("references where there are some");
    let motion = analysis.found.as_ref().map(|found| &found.motion);
    let (frame, modes_size) = frame::write(&header, &coding, &modes, motion, &tokens)?;
    let image = Arc::new(image);
    let state = analysis.state.after(&header, coding, Arc::clone(&image));
    Some(Coded { frame, state, image, quantizer, modes_size, fit: None })
}

fn code_macroblocks(
    analysis: &Analysis<'_>,
    quantizer: &MacroblockQuantizer,
    weights: &Weights,
    before: &Probabilities,
    Coding { tolerated, modes, .. }: Coding,
    filter: &FilterHeader,
    prediction: Option<Image>,
) -> CodedMacroblocks {
    let source = analysis.image;
    let drops_levels = tolerated == u32::MAX;
    let is_key = analysis.found.is_none();
    let to_copy = if prediction.is_some() { None } else { analysis.found.as_ref().map(|found| &found.prediction) };
    let image = prediction.unwrap_or_else(|| Image::blank(source.size()));
    let canvas = Canvas::new(analysis.kernels, image, to_copy, filter, is_key);
    let terms = Terms {
        kernels: analysis.kernels,
        source,
        quantizer,
        weights,
        probabilities: before,
        is_key,
        intra: match modes {
            IntraVariety::All if drops_levels => IntraVariety::Whole,
            IntraVariety::All if !is_key && analysis.settings.speed == Speed::Fast => IntraVariety::Whole,
            _ => modes,
        },
        tolerated: tolerated.max(weights.quiet),
        drops_levels,
    };
    let mut coder = MacroblockCoder::new(terms, canvas);
    let Some(found) = &analysis.found else {
        (0..source.size().macroblocks()).for_each(|_| coder.intra());
        return coder.finish();
    };
    for choice in &found.choices {
        match choice {
            Choice::Inter { prediction, difference, residual } => {
                coder.inter(prediction, *difference, residual.map(|index| &found.residuals[index]));
            }
            Choice::Intra => coder.intra(),
        }
    }
    coder.finish()
}

/// The fields of key frames, or those of inter frames.
fn kind(analysis: &Analysis<'_>, before: &Probabilities, counts: &Counts) -> FrameKind {
    let (PlanKind::Inter { refreshes_last, golden, altref, .. }, Some(found)) = (analysis.plan.kind, &analysis.found)
    else {
        return FrameKind::Key(KeyHeader::new(analysis.image.size()));
    };
    let (golden, altref) = ReferenceUpdate::unambiguous(golden, altref);
    let (luma_modes, chroma_modes) = counts.intra.choose(before);
    let mut header = InterHeader { golden, altref, refreshes_last, luma_modes, chroma_modes, ..InterHeader::default() };
    found.motion.fit(&mut header, &before.vectors);
    FrameKind::Inter(header)
}

/// The probability that a macroblock has coefficients; `None` if all have.
fn skip_probability(counts: &Counts) -> Option<Probability> {
    (counts.skipped[1] > 0).then(|| best_probability(counts.skipped))
}

/// The filter of a frame: its level follows the quantiser. Levels from a quarter to a half of the quantiser index were
/// tried on the clips of the bench; natural video is best with this one, noise with a higher one.
fn filter(quantizer: u8) -> FilterHeader {
    FilterHeader { level: (u16::from(quantizer) * 3 / 8) as u8, ..FilterHeader::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Plan, Settings, encode};
    use crate::syntax::header::LARGEST_FIRST_PARTITION;
    use crate::{Size, decode};

    fn noise(size: Size, seed: u32) -> Image {
        let mut value = seed;
        let bytes: Vec<u8> = (0..Image::i420_length(size))
            .map(|_| {
                value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (value >> 24) as u8
            })
            .collect();
        Image::from_i420(size, &bytes).unwrap()
    }

    #[test]
    fn a_picture_whose_modes_take_more_than_a_frame_can_say_has_simpler_ones() {
        // At a fine quantiser the modes of noise take 10 bytes per macroblock.
        let settings = Settings::default();
        let small =
            encode(&State::default(), &noise(Size::new(512, 512).unwrap(), 1), &Plan::key(0), &settings).unwrap();
        let size = Size::new(16_383, 1000).unwrap();
        assert!(small.modes_size * size.macroblocks() / 1024 > LARGEST_FIRST_PARTITION * 9 / 8, "{}", small.modes_size);
        let image = noise(size, 2);
        let coded = encode(&State::default(), &image, &Plan::key(0), &settings).unwrap();
        assert!(coded.modes_size <= LARGEST_FIRST_PARTITION && coded.frame.len() > image.coded().len() / 2);
        assert_eq!(decode(&State::default(), &coded.frame).unwrap().state, coded.state);
    }

    #[test]
    fn the_modes_of_the_largest_picture_fit_where_there_is_one() {
        let size = Size::new(1024, 1024).unwrap();
        let [first, image] = [1, 2].map(|seed| noise(size, seed));
        let settings = Settings::default();
        let key = encode(&State::default(), &first, &Plan::key(60), &settings).unwrap();
        for plan in [Plan::key(0), Plan::inter(0)] {
            let analysis = Analysis::new(&key.state, &image, &plan, &settings).unwrap().without_motion();
            let coded = attempt(&analysis, Coding { modes: IntraVariety::One, ..Coding::BARE }, None).unwrap();
            let largest = Size::new(16_383, 16_383).unwrap().macroblocks();
            assert!(coded.modes_size * largest / size.macroblocks() < LARGEST_FIRST_PARTITION, "{}", coded.modes_size);
            assert_eq!(decode(&key.state, &coded.frame).unwrap().state, coded.state);
        }
    }
}
