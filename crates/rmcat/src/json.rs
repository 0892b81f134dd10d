//! Everything as JSON; docs/reference/bench.md describes its keys.

use serde_json::{Value, json};

use crate::outcome::Outcome;

/// The outcomes as JSON. Keys are promised from version 1 on: more may come, none goes or changes its meaning.
pub fn json(outcomes: &[Outcome]) -> Value {
    let cases: Vec<Value> = outcomes.iter().map(Outcome::to_json).collect();
    json!({ "bench": "rmcat", "version": 1, "cases": cases })
}
