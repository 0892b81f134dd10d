//! Values coded as paths through a binary tree (RFC 6386 section 8.1).

use crate::bool_coder::{Probability, Reader, Writer};

/// The deepest a tree goes.
const DEEPEST: usize = 9;

/// What a branch leads to.
#[derive(Debug, Clone, Copy)]
pub enum Branch<T> {
    /// Another node, by its index: the index of its probability as well.
    Node(usize),
    /// A value.
    Leaf(T),
}

/// A binary tree: for each node what false and what true leads to, the root first.
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

    /// Calls `step` with each node on the way to a value and the branch that is taken there: what an encoder that
    /// counts or prices bools needs.
    pub fn walk(self, value: T, mut step: impl FnMut(usize, bool)) {
        let mut path = [(0, false); DEEPEST];
        let length = self.find(0, value, &mut path, 0).unwrap_or(0);
        debug_assert!(length > 0, "the value is not in the tree");
        path[..length].iter().for_each(|&(node, bool)| step(node, bool));
    }

    fn find(self, node: usize, value: T, path: &mut [(usize, bool); DEEPEST], depth: usize) -> Option<usize> {
        [false, true].into_iter().find_map(|bool| {
            path[depth] = (node, bool);
            match self.0[node][usize::from(bool)] {
                Branch::Node(next) => self.find(next, value, path, depth + 1),
                Branch::Leaf(leaf) => (leaf == value).then_some(depth + 1),
            }
        })
    }
}
