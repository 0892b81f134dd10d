//! The library as its callers see it.

#[path = "../examples/answer.rs"]
mod answer;
mod answers;
#[path = "support/calls.rs"]
mod calling;
mod calls;
mod header;
mod network;
mod programs;
mod support;
