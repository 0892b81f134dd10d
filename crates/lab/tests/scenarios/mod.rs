//! Complete runs in virtual time, each checked against both bounds.

mod by_hand;
mod capacity;
mod changes;
mod clocks_and_copies;
mod competition;
mod determinism;
mod environment;
mod hostile;
mod hunt;
mod l4s;
mod links;
mod loss;
mod low_rates;
mod off_the_track;
mod own_sender;
mod padding;
mod rebera;
mod reverse_path;
mod salsify;
mod screen;
mod square_wave;
mod standard_decoder;
mod stateful;
mod support;
mod traffic;
mod undershoot;
