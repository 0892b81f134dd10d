//! What is found out about an image once, whatever it is then coded at: motion, modes, and the transformed residual.
//!
//! Prediction from another frame does not depend on how this one is quantised, so neither does what it leaves: a candidate
//! starts from coefficients that are ready to be quantised, over pixels that are already predicted. Only macroblocks
//! that are predicted from this frame itself are left to the candidates.

mod inter;
mod intra;
mod motion;
mod padded;
mod predict;
mod vectors;

use inter::{InterChoice, MotionFound, PaddedReference, SourceBlock};
use motion::Effort;
use padded::Padded;
use predict::predict;
use vectors::VectorCosts;

use super::coding::probabilities::VectorCounts;
use super::coding::residual::{Transform, Transformed, gather_second_order};
use super::plan::ReferenceSet;
use super::settings::Speed;
use super::weights::Weights;
use crate::image::{Image, Plane, Size};
use crate::kernels::Kernels;
use crate::pool::Pool;
use crate::state::{References, State};
use crate::syntax::{Motion, Neighbours, Prediction, Reference, SignBias};

/// How a macroblock is to be coded.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    /// From another frame: how, and which of the transformed residuals is its.
    Inter { prediction: Prediction, residual: usize },
    /// From its own frame, in whichever way turns out best.
    Intra,
}

/// What was found out about the macroblocks of a frame that is predicted from others.
#[derive(Debug)]
pub struct Found {
    pub choices: Vec<Choice>,
    /// The predictions of the macroblocks that are predicted from other frames.
    pub prediction: Image,
    pub residuals: Residuals,
    pub vectors: VectorCounts,
}

/// Transformed residuals, in memory that is used again.
#[derive(Debug)]
pub struct Residuals(Vec<Transformed>);

static RESIDUALS: Pool<Transformed> = Pool::new(3);

impl Residuals {
    fn with_capacity(macroblocks: usize) -> Self {
        let mut buffer = RESIDUALS.take(macroblocks);
        buffer.clear();
        Self(buffer)
    }
}

impl std::ops::Deref for Residuals {
    type Target = Vec<Transformed>;

    fn deref(&self) -> &Vec<Transformed> {
        &self.0
    }
}

impl Drop for Residuals {
    fn drop(&mut self) {
        RESIDUALS.give(std::mem::take(&mut self.0));
    }
}

/// Finds out about a frame that is predicted from references.
pub fn analyse(
    kernels: &'static Kernels,
    state: &State,
    references: &References,
    image: &Image,
    from: ReferenceSet,
    weights: &Weights,
    speed: Speed,
) -> Found {
    let costs = VectorCosts::new(&state.probabilities().vectors);
    let references = padded(references, from);
    let (effort, quarters) = efforts(speed);
    let choice = InterChoice { kernels, size: image.size(), costs: &costs, weights, effort, quarters };
    let size = image.size();
    let mut found = Found {
        choices: Vec::with_capacity(size.macroblocks()),
        prediction: Image::blank(size),
        residuals: Residuals::with_capacity(size.macroblocks()),
        vectors: VectorCounts::default(),
    };
    let mut planes = found.prediction.planes_mut();
    let source = image.planes();
    let mut neighbours = Neighbours::new(size);
    for position in (0..size.rows()).flat_map(|row| (0..size.columns()).map(move |column| (column, row))) {
        let (column, row) = position;
        let (luma, chroma) = (16 * (row * source.stride + column), 8 * (row * source.stride / 2 + column));
        let block = SourceBlock {
            luma: &source.y[luma..],
            stride: source.stride,
            place: (16 * column as i32, 16 * row as i32),
        };
        let survey = |reference| neighbours.survey(reference, SignBias::default());
        let (mut reference, mut survey_of_best) = (&references[0], survey(references[0].reference));
        let mut best = choice.choose(block, reference, &neighbours, &survey_of_best);
        for older in &references[1..] {
            if best.difference > weights.older {
                let survey = survey(older.reference);
                let other = choice.choose(block, older, &neighbours, &survey);
                let price = (weights.difference_per_bit * 4) >> 8;
                if other.cost + price < best.cost {
                    (best, reference, survey_of_best) = (other, older, survey);
                }
            }
        }
        predict(kernels, reference, &best.motion, position, &mut planes);
        if best.difference > weights.intra {
            let left = kernels.satd_16x16(block.luma, block.stride, &planes.y[luma..], planes.stride);
            let price = (weights.intra_bits * weights.difference_per_bit) >> 16;
            if intra::estimate(kernels, source.y, source.stride, position) + 2 * price < left {
                found.choices.push(Choice::Intra);
                neighbours.advance(&Prediction::Intra(super::coding::macroblocks::UNDECIDED));
                continue;
            }
        }
        let mut coefficients = [[0; 16]; 25];
        let transform = Transform {
            kernels,
            source: [block.luma, &source.u[chroma..], &source.v[chroma..]],
            source_strides: [source.stride, source.stride / 2, source.stride / 2],
        };
        transform.luma(&planes.y[luma..], planes.stride, &mut coefficients);
        transform.chroma(1, &planes.u[chroma..], planes.stride / 2, &mut coefficients);
        transform.chroma(2, &planes.v[chroma..], planes.stride / 2, &mut coefficients);
        let prediction = Prediction::Inter { reference: reference.reference, motion: best.motion };
        if prediction.has_y2() {
            gather_second_order(kernels, &mut coefficients);
        }
        count_vectors(&best, survey_of_best.best, &mut found.vectors);
        found.choices.push(Choice::Inter { prediction, residual: found.residuals.len() });
        found.residuals.0.push(coefficients);
        neighbours.advance(&prediction);
    }
    found
}

/// What there is to find out when nothing moves and nothing of what is left is to be coded.
pub fn stay(references: &References, size: Size, from: ReferenceSet) -> Found {
    let reference = Reference::ALL.into_iter().find(|&reference| from.contains(reference)).unwrap_or(Reference::Last);
    let prediction = Prediction::Inter { reference, motion: Motion::Zero };
    let mut residuals = Residuals::with_capacity(1);
    residuals.0.push([[0; 16]; 25]);
    Found {
        choices: vec![Choice::Inter { prediction, residual: 0 }; size.macroblocks()],
        prediction: Image::clone(references.get(reference)),
        residuals,
        vectors: VectorCounts::default(),
    }
}

/// Counts the vectors that a motion says.
fn count_vectors(found: &MotionFound, best: crate::syntax::MotionVector, counts: &mut VectorCounts) {
    use crate::syntax::PartMode;
    match &found.motion {
        Motion::New(vector) => counts.add(vector.minus(best)),
        Motion::Split(split) => {
            for (&first, mode) in split.layout.first_subblocks().iter().zip(split.modes) {
                if mode == PartMode::New {
                    counts.add(split.vectors[usize::from(first)].minus(best));
                }
            }
        }
        Motion::Zero | Motion::Nearest(_) | Motion::Near(_) => {}
    }
}

/// The distinct references that may be predicted from, padded.
fn padded(all: &References, from: ReferenceSet) -> Vec<PaddedReference> {
    let mut images: Vec<&std::sync::Arc<Image>> = Vec::new();
    let mut references = Vec::new();
    for reference in Reference::ALL {
        let image = all.get(reference);
        if !from.contains(reference) || images.iter().any(|other| std::sync::Arc::ptr_eq(other, image)) {
            continue;
        }
        images.push(image);
        let padded = |plane| Padded::new(image, plane);
        references.push(PaddedReference { reference, y: padded(Plane::Y), u: padded(Plane::U), v: padded(Plane::V) });
    }
    references
}

/// What the search for a macroblock and for its quarters may spend.
fn efforts(speed: Speed) -> (Effort, Option<Effort>) {
    match speed {
        Speed::Fast => (Effort { first_step: 4, rounds: 4, quarter_rounds: 0 }, None),
        Speed::Standard => (
            Effort { first_step: crate::encode::tune("EF", 8) as i32, rounds: 8, quarter_rounds: crate::encode::tune("EQ", 3) as u32 },
            Some(Effort { first_step: crate::encode::tune("ESF", 2) as i32, rounds: 4, quarter_rounds: crate::encode::tune("ESQ", 1) as u32 }),
        ),
        Speed::Slow => (
            Effort { first_step: 16, rounds: 16, quarter_rounds: 3 },
            Some(Effort { first_step: 4, rounds: 8, quarter_rounds: 3 }),
        ),
    }
}
