//! Candidates: an analysed image coded at a quantiser.

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
use super::filter_level::filter;
use super::plan::PlanKind;
use super::settings::Speed;
use super::weights::Weights;
use crate::bool_coder::Probability;
use crate::image::Image;
use crate::state::State;
use crate::syntax::header::{FilterHeader, InterHeader, KeyHeader, QuantizerHeader, VectorUpdates};
use crate::syntax::{FrameHeader, FrameKind, Probabilities, SignBias};

/// A coded frame.
#[derive(Debug, Clone)]
pub struct Coded {
    /// Its bytes.
    pub frame: Vec<u8>,
    /// The state of a decoder that has decoded it.
    pub state: State,
    /// What that decoder shows (if the frame is to be shown).
    pub image: Arc<Image>,
    /// The quantiser it was coded with, 0 to 127.
    pub quantizer: u8,
    /// How many of the bytes say how macroblocks are predicted; all others but a few are levels.
    pub modes_size: usize,
}

/// How a candidate is to be coded.
#[derive(Debug, Clone, Copy)]
pub struct Coding {
    pub quantizer: u8,
    /// Macroblocks that are predicted from other frames and differ no more than this from their source are left as predicted; at
    /// [`u32::MAX`] nothing is coded but modes, whatever macroblocks are predicted from.
    pub tolerated: u32,
}

impl Coding {
    /// At a quantiser.
    pub const fn at(quantizer: u8) -> Self {
        Self { quantizer, tolerated: 0 }
    }
}

/// Codes an analysed image.
pub fn code(analysis: &Analysis<'_>, coding: Coding) -> Coded {
    code_over(analysis, coding, None)
}

/// Codes an analysed image, over the predictions from other frames if these are given and need not be copied.
pub fn code_over(analysis: &Analysis<'_>, coding: Coding, prediction: Option<Image>) -> Coded {
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
        coding.tolerated,
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
    let (frame, modes_size) = frame::write(&header, &coding, &modes, &tokens);
    let image = Arc::new(image);
    Coded { frame, state: analysis.state.after(&header, coding, Arc::clone(&image)), image, quantizer, modes_size }
}

fn code_macroblocks(
    analysis: &Analysis<'_>,
    quantizer: &MacroblockQuantizer,
    weights: &Weights,
    before: &Probabilities,
    tolerated: u32,
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
        tries_subblocks: !drops_levels && (is_key || analysis.settings.speed != Speed::Fast),
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
                coder.inter(*prediction, *difference, residual.map(|index| &found.residuals[index]));
            }
            Choice::Intra => coder.intra(),
        }
    }
    coder.finish()
}

/// What only key frames say, or only others.
fn kind(analysis: &Analysis<'_>, before: &Probabilities, counts: &Counts) -> FrameKind {
    let PlanKind::Inter { refreshes_last, golden, altref, .. } = analysis.plan.kind else {
        return FrameKind::Key(KeyHeader::new(analysis.image.size()));
    };
    let (luma_modes, chroma_modes) = counts.intra.choose(before);
    FrameKind::Inter(InterHeader {
        golden,
        altref,
        sign_bias: SignBias::default(),
        refreshes_last,
        intra: best_probability(counts.inter),
        last: best_probability(counts.older),
        golden_not_altref: best_probability(counts.altref),
        luma_modes,
        chroma_modes,
        vectors: analysis
            .found
            .as_ref()
            .map_or_else(VectorUpdates::default, |found| found.vectors.choose(&before.vectors)),
    })
}

/// The probability that a macroblock has coefficients, where some have none.
fn skip_probability(counts: &Counts) -> Option<Probability> {
    (counts.skipped[1] > 0).then(|| best_probability(counts.skipped))
}
