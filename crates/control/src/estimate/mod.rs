//! Placeholder; see the task.
