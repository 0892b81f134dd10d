//! The library as its callers see it.

#[path = "../examples/answer.rs"]
mod answer;
mod answers;
#[path = "support/calls.rs"]
mod calling;
mod calls;
mod header;
#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;
mod network;
mod programs;
mod support;
