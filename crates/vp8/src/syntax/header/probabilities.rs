//! A frame's changes of probabilities (RFC 6386 sections 13.4 and 17.2).

use super::super::probabilities::{CoefficientProbabilities, VECTOR_UPDATES, VectorProbabilities};
use super::super::tables::COEFFICIENT_UPDATES;
use crate::bool_coder::{Probability, Reader, Writer};

/// New probabilities of coefficient tokens, in the order of [`CoefficientProbabilities`]: the index of each among all
/// 1056, ascending, and the probability.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoefficientUpdates(pub Vec<(u16, Probability)>);

impl CoefficientUpdates {
    /// The updates that change `before` to `after`.
    #[must_use]
    pub fn between(before: &CoefficientProbabilities, after: &CoefficientProbabilities) -> Self {
        let pairs = flat(before).iter().zip(flat(after)).enumerate();
        Self(pairs.filter(|(_, (before, after))| before != after).map(|(i, (_, &after))| (i as u16, after)).collect())
    }

    /// Applies the updates.
    pub fn apply(&self, probabilities: &mut CoefficientProbabilities) {
        let flat = probabilities.as_flattened_mut().as_flattened_mut().as_flattened_mut();
        self.0.iter().for_each(|&(index, probability)| flat[usize::from(index)] = probability);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let mut updates = Vec::new();
        for (index, &unchanged) in flat(&COEFFICIENT_UPDATES).iter().enumerate() {
            if reader.bool(unchanged) {
                updates.push((index as u16, reader.small(8)));
            }
        }
        Self(updates)
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let mut updates = self.0.iter().peekable();
        for (index, &unchanged) in flat(&COEFFICIENT_UPDATES).iter().enumerate() {
            let update = updates.next_if(|(changed, _)| usize::from(*changed) == index);
            writer.bool(unchanged, update.is_some());
            if let Some(&(_, probability)) = update {
                writer.literal(8, u32::from(probability));
            }
        }
    }
}

fn flat(probabilities: &CoefficientProbabilities) -> &[Probability] {
    probabilities.as_flattened().as_flattened().as_flattened()
}

/// New probabilities of motion vectors: 1 or an even number each, as these are coded in seven bits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VectorUpdates(pub [[Option<Probability>; 19]; 2]);

impl VectorUpdates {
    /// Applies the updates.
    pub fn apply(&self, probabilities: &mut VectorProbabilities) {
        for (probability, update) in probabilities.as_flattened_mut().iter_mut().zip(self.0.as_flattened()) {
            *probability = update.unwrap_or(*probability);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let mut updates = Self::default();
        for (update, &unchanged) in updates.0.as_flattened_mut().iter_mut().zip(VECTOR_UPDATES.as_flattened()) {
            *update = reader.bool(unchanged).then(|| (reader.small(7) << 1).max(1));
        }
        updates
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        for (update, &unchanged) in self.0.as_flattened().iter().zip(VECTOR_UPDATES.as_flattened()) {
            writer.bool(unchanged, update.is_some());
            if let Some(probability) = update {
                writer.literal(7, u32::from(probability >> 1));
            }
        }
    }
}
