//! The analysis of a picture, independent of the quantiser it is coded at: motion, modes, and the transformed residual.
//!
//! Inter prediction does not depend on the frame's quantiser, and neither does its residual: a candidate starts from
//! coefficients ready to be quantised, pixels already predicted, and recorded motion bools. Only intra macroblocks are
//! left to the candidates.

use std::cell::OnceCell;
use std::sync::Arc;

mod inter;
mod intra;
mod motion;
mod padded;
mod predict;
mod vectors;

use inter::{InterChoice, PaddedReference, SourceBlock};
use motion::Effort;
use padded::Padded;
use predict::predict;
use vectors::VectorCosts;

use super::coding::residual::{Transform, Transformed};
use super::motion_bools::MotionBools;
use super::plan::ReferenceSet;
use super::settings::Speed;
use super::weights::Weights;
use crate::image::{Image, Plane, Planes};
use crate::kernels::Kernels;
use crate::pool::{Pool, Scratch};
use crate::state::{References, State};
use crate::syntax::{BlockMode, IntraModes, LumaMode, Motion, Neighbours, Prediction, Reference, SignBias};

/// How a macroblock is coded.
#[derive(Debug, Clone, Copy)]
pub enum Choice {
    /// Inter prediction.
    Inter {
        /// The prediction.
        prediction: Prediction,
        /// Prediction error: the sum of absolute differences of luma, plus twice that of chroma.
        difference: u32,
        /// Index of its transformed residual; `None` when the error is too small to be worth a residual at the plan's
        /// quantiser.
        residual: Option<usize>,
    },
    /// Intra prediction, in the mode that turns out best.
    Intra,
}

/// Placeholder for intra modes that are not chosen yet: for the neighbours' motion all modes are equivalent.
const UNDECIDED: IntraModes = IntraModes { luma: LumaMode::Whole(BlockMode::Dc), chroma: BlockMode::Dc };

/// The results for the macroblocks of an inter frame.
#[derive(Debug)]
pub struct Found {
    pub choices: Vec<Choice>,
    /// The predicted pixels of the inter macroblocks.
    pub prediction: Image,
    pub residuals: Scratch<Transformed>,
    /// The bools of their motion.
    pub motion: MotionBools,
}

impl Found {
    /// The prediction error of each inter macroblock.
    pub fn differences(&self) -> Vec<u32> {
        let difference = |choice: &Choice| match choice {
            Choice::Inter { difference, .. } => Some(*difference),
            Choice::Intra => None,
        };
        self.choices.iter().filter_map(difference).collect()
    }
}

static RESIDUALS: Pool<Transformed> = Pool::new(3);

/// Analyses an inter frame.
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
    let references = distinct(references, from, speed);
    let (effort, quarters) = efforts(speed);
    let choice = InterChoice { kernels, size: image.size(), costs: &costs, weights, effort, quarters };
    let size = image.size();
    let mut found = Found {
        choices: Vec::with_capacity(size.macroblocks()),
        prediction: Image::blank(size),
        residuals: Scratch::with_capacity(&RESIDUALS, size.macroblocks()),
        motion: MotionBools::with_capacity(size.macroblocks()),
    };
    let mut planes = found.prediction.planes_mut();
    let source = image.planes();
    let mut neighbours = Neighbours::new(size);
    for position in (0..size.rows()).flat_map(|row| (0..size.columns()).map(move |column| (column, row))) {
        let (column, row) = position;
        let stride = source.stride;
        let (luma, chroma) = (16 * (row * stride + column), 8 * (row * stride / 2 + column));
        let block = SourceBlock {
            luma: &source.y[luma..],
            stride: source.stride,
            place: (16 * column as i32, 16 * row as i32),
        };
        let survey = |reference| neighbours.survey(reference, SignBias::default());
        let (mut reference, mut survey_of_best) = (references[0].padded(), survey(references[0].reference));
        let mut best = choice.choose(block, reference, &neighbours, &survey_of_best);
        for older in &references[1..] {
            if best.difference > weights.older {
                let (older, survey) = (older.padded(), survey(older.reference));
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
                found.motion.pass_intra();
                neighbours.advance(&Prediction::Intra(UNDECIDED));
                continue;
            }
        }
        let difference = best.difference + 2 * chroma_difference(kernels, &source, &planes.as_planes(), chroma);
        let prediction = Prediction::Inter { reference: reference.reference, motion: best.motion };
        let residual = (difference > weights.quiet).then(|| {
            let index = found.residuals.len();
            found.residuals.push([[0; 16]; 25]);
            let transform = Transform::of(kernels, source, position);
            transform.all(&planes.as_planes(), prediction.has_y2(), &mut found.residuals[index]);
            index
        });
        found.motion.record(reference.reference, &best.motion, &survey_of_best, &neighbours);
        found.choices.push(Choice::Inter { prediction, difference, residual });
        neighbours.advance(&prediction);
    }
    found
}

/// The analysis of a frame without motion, in which every macroblock is predicted from its own position.
pub fn stay(kernels: &'static Kernels, references: &References, image: &Image, from: ReferenceSet) -> Found {
    let reference = Reference::ALL.into_iter().find(|&reference| from.contains(reference)).unwrap_or(Reference::Last);
    let (size, motion) = (image.size(), Motion::Zero);
    let prediction = Prediction::Inter { reference, motion };
    let mut found = Found {
        choices: Vec::with_capacity(size.macroblocks()),
        prediction: Image::clone(references.get(reference)),
        residuals: Scratch::with_capacity(&RESIDUALS, size.macroblocks()),
        motion: MotionBools::with_capacity(size.macroblocks()),
    };
    let (source, predicted) = (image.planes(), found.prediction.planes());
    let mut neighbours = Neighbours::new(size);
    for position in (0..size.rows()).flat_map(|row| (0..size.columns()).map(move |column| (column, row))) {
        let (column, row) = position;
        let stride = source.stride;
        let (luma, chroma) = (16 * (row * stride + column), 8 * (row * stride / 2 + column));
        let difference = kernels.sad_16x16(&source.y[luma..], stride, &predicted.y[luma..], predicted.stride)
            + 2 * chroma_difference(kernels, &source, &predicted, chroma);
        let index = found.residuals.len();
        found.residuals.push([[0; 16]; 25]);
        let transform = Transform::of(kernels, source, position);
        transform.all(&predicted, prediction.has_y2(), &mut found.residuals[index]);
        found.motion.record(reference, &motion, &neighbours.survey(reference, SignBias::default()), &neighbours);
        found.choices.push(Choice::Inter { prediction, difference, residual: Some(index) });
        neighbours.advance(&prediction);
    }
    found
}

/// The sum of absolute differences of both chroma planes of a macroblock that begins at `chroma` in them.
fn chroma_difference(kernels: &Kernels, source: &Planes<'_>, prediction: &Planes<'_>, chroma: usize) -> u32 {
    let [source_stride, prediction_stride] = [source.stride / 2, prediction.stride / 2];
    kernels.sad_8x8(&source.u[chroma..], source_stride, &prediction.u[chroma..], prediction_stride)
        + kernels.sad_8x8(&source.v[chroma..], source_stride, &prediction.v[chroma..], prediction_stride)
}

/// A reference that is padded on first use: older ones often are not used.
struct LazyReference<'a> {
    reference: Reference,
    image: &'a Arc<Image>,
    padded: OnceCell<PaddedReference>,
}

impl LazyReference<'_> {
    fn padded(&self) -> &PaddedReference {
        self.padded.get_or_init(|| {
            let padded = |plane| Padded::new(self.image, plane);
            PaddedReference { reference: self.reference, y: padded(Plane::Y), u: padded(Plane::U), v: padded(Plane::V) }
        })
    }
}

/// The distinct references that may be used; only the first if the speed requires it.
fn distinct(all: &References, from: ReferenceSet, speed: Speed) -> Vec<LazyReference<'_>> {
    let mut references: Vec<LazyReference<'_>> = Vec::new();
    for reference in Reference::ALL {
        let image = all.get(reference);
        if from.contains(reference) && !references.iter().any(|other| Arc::ptr_eq(other.image, image)) {
            references.push(LazyReference { reference, image, padded: OnceCell::new() });
        }
    }
    if speed == Speed::Fast {
        references.truncate(1);
    }
    references
}

/// The search effort for a macroblock and for its quarters.
const fn efforts(speed: Speed) -> (Effort, Option<Effort>) {
    match speed {
        Speed::Fast => (Effort { first_step: 4, rounds: 4, half_rounds: 0, quarter_rounds: 1 }, None),
        Speed::Standard => (
            Effort { first_step: 4, rounds: 8, half_rounds: 0, quarter_rounds: 2 },
            Some(Effort { first_step: 2, rounds: 4, half_rounds: 0, quarter_rounds: 1 }),
        ),
        Speed::Slow => (
            Effort { first_step: 16, rounds: 16, half_rounds: 2, quarter_rounds: 6 },
            Some(Effort { first_step: 4, rounds: 8, half_rounds: 1, quarter_rounds: 3 }),
        ),
    }
}
