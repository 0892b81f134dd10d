//! A candidate's macroblocks, in raster order: quantised, recorded as tokens, reconstructed.

use super::IntraVariety;
use super::canvas::Canvas;
use super::probabilities::IntraCounts;
use super::quantizers::MacroblockQuantizer;
use super::residual::{Residual, Transform, Transformed};
use super::tokens::Tokens;
use super::trim::{TokenCosts, Trimmer};
use crate::encode::weights::Weights;
use crate::image::Image;
use crate::kernels::Kernels;
use crate::pool::{Pool, Scratch};
use crate::syntax::tokens::{EDGES, Y2, skip};
use crate::syntax::{BlockKind, EdgeContext, IntraModes, Neighbours, Prediction, Probabilities};

static MODES: Pool<CodedModes> = Pool::new(3);

/// Parameters for all macroblocks of a candidate.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub kernels: &'static Kernels,
    pub source: &'a Image,
    pub quantizer: &'a MacroblockQuantizer,
    pub weights: &'a Weights,
    /// The probabilities before the frame.
    pub probabilities: &'a Probabilities,
    pub is_key: bool,
    /// The intra modes to choose from.
    pub intra: IntraVariety,
    /// Maximum prediction error of an inter macroblock that gets no residual.
    pub tolerated: u32,
    /// Codes only modes, without levels.
    pub drops_levels: bool,
}

/// Codes the macroblocks of a candidate.
pub struct MacroblockCoder<'a> {
    pub terms: Terms<'a>,
    /// The column and row of the next macroblock.
    pub position: (usize, usize),
    /// Its neighbours, in key frames only: other candidates do not need them.
    pub neighbours: Neighbours,
    costs: TokenCosts,
    above: Vec<EdgeContext>,
    left: EdgeContext,
    pub residual: Residual,
    pub canvas: Canvas<'a>,
    modes: Scratch<CodedModes>,
    tokens: Tokens,
    counts: Counts,
}

/// The modes of a macroblock that a candidate codes itself; motion is common to all candidates.
#[derive(Debug, Clone, Copy)]
pub struct CodedModes {
    pub is_skipped: bool,
    /// Its intra modes, if it is an intra macroblock.
    pub intra: Option<IntraModes>,
}

/// The coded macroblocks of a candidate.
pub struct CodedMacroblocks {
    /// The reconstructed and filtered picture.
    pub image: Image,
    pub modes: Scratch<CodedModes>,
    pub tokens: Tokens,
    pub counts: Counts,
}

/// Counts of the choices.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Macroblocks with and without coefficients.
    pub skipped: [u32; 2],
    pub intra: IntraCounts,
}

impl<'a> MacroblockCoder<'a> {
    /// A coder before the first macroblock; the canvas has the inter predictions.
    pub fn new(terms: Terms<'a>, canvas: Canvas<'a>) -> Self {
        let size = terms.source.size();
        Self {
            terms,
            position: (0, 0),
            neighbours: Neighbours::new(size),
            costs: TokenCosts::new(&terms.probabilities.coefficients),
            above: vec![[0; 9]; size.columns()],
            left: [0; 9],
            residual: Residual::default(),
            canvas,
            modes: Scratch::with_capacity(&MODES, size.macroblocks()),
            tokens: Tokens::with_capacity(size.macroblocks() * 16, size.rows()),
            counts: Counts::default(),
        }
    }

    /// The coded macroblocks, after the last one.
    pub fn finish(self) -> CodedMacroblocks {
        CodedMacroblocks { image: self.canvas.finish(), modes: self.modes, tokens: self.tokens, counts: self.counts }
    }

    /// Codes the next macroblock as inter; the prediction must be in the image already, and its residual may be
    /// transformed already.
    pub fn inter(&mut self, prediction: &Prediction, difference: u32, transformed: Option<&Transformed>) {
        let has_y2 = prediction.has_y2();
        let mut any = difference > self.terms.tolerated;
        if any {
            let mut coefficients = [[0; 16]; 25];
            let coefficients = transformed.unwrap_or_else(|| {
                let transform = Transform::of(self.terms.kernels, self.terms.source.planes(), self.position);
                transform.all(&self.canvas.planes().as_planes(), has_y2, &mut coefficients);
                &coefficients
            });
            any = self.residual.quantize(self.terms.kernels, coefficients, self.terms.quantizer, has_y2)
                && self.trim(coefficients, has_y2);
        }
        if any {
            let position = self.position;
            self.residual.add(self.terms.kernels, &mut self.canvas.planes(), position, has_y2);
        }
        self.end(prediction, any);
    }

    /// Removes levels that are not worth their bits. Returns whether any is left.
    fn trim(&mut self, coefficients: &Transformed, has_y2: bool) -> bool {
        let (column, _) = self.position;
        let mut trimmer = Trimmer::new(&self.costs, self.above[column], self.left, self.terms.weights.error_per_bit);
        trimmer.all(&mut self.residual, coefficients, has_y2)
    }

    /// Codes the next macroblock as intra.
    pub fn intra(&mut self) {
        let (modes, any) = self.code_intra();
        if !self.terms.is_key {
            self.counts.intra.add(&modes);
        }
        self.end(&Prediction::Intra(modes), any);
    }

    /// Records a macroblock whose levels are final.
    fn end(&mut self, prediction: &Prediction, any: bool) {
        let (column, row) = self.position;
        let has_y2 = prediction.has_y2();
        if any {
            self.record(column, has_y2);
        } else {
            skip(&mut self.above[column], &mut self.left, has_y2);
        }
        self.counts.skipped[usize::from(!any)] += 1;
        let intra = match prediction {
            Prediction::Intra(modes) => Some(*modes),
            Prediction::Inter { .. } => None,
        };
        self.modes.push(CodedModes { is_skipped: !any, intra });
        self.canvas.end_macroblock(prediction, any);
        if self.terms.is_key {
            self.neighbours.advance(prediction);
        }
        self.position = (column + 1, row);
        if self.position.0 == self.above.len() {
            self.position = (0, row + 1);
            self.left = [0; 9];
            self.tokens.end_row();
            self.canvas.end_row(row);
        }
    }

    /// Records the tokens of a macroblock.
    fn record(&mut self, column: usize, has_y2: bool) {
        let (above, left) = (&mut self.above[column], &mut self.left);
        let Residual { levels, coded, .. } = &self.residual;
        let tokens = &mut self.tokens;
        let mut record = |block: usize, kind: BlockKind| {
            let (x, y) = EDGES[block];
            let (above, left) = (&mut above[usize::from(x)], &mut left[usize::from(y)]);
            tokens.record(kind, usize::from(*above + *left), &levels[block], coded[block]);
            let is_coded = u8::from(coded[block] != 0);
            (*above, *left) = (is_coded, is_coded);
        };
        let luma = if has_y2 {
            record(Y2, BlockKind::Y2);
            BlockKind::LumaWithoutFirst
        } else {
            BlockKind::Luma
        };
        (0..16).for_each(|block| record(block, luma));
        (16..24).for_each(|block| record(block, BlockKind::Chroma));
    }
}
