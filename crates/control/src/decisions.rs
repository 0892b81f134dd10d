//! Decisions that wait to be polled.

use alloc::collections::VecDeque;

use crate::controller::Decision;

/// A short queue of decisions: a driver that never asks for them costs no more memory than this many.
const CAPACITY: usize = 64;

/// Decisions not yet polled; the oldest are forgotten first.
#[derive(Debug, Clone, Default)]
pub struct Decisions(VecDeque<Decision>);

impl Decisions {
    /// Notes one.
    pub fn push(&mut self, decision: Decision) {
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(decision);
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<Decision> {
        self.0.pop_front()
    }
}
