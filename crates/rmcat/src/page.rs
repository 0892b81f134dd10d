//! The page: a matrix of verdicts, and small multiples of what happened.

use serde_json::{Value, json};

use crate::outcome::Outcome;

/// What the page says about itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The command that made it.
    pub command: String,
    /// How many seeds were played.
    pub seeds: usize,
}

/// Everything as JSON; keys are promised from version 1 on.
pub fn json(outcomes: &[Outcome]) -> Value {
    let cases: Vec<Value> = outcomes.iter().map(Outcome::to_json).collect();
    json!({ "bench": "rmcat", "version": 1, "cases": cases })
}

/// The page, which needs nothing else.
pub fn page(outcomes: &[Outcome], about: &About) -> String {
    let _ = outcomes;
    about.command.clone()
}
