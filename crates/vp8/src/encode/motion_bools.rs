//! The bools of a frame's motion: recorded once, written by every candidate.
//!
//! Motion is chosen by the analysis, so the bools that code it, and their counts, are the same in all candidates. Only
//! their probabilities are known after the last macroblock: each bool is recorded with the place of its probability.

use super::coding::probabilities::{Branch, choose_vectors};
use super::cost::best_probability;
use crate::bool_coder::{Burst, Probability};
use crate::pool::{Pool, Scratch};
use crate::syntax::header::InterHeader;
use crate::syntax::modes::{MotionOdds, walk_motion};
use crate::syntax::{Motion, Neighbours, Reference, Survey, VectorProbabilities};

/// The place of a bool's probability: below 256 it is the probability itself, then follow those of the frame's header.
const INTRA: u16 = 256;
const LAST: u16 = 257;
const GOLDEN: u16 = 258;
const VECTORS: u16 = 259;
/// An upper limit of the number of places.
const PLACES: usize = 512;

/// The place of a vector's probability.
const fn vector_place(component: usize, node: usize) -> u16 {
    VECTORS + 19 * component as u16 + node as u16
}

static BOOLS: Pool<u16> = Pool::new(3);

/// The motion of a frame's inter macroblocks, as bools.
#[derive(Debug)]
pub struct MotionBools {
    /// The lowest bit is the bool, the others are its place.
    bools: Scratch<u16>,
    /// The end of each inter macroblock's bools.
    ends: Vec<u32>,
    /// Counts of false and true by place.
    counts: Box<[Branch; PLACES]>,
}

impl MotionBools {
    /// Empty, with space for so many macroblocks.
    pub fn with_capacity(macroblocks: usize) -> Self {
        Self {
            bools: Scratch::with_capacity(&BOOLS, 8 * macroblocks),
            ends: Vec::with_capacity(macroblocks),
            counts: Box::new([[0; 2]; PLACES]),
        }
    }

    /// Counts an intra macroblock, whose modes each candidate codes itself.
    pub fn pass_intra(&mut self) {
        self.counts[usize::from(INTRA)][0] += 1;
    }

    /// Records a macroblock's motion, given the motion of its neighbours.
    pub fn record(&mut self, reference: Reference, motion: &Motion, survey: &Survey, neighbours: &Neighbours) {
        let mut push = |place: u16, bool: bool| {
            self.bools.push(place << 1 | u16::from(bool));
            self.counts[usize::from(place)][usize::from(bool)] += 1;
        };
        push(INTRA, true);
        push(LAST, reference != Reference::Last);
        if reference != Reference::Last {
            push(GOLDEN, reference == Reference::Altref);
        }
        walk_motion(motion, survey, neighbours, |odds, bool| match odds {
            MotionOdds::Known(probability) => push(u16::from(probability), bool),
            MotionOdds::Vector { component, node } => push(vector_place(component, node), bool),
        });
        self.ends.push(self.bools.len() as u32);
    }

    /// Sets the header's probabilities to fit the motion, given the vector probabilities before the frame.
    pub fn fit(&self, header: &mut InterHeader, before: &VectorProbabilities) {
        let count = |place: u16| self.counts[usize::from(place)];
        [header.intra, header.last, header.golden_not_altref] =
            [INTRA, LAST, GOLDEN].map(|place| best_probability(count(place)));
        header.vectors = choose_vectors(|component, node| count(vector_place(component, node)), before);
    }

    /// A writer of the bools, at the probabilities of a header and of vectors.
    pub fn at(&self, header: &InterHeader, vectors: &VectorProbabilities) -> MotionWriter<'_> {
        let mut odds = [0; PLACES];
        for (place, odds) in odds[..256].iter_mut().enumerate() {
            *odds = place as Probability;
        }
        for (place, probability) in [(INTRA, header.intra), (LAST, header.last), (GOLDEN, header.golden_not_altref)] {
            odds[usize::from(place)] = probability;
        }
        odds[usize::from(VECTORS)..][..38].copy_from_slice(vectors.as_flattened());
        MotionWriter { bools: &self.bools, ends: &self.ends, start: 0, odds }
    }
}

/// Writes the motion of macroblocks in order.
pub struct MotionWriter<'a> {
    bools: &'a [u16],
    ends: &'a [u32],
    /// The start of the next macroblock's bools.
    start: usize,
    odds: [Probability; PLACES],
}

impl MotionWriter<'_> {
    /// Writes the motion of the next inter macroblock.
    #[inline]
    pub fn write(&mut self, writer: &mut Burst<'_>) {
        let Some((&end, ends)) = self.ends.split_first() else { return };
        for &bool in &self.bools[self.start..end as usize] {
            writer.bool(self.odds[usize::from(bool >> 1) % PLACES], bool & 1 == 1);
        }
        (self.start, self.ends) = (end as usize, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bool_coder::Writer;
    use crate::image::Size;
    use crate::syntax::{
        MacroblockModes, ModeCoding, MotionVector, PartMode, Prediction, Probabilities, SignBias, Split, SplitLayout,
    };

    /// Motion of every kind, as far as it is coded: nearest and near vectors follow from the neighbours.
    fn motions() -> Vec<Motion> {
        let new = |x, y| Motion::New(MotionVector::new(x, y));
        let mut modes = [PartMode::Zero; 16];
        modes[..4].copy_from_slice(&[PartMode::New, PartMode::Left, PartMode::Above, PartMode::New]);
        let quarters = SplitLayout::Quarters.parts().map(|part| MotionVector::new(5 * i16::from(part), -40));
        let split = Motion::Split(Split { layout: SplitLayout::Quarters, modes, vectors: quarters });
        let near = MotionVector::new(3, 3);
        vec![Motion::Zero, new(3, 3), Motion::Nearest(near), split, new(-900, 70), Motion::Near(near), new(0, 8), split]
    }

    #[test]
    fn what_is_written_from_the_record_is_what_is_written_at_once() {
        let size = Size::new(112, 112).unwrap();
        let before = Probabilities::default();
        let prediction = |index: usize| Prediction::Inter {
            reference: Reference::ALL[index * index % 3],
            motion: motions()[(index * 5 + index / 8) % 8],
        };
        let mut recorded = MotionBools::with_capacity(size.macroblocks());
        let mut neighbours = Neighbours::new(size);
        for index in 0..size.macroblocks() {
            let prediction = prediction(index);
            let Prediction::Inter { reference, motion } = &prediction else { unreachable!() };
            let survey = neighbours.survey(*reference, SignBias::default());
            recorded.record(*reference, motion, &survey, &neighbours);
            neighbours.advance(&prediction);
        }
        let mut header = InterHeader::default();
        recorded.fit(&mut header, &before.vectors);
        let mut probabilities = before.clone();
        header.vectors.apply(&mut probabilities.vectors);
        assert!(probabilities.vectors != before.vectors && header.intra < 3 && header.last > 3);

        let mut from_record = Writer::new();
        let mut motion = recorded.at(&header, &probabilities.vectors);
        (0..size.macroblocks()).for_each(|_| from_record.burst(|burst| motion.write(burst)));
        let coding = ModeCoding {
            is_key: false,
            segments: None,
            skip: None,
            intra: header.intra,
            last: header.last,
            golden: header.golden_not_altref,
            sign_bias: SignBias::default(),
        };
        let (mut at_once, mut neighbours) = (Writer::new(), Neighbours::new(size));
        for index in 0..size.macroblocks() {
            let modes = MacroblockModes { segment: None, is_skipped: false, prediction: prediction(index) };
            coding.write(&mut at_once, &probabilities, &neighbours, &modes);
            neighbours.advance(&modes.prediction);
        }
        assert_eq!(from_record.finish(), at_once.finish());
    }
}
