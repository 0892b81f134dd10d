//! The queue of decisions that wait to be polled.

use alloc::collections::VecDeque;

use crate::controller::Decision;

/// The max length of the queue: bounds the memory when the caller never polls.
const CAPACITY: usize = 64;

/// Decisions not yet polled; when the queue is full, the oldest are dropped.
#[derive(Debug, Clone, Default)]
pub struct Decisions(VecDeque<Decision>);

impl Decisions {
    /// Adds a decision.
    pub fn push(&mut self, decision: Decision) {
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(decision);
    }

    /// Removes and returns the oldest decision.
    pub fn pop(&mut self) -> Option<Decision> {
        self.0.pop_front()
    }
}
