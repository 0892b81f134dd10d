//! Whole runs in virtual time, each with both bounds.

mod by_hand;
mod camel;
mod competition;
mod determinism;
mod fbra;
mod filler;
mod hostile;
mod kept_states;
mod loss;
mod own_sender;
mod rebera;
mod salsify;
mod square_wave;
mod standard_decoder;
mod support;
mod undershoot;
