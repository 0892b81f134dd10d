//! Contents of a tuning file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use thalweg_traces::ReadOptions;
use thalweg_units::{Seed, Span};
use toml::Value;

use super::search::MAX_PARAMETERS;
use super::{Invalid, Objective, Parameter, Starts};
use crate::seeds::seeds;

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
    /// Differences from [`crate::Scenario::over`], by paths into its TOML, for all links of both sets.
    #[serde(default)]
    pub scenario: BTreeMap<String, Value>,
    /// Parameters to search.
    pub parameters: Vec<Parameter>,
    /// Runs to play while searching.
    pub tuning: Set,
    /// Runs to play at the end, and never before.
    pub test: Set,
    /// Aim of the search.
    pub objective: Objective,
}

/// The scheme to tune.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Its name, or all of it as a run.toml has it.
    pub scheme: Value,
    /// Differences from it, by paths into its TOML.
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
    /// The seeds that are played over each link: a list, or a text such as `1..10`.
    #[serde(deserialize_with = "listed")]
    pub seeds: Vec<Seed>,
}

fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Seed>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "seeds are a list, [1, 4, 9], or a text, \"1..10\"")]
    enum Written {
        List(Vec<Seed>),
        Text(String),
    }
    match Written::deserialize(deserializer)? {
        Written::List(seeds) => Ok(seeds),
        Written::Text(text) => Ok(seeds(&text).map_err(D::Error::custom)?.into_iter().map(Seed::new).collect()),
    }
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
                    "[test] {link} and [tuning] {other} are of one recording: what was tuned on proves nothing; remove \
                     one of them"
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

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = 'x'\nreference = 'gcc'\nruns = 5\n[base]\nscheme = 'copa'\n[[parameters]]\npath = 'a.b'\nlow = 1\n\
                        high = 2\n[tuning]\nlinks = ['lte-driving', 'A.down']\nduration = '60s'\nseeds = [1]\n[test]\nlinks = ['B.up']\n\
                        duration = '60s'\nseeds = [1, 2]\n[objective]\nraise = 'video_bitrate_bps'\nlinks = { at_least = 0.8, weight \
                        = 1 }\nbars = [{ key = 'latency_p95_ms', at_most = 0.8, weight = 4 }]\n";

    fn checked(from: &str, to: &str) -> Result<(), String> {
        assert!(FILE.contains(from), "{from}");
        let plan: Plan = toml::from_str(&FILE.replace(from, to)).map_err(|error| error.to_string())?;
        plan.check().map_err(|error| error.to_string())
    }

    #[test]
    fn sets_that_share_a_recording_are_refused_whatever_its_direction_folder_and_options() {
        assert_eq!(checked("'B.up'", "'B.up', 'A-2016.down', 'lte-walking'"), Ok(()));
        for shared in ["A.down", "A.up", "/elsewhere/A.up", "A.up:format=mahimahi", "lte-driving"] {
            let refused = checked("'B.up'", &format!("'B.up', '{shared}'")).unwrap_err();
            assert!(refused.contains(shared) && refused.contains("one recording"), "{refused}");
        }
    }

    #[test]
    fn seeds_are_a_list_or_a_range() {
        let plan: Plan = toml::from_str(&FILE.replace("[1, 2]", "'1..3'")).unwrap();
        assert_eq!(plan.test.seeds, [1, 2, 3].map(Seed::new));
    }

    #[test]
    fn what_cannot_be_followed_is_refused_with_its_place_and_the_fix() {
        for (from, to, words) in [
            ("['B.up']", "[]", "[test] has nothing to play"),
            ("[1, 2]", "[2, 2]", "[test] seeds: 2 is there twice"),
            ("'A.down'", "'A.down', 'A.down'", "[tuning] links: A.down is there twice"),
            ("links = ['B.up']\nduration = '60s'", "links = ['B.up']\nduration = '0s'", "must be above 0"),
            ("high = 2", "high = 1", "parameter a.b: from 1 to 1"),
            ("'latency_p95_ms'", "'latency_p59_ms'", "unknown figure 'latency_p59_ms': expected one of"),
            ("at_most = 0.8", "at_most = 0.8, at_least = 1", "give either at_least or at_most"),
            ("at_most = 0.8", "at_most = 0", "it must be above 0"),
            ("weight = 4", "weight = -4", "weight = -4 must be 0 or more"),
            ("at_least = 0.8", "at_least = 80", "at_least = 80 must be from 0 to 1"),
            ("[1, 2]", "'2..1'", "invalid seed '2..1'"),
            ("[1, 2]", "true", "seeds are a list, [1, 4, 9], or a text"),
            ("runs = 5", "runs = 5\nrusn = 6", "unknown field `rusn`"),
        ] {
            let refused = checked(from, to).unwrap_err();
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }

    #[test]
    fn the_files_of_the_project_can_be_followed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tuning");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
        assert!(!files.is_empty());
        for path in files {
            let plan: Plan = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(plan.check(), Ok(()), "{}", path.display());
        }
    }
}
