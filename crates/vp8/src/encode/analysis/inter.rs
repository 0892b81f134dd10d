//! The choice of a macroblock's inter prediction.

use super::motion::{Effort, Found, Search};
use super::padded::Padded;
use super::vectors::VectorCosts;
use crate::encode::cost::{self, Cost};
use crate::encode::weights::Weights;
use crate::image::Size;
use crate::kernels::Kernels;
use crate::syntax::modes::vectors_beside;
use crate::syntax::motion::{LAYOUT_TREE, LAYOUTS, PART_TREE, part_modes};
use crate::syntax::{Motion, MotionVector, Neighbours, PartMode, Reference, Split, SplitLayout, Survey};

/// A reference, padded.
#[derive(Debug)]
pub struct PaddedReference {
    pub reference: Reference,
    pub y: Padded,
    pub u: Padded,
    pub v: Padded,
}

/// The inputs of the choice of a macroblock's motion.
pub struct InterChoice<'a> {
    pub kernels: &'static Kernels,
    pub size: Size,
    pub costs: &'a VectorCosts,
    pub weights: &'a Weights,
    pub effort: Effort,
    /// The search effort for the quarters of a macroblock; `None` if it is not to be split.
    pub quarters: Option<Effort>,
}

/// A motion and its cost.
#[derive(Debug, Clone, Copy)]
pub struct MotionFound {
    pub motion: Motion,
    /// The sum of absolute differences of luma.
    pub difference: u32,
    /// The same plus the cost of the motion's bits.
    pub cost: u32,
}

/// A macroblock of the source: its luma plane from its first pixel on.
#[derive(Clone, Copy)]
pub struct SourceBlock<'a> {
    pub luma: &'a [u8],
    pub stride: usize,
    pub place: (i32, i32),
}

impl InterChoice<'_> {
    fn search<'s>(&'s self, source: SourceBlock<'s>, reference: &'s Padded, origin: MotionVector) -> Search<'s> {
        let size = (self.size.columns() as i32 * 16, self.size.rows() as i32 * 16);
        Search {
            kernels: self.kernels,
            source: source.luma,
            stride: source.stride,
            reference,
            place: source.place,
            size,
            costs: self.costs,
            origin,
            per_bit: self.weights.difference_per_bit,
        }
    }

    /// The best motion from a reference, given the neighbours' motion.
    pub fn choose(
        &self,
        source: SourceBlock<'_>,
        reference: &PaddedReference,
        neighbours: &Neighbours,
        survey: &Survey,
    ) -> MotionFound {
        let search = self.search(source, &reference.y, survey.best);
        let bits = ModeBits::of(survey);
        let difference = search.difference::<16>(MotionVector::ZERO);
        let mut best = MotionFound { motion: Motion::Zero, difference, cost: difference + search.weigh(bits.zero) };
        if difference <= self.weights.still {
            return best;
        }
        for (motion, bits) in [(Motion::Nearest(survey.nearest), bits.nearest), (Motion::Near(survey.near), bits.near)]
        {
            let vector = motion.vector();
            let bits = search.weigh(bits);
            if vector != MotionVector::ZERO && bits < best.cost && search.is_inside::<16>(vector) {
                let difference = search.difference::<16>(vector);
                if difference + bits < best.cost {
                    best = MotionFound { motion, difference, cost: difference + bits };
                }
            }
        }
        if best.difference <= self.weights.followed {
            return best;
        }
        let starts = [best.motion.vector(), survey.best, neighbours.left().vector, neighbours.above().vector];
        let found = search.find::<16>(&starts, self.effort);
        let cost = found.cost + search.weigh(bits.new);
        if cost < best.cost && is_codable(found.vector, survey.best) {
            best = MotionFound { motion: Motion::New(found.vector), difference: found.difference, cost };
        }
        if let Some(effort) = self.quarters
            && best.difference > self.weights.split
        {
            self.split(source, reference, neighbours, survey, effort, &mut best);
        }
        best
    }

    /// Tests whether quarters with their own vectors are better.
    fn split(
        &self,
        source: SourceBlock<'_>,
        reference: &PaddedReference,
        neighbours: &Neighbours,
        survey: &Survey,
        effort: Effort,
        best: &mut MotionFound,
    ) {
        let whole = best.motion.vector();
        let bits = ModeBits::of(survey).split;
        let mut search = self.search(source, &reference.y, survey.best);
        let mut cost = search.weigh(bits + self.weights.split_bits);
        let mut found = [Found { vector: whole, difference: 0, cost: 0 }; 4];
        let mut difference = 0;
        for quarter in 0..4 {
            let (x, y) = (quarter % 2 * 8, quarter / 2 * 8);
            search.source = &source.luma[y * source.stride + x..];
            search.place = (source.place.0 + x as i32, source.place.1 + y as i32);
            let beside = if quarter % 2 == 1 { found[quarter - 1].vector } else { neighbours.left().vector };
            let above = if quarter > 1 { found[quarter - 2].vector } else { neighbours.above().vector };
            found[quarter] = search.find::<8>(&[whole, beside, above, MotionVector::ZERO], effort);
            if !is_codable(found[quarter].vector, survey.best) {
                return;
            }
            // From the second quarter on, keeping the whole block's vector costs almost nothing.
            if found[quarter].vector != whole && search.is_inside::<8>(whole) {
                let stayed = search.difference::<8>(whole);
                if stayed <= found[quarter].cost {
                    found[quarter] = Found { vector: whole, difference: stayed, cost: stayed };
                }
            }
            difference += found[quarter].difference;
            if difference + cost >= best.cost {
                return;
            }
        }
        let vectors = found.map(|found| found.vector);
        if vectors.iter().all(|&vector| vector == vectors[0]) {
            return;
        }
        let (split, split_bits) = self.code_split(vectors, neighbours, survey);
        cost += difference + search.weigh(split_bits);
        if cost < best.cost {
            *best = MotionFound { motion: Motion::Split(split), difference, cost };
        }
    }

    /// The cheapest coding of the quarters' vectors.
    fn code_split(&self, quarters: [MotionVector; 4], neighbours: &Neighbours, survey: &Survey) -> (Split, Cost) {
        let layout = if quarters[0] == quarters[1] && quarters[2] == quarters[3] {
            SplitLayout::UpperLower
        } else if quarters[0] == quarters[2] && quarters[1] == quarters[3] {
            SplitLayout::LeftRight
        } else {
            SplitLayout::Quarters
        };
        let vectors = SplitLayout::Quarters.parts().map(|quarter| quarters[usize::from(quarter)]);
        let mut split = Split { layout, modes: [PartMode::Zero; 16], vectors };
        let mut bits = 0;
        LAYOUT_TREE.walk(layout, |node, bool| bits += cost::of_bool(LAYOUTS[node], bool));
        for (part, &first) in layout.first_subblocks().iter().enumerate() {
            let first = usize::from(first);
            let (left, above) = vectors_beside(&vectors, first, neighbours);
            let probabilities = part_modes(left, above);
            let vector = vectors[first];
            let price = |mode: PartMode| {
                let mut bits = 0;
                PART_TREE.walk(mode, |node, bool| bits += cost::of_bool(probabilities[node], bool));
                bits
            };
            let mut cheapest = (price(PartMode::New) + self.costs.of(vector, survey.best), PartMode::New);
            for (other, mode) in
                [(left, PartMode::Left), (above, PartMode::Above), (MotionVector::ZERO, PartMode::Zero)]
            {
                if other == vector && price(mode) < cheapest.0 {
                    cheapest = (price(mode), mode);
                }
            }
            split.modes[part] = cheapest.1;
            bits += cheapest.0;
        }
        (split, bits)
    }
}

/// Returns true if a vector's difference from the predicted one can be coded.
fn is_codable(vector: MotionVector, best: MotionVector) -> bool {
    let is_codable = |a: i16, b: i16| {
        (i32::from(a) - i32::from(b)).abs() <= i32::from(crate::syntax::motion_vectors::LARGEST_DIFFERENCE)
    };
    is_codable(vector.x, best.x) && is_codable(vector.y, best.y)
}

/// The cost of each motion mode.
struct ModeBits {
    zero: Cost,
    nearest: Cost,
    near: Cost,
    new: Cost,
    split: Cost,
}

impl ModeBits {
    #[inline]
    fn of(survey: &Survey) -> Self {
        let [a, b, c, d] = survey.modes;
        let (no, yes) =
            (|probability| cost::of_bool(probability, false), |probability| cost::of_bool(probability, true));
        let moved = yes(a);
        let other = moved + yes(b);
        let coded = other + yes(c);
        Self { zero: no(a), nearest: moved + no(b), near: other + no(c), new: coded + no(d), split: coded + yes(d) }
    }
}
