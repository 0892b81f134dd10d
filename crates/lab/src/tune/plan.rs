//! What a tuning file says.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use thalweg_link::trace::ReadOptions;
use thalweg_units::{Seed, Span};
use toml::Value;

use super::search::MAX_PARAMETERS;
use super::{Invalid, Objective, Parameter, Starts};

/// A tuning file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The name of the scheme that results.
    pub name: String,
    /// The seed of the search; those of the runs are in the sets.
    #[serde(default = "one")]
    pub seed: Seed,
    /// The scheme to tune.
    pub base: Base,
    /// The scheme that it is compared with, by name.
    pub reference: String,
    /// Evaluations of a search, unless the command line says otherwise.
    pub runs: usize,
    /// How many of them are starts spread over all ranges; twice the number of parameters when absent.
    #[serde(default)]
    pub starts: Option<usize>,
    /// What differs from [`crate::Scenario::over`], by paths into its TOML, for all links of both sets.
    #[serde(default)]
    pub scenario: BTreeMap<String, Value>,
    /// What is searched.
    pub parameters: Vec<Parameter>,
    /// What is played while searching.
    pub tuning: Set,
    /// What is played at the end, and never before.
    pub test: Set,
    /// What is aimed at.
    pub objective: Objective,
}

/// The scheme to tune.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its name, or all of it as a run.toml has it.
    pub scheme: Value,
    /// What differs from it, by paths into its TOML.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
}

/// Links that are played together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Links by name, as `thalweg compare --trace` has them.
    pub links: Vec<String>,
    /// The duration of each run.
    pub duration: Span,
    /// The seeds that are played over each link.
    pub seeds: Vec<Seed>,
}

fn one() -> Seed {
    Seed::new(1)
}

impl Plan {
    /// # Errors
    /// When it cannot be followed.
    pub fn check(&self) -> Result<(), Invalid> {
        let paths: Vec<&str> = self.parameters.iter().map(|parameter| parameter.path.as_str()).collect();
        if paths.is_empty() || paths.len() > MAX_PARAMETERS {
            let count = paths.len();
            return Err(Invalid(format!("{count} parameters: name 1 to {MAX_PARAMETERS}, each in a [[parameters]]")));
        }
        if let Some(path) = repeated(&paths) {
            return Err(Invalid(format!("parameter {path} is there twice: remove one of them")));
        }
        self.parameters.iter().try_for_each(Parameter::check)?;
        for (name, set) in [("tuning", &self.tuning), ("test", &self.test)] {
            set.check().map_err(|Invalid(why)| Invalid(format!("[{name}] {why}")))?;
        }
        for link in &self.test.links {
            if let Some(other) = self.tuning.links.iter().find(|other| recording(other) == recording(link)) {
                return Err(Invalid(format!(
                    "[test] {link} and [tuning] {other} are of one recording: what was tuned on proves nothing; remove one \
                     of them"
                )));
            }
        }
        self.objective.check()
    }

    /// Where the search begins besides the base.
    pub fn starts(&self) -> Starts {
        Starts { seed: self.seed, points: self.starts.unwrap_or(2 * self.parameters.len()) }
    }
}

impl Set {
    fn check(&self) -> Result<(), Invalid> {
        if self.links.is_empty() || self.seeds.is_empty() {
            return Err(Invalid("has nothing to play: name links = [\"lte-driving\"] and seeds = [1]".into()));
        }
        if self.duration <= Span::ZERO {
            return Err(Invalid(format!("duration {} must be above 0, as in 60s", self.duration)));
        }
        if let Some(link) = repeated(&self.links) {
            return Err(Invalid(format!("links: {link} is there twice: remove one of them")));
        }
        match repeated(&self.seeds) {
            Some(seed) => Err(Invalid(format!("seeds: {seed} is there twice: remove one of them"))),
            None => Ok(()),
        }
    }
}

fn repeated<T: PartialEq>(of: &[T]) -> Option<&T> {
    of.iter().enumerate().find(|(place, item)| of[..*place].contains(item)).map(|(_, item)| item)
}

/// The recording of a link: its file's name without folder and options, and without the direction. What is synthetic is
/// a recording of its own name.
pub fn recording(link: &str) -> &str {
    let stem = ReadOptions::split(link).0;
    let file = Path::new(stem).file_name().and_then(|file| file.to_str()).unwrap_or(stem);
    file.strip_suffix(".down").or_else(|| file.strip_suffix(".up")).unwrap_or(file)
}
