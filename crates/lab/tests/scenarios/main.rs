//! Whole runs in virtual time, each with both bounds.

mod competition;
mod determinism;
mod loss;
mod salsify;
mod square_wave;
mod support;
