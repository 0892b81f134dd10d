//! Motion vectors and their coding (RFC 6386 section 17).

use super::probabilities::VectorProbabilities;
use super::tree::{Branch::Leaf, Branch::Node, Tree};
use crate::bool_coder::{Probability, Reader};

/// A block's position in a reference, relative to its own position, in quarters of a luma pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct MotionVector {
    /// To the right, quarters of a pixel.
    pub x: i16,
    /// Down, quarters of a pixel.
    pub y: i16,
}

/// The largest component of a coded difference, in quarters of a pixel.
pub const LARGEST_DIFFERENCE: i16 = 1023;

impl MotionVector {
    /// No motion.
    pub const ZERO: Self = Self { x: 0, y: 0 };

    /// A vector in quarters of a pixel.
    #[must_use]
    pub const fn new(x: i16, y: i16) -> Self {
        Self { x, y }
    }

    /// The sum of two vectors. Components beyond -4096 to 4095.75 pixels, which valid streams do not have, wrap around
    /// as in libvpx.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { x: wrap(self.x.wrapping_add(other.x)), y: wrap(self.y.wrapping_add(other.y)) }
    }

    /// The difference of two vectors: the vector whose [`plus`](Self::plus) with `other` is this one.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self { x: wrap(self.x.wrapping_sub(other.x)), y: wrap(self.y.wrapping_sub(other.y)) }
    }

    /// The inverted vector.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self::ZERO.minus(self)
    }
}

/// Wraps a component to 15 bits.
const fn wrap(component: i16) -> i16 {
    component << 1 >> 1
}

/// Indices in a component's probabilities.
const IS_LONG: usize = 0;
const SIGN: usize = 1;
const SHORT: usize = 2;
const LONG: usize = 9;

/// Magnitudes 0 to 7.
const SHORT_TREE: Tree<u16> = Tree(&[
    [Node(1), Node(4)],
    [Node(2), Node(3)],
    [Leaf(0), Leaf(1)],
    [Leaf(2), Leaf(3)],
    [Node(5), Node(6)],
    [Leaf(4), Leaf(5)],
    [Leaf(6), Leaf(7)],
]);

/// The bits of a long magnitude except bit 3, in the order of coding.
const LONG_BITS: [usize; 9] = [0, 1, 2, 9, 8, 7, 6, 5, 4];

/// Reads a vector (a difference), vertical component first.
pub(super) fn read(reader: &mut Reader<'_>, probabilities: &VectorProbabilities) -> MotionVector {
    let y = read_component(reader, &probabilities[0]);
    let x = read_component(reader, &probabilities[1]);
    MotionVector { x, y }
}

fn read_component(reader: &mut Reader<'_>, probabilities: &[Probability; 19]) -> i16 {
    let magnitude = if reader.bool(probabilities[IS_LONG]) {
        let mut magnitude = 0;
        for bit in LONG_BITS {
            magnitude |= u16::from(reader.bool(probabilities[LONG + bit])) << bit;
        }
        // Bit 3 of a magnitude without higher bits is always set, or it would be a short one.
        if magnitude < 16 || reader.bool(probabilities[LONG + 3]) {
            magnitude |= 8;
        }
        magnitude
    } else {
        SHORT_TREE.read(reader, &probabilities[SHORT..])
    };
    if magnitude != 0 && reader.bool(probabilities[SIGN]) { -(magnitude as i16) } else { magnitude as i16 }
}

/// Calls `step` with each bool that codes a vector (a difference with components in -1023 to 1023): its component (0 is
/// the vertical one), the index of its probability, and the bool. Encoders use it to count or price bools.
pub fn walk(vector: MotionVector, mut step: impl FnMut(usize, usize, bool)) {
    for (index, component) in [vector.y, vector.x].into_iter().enumerate() {
        debug_assert!((-LARGEST_DIFFERENCE..=LARGEST_DIFFERENCE).contains(&component));
        let magnitude = component.unsigned_abs();
        let is_long = magnitude > 7;
        step(index, IS_LONG, is_long);
        if is_long {
            LONG_BITS.into_iter().for_each(|bit| step(index, LONG + bit, magnitude >> bit & 1 == 1));
            if magnitude >= 16 {
                step(index, LONG + 3, magnitude >> 3 & 1 == 1);
            }
        } else {
            SHORT_TREE.walk(magnitude, |node, bool| step(index, SHORT + node, bool));
        }
        if magnitude != 0 {
            step(index, SIGN, component < 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Probabilities;
    use super::*;
    use crate::bool_coder::Writer;

    #[test]
    fn every_difference_is_read_as_it_was_written() {
        let probabilities = Probabilities::default().vectors;
        let components = || -LARGEST_DIFFERENCE..=LARGEST_DIFFERENCE;
        let mut writer = Writer::new();
        for x in components() {
            let vector = MotionVector::new(x, -x);
            walk(vector, |component, node, bool| writer.bool(probabilities[component][node], bool));
        }
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        components().for_each(|x| assert_eq!(read(&mut reader, &probabilities), MotionVector::new(x, -x)));
    }

    #[test]
    fn sums_wrap_at_4096_pixels() {
        let sum = MotionVector::new(16383, -16384).plus(MotionVector::new(1, -1));
        assert_eq!(sum, MotionVector::new(-16384, 16383));
        assert_eq!(sum.minus(MotionVector::new(1, -1)), MotionVector::new(16383, -16384));
        assert_eq!(MotionVector::new(3, -4).reversed(), MotionVector::new(-3, 4));
    }
}
