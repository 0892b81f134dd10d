//! Every controller: in any operation, on difficult paths, and over time.

mod operations;
mod support;
mod torture;
mod trajectories;
