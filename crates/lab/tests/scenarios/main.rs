//! Whole runs in virtual time, each with both bounds.

mod by_hand;
mod camel;
mod competition;
mod determinism;
mod hostile;
mod kept_states;
mod loss;
mod salsify;
mod square_wave;
mod standard_decoder;
mod support;
mod undershoot;
