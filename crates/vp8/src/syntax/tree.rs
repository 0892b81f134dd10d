//! Values coded as paths through a binary tree (RFC 6386 section 8.1).

use crate::bool_coder::{Probability, Reader, Writer};

/// Maximum depth of a tree.
const DEEPEST: usize = 9;

/// The target of a branch.
#[derive(Debug, Clone, Copy)]
pub enum Branch<T> {
    /// Another node, by its index, which is also the index of its probability.
    Node(usize),
    /// A value.
    Leaf(T),
}

/// A binary tree: for each node the branches for false and for true, the root first.
#[derive(Debug, Clone, Copy)]
pub struct Tree<T: 'static>(pub &'static [[Branch<T>; 2]]);

impl<T: Copy + PartialEq> Tree<T> {
    /// Reads a value.
    #[inline]
    pub fn read(self, reader: &mut Reader<'_>, probabilities: &[Probability]) -> T {
        let mut node = 0;
        loop {
            match self.0[node][usize::from(reader.bool(probabilities[node]))] {
                Branch::Node(next) => node = next,
                Branch::Leaf(value) => return value,
            }
        }
    }

    /// Writes a value.
    pub fn write(self, writer: &mut Writer, probabilities: &[Probability], value: T) {
        self.walk(value, |node, bool| writer.bool(probabilities[node], bool));
    }

    /// Calls `step` with each node on the path to a value and the branch taken there. Encoders use it to count or price
    /// bools.
    #[inline]
    pub fn walk(self, value: T, mut step: impl FnMut(usize, bool)) {
        let mut path = [(0, false); DEEPEST];
        let mut start = DEEPEST - 1;
        path[start] = self.branch_to(|branch| matches!(branch, Branch::Leaf(leaf) if leaf == value));
        while path[start].0 > 0 {
            let child = path[start].0;
            start -= 1;
            path[start] = self.branch_to(|branch| matches!(branch, Branch::Node(node) if node == child));
        }
        path[start..].iter().for_each(|&(node, bool)| step(node, bool));
    }

    /// The node of a branch, and which of its two branches it is.
    #[inline]
    fn branch_to(self, is_it: impl Fn(Branch<T>) -> bool) -> (usize, bool) {
        for (node, &[no, yes]) in self.0.iter().enumerate() {
            if is_it(no) {
                return (node, false);
            }
            if is_it(yes) {
                return (node, true);
            }
        }
        debug_assert!(false, "the value is not in the tree");
        (0, false)
    }
}
