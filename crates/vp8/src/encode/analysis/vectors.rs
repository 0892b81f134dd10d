//! The cost of motion vectors.

use crate::encode::cost::{self, Cost};
use crate::syntax::VectorProbabilities;
use crate::syntax::motion_vectors::{LARGEST_DIFFERENCE, MotionVector, walk};

const MAGNITUDES: usize = LARGEST_DIFFERENCE as usize + 1;

/// Cost of every component of a vector's difference from the predicted vector.
#[derive(Debug, Clone)]
pub struct VectorCosts {
    /// By component (vertical first) and magnitude, without the sign.
    magnitudes: Box<[[u16; MAGNITUDES]; 2]>,
    /// By component: of plus and of minus.
    signs: [[Cost; 2]; 2],
}

impl VectorCosts {
    /// The costs at a state's probabilities.
    pub fn new(probabilities: &VectorProbabilities) -> Self {
        let mut magnitudes = Box::new([[0; MAGNITUDES]; 2]);
        let mut signs = [[0; 2]; 2];
        for magnitude in 0..=LARGEST_DIFFERENCE {
            let vector = MotionVector::new(magnitude, magnitude);
            let costs = &mut magnitudes;
            walk(vector, |component, node, bool| {
                costs[component][magnitude as usize] += cost::of_bool(probabilities[component][node], bool) as u16;
            });
        }
        for (component, signs) in signs.iter_mut().enumerate() {
            *signs = [false, true].map(|bool| cost::of_bool(probabilities[component][SIGN], bool));
            // These components were positive; the cost of their sign is subtracted.
            magnitudes[component][1..].iter_mut().for_each(|cost| *cost -= signs[0] as u16);
        }
        Self { magnitudes, signs }
    }

    /// Cost of a vector, coded as the difference from another.
    #[inline(always)]
    pub fn of(&self, vector: MotionVector, from: MotionVector) -> Cost {
        self.of_component(0, vector.y - from.y) + self.of_component(1, vector.x - from.x)
    }

    #[inline(always)]
    fn of_component(&self, component: usize, difference: i16) -> Cost {
        let magnitude = usize::from(difference.unsigned_abs()).min(MAGNITUDES - 1);
        let sign = if magnitude == 0 { 0 } else { self.signs[component][usize::from(difference < 0)] };
        Cost::from(self.magnitudes[component][magnitude]) + sign
    }
}

/// The place of the sign's probability among a component's (RFC 6386 section 17.1: after that of being long).
const SIGN: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Probabilities;

    #[test]
    fn a_vector_costs_what_its_bools_do() {
        let probabilities = Probabilities::default().vectors;
        let costs = VectorCosts::new(&probabilities);
        let from = MotionVector::new(-5, 8);
        for (x, y) in [(0, 0), (1, -1), (-7, 8), (200, -1023), (-15, 16)] {
            let mut expected = 0;
            walk(MotionVector::new(x, y), |component, node, bool| {
                expected += cost::of_bool(probabilities[component][node], bool);
            });
            assert_eq!(costs.of(from.plus(MotionVector::new(x, y)), from), expected);
        }
    }
}
