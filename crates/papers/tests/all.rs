//! Short versions of papers' experiments in virtual time, each checked against both bounds.

mod camel;
mod fbra;
mod l4s;
mod support;
