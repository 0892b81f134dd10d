//! The lines of a search's trace.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Judgement, Run};

/// The first line: what the search compares with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The program's version.
    pub version: String,
    /// SHA-256 of the tuning file.
    pub file: String,
    /// The reference's name.
    pub reference: String,
    /// Its runs over the tuning set.
    pub runs: Vec<Run>,
}

/// Every other line: a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Its number, from 1.
    pub evaluation: usize,
    /// Its parameters by their paths, in the units of the file.
    pub parameters: BTreeMap<String, f64>,
    /// How its runs compare with the reference's.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// Its runs.
    pub runs: Vec<Run>,
}
