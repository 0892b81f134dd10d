//! Key that identifies a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thalweg_sender::SenderFactory;
use thalweg_traces::ReadOptions;
use xxhash_rust::xxh3::xxh3_128;

use crate::behaviour::BEHAVIOUR;
use crate::inputs::{Kind, names};
use crate::run_folder::{Input, run_text};
use crate::scenario::Scenario;

/// A hash of all that determines a run: its scenario and sender as a run.toml has them, the content of the files it
/// reads, and this laboratory's [`BEHAVIOUR`]. Not cryptographic. As text, 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key(u128);

impl Key {
    /// The key of a run that reads these files.
    ///
    /// # Errors
    /// When the sender describes itself in what is no TOML.
    pub fn of(scenario: &Scenario, inputs: &[Input], sender: &dyn SenderFactory) -> Result<Key, String> {
        let scenario = by_content(scenario, inputs);
        // Not the version: that is raised without a change of behaviour too.
        let text = run_text(&format!("{BEHAVIOUR:016x}"), &scenario, &[], sender)?;
        Ok(Key(xxh3_128(text.as_bytes())))
    }

    /// The key of what this text determines.
    pub fn of_text(text: &str) -> Key {
        Key(xxh3_128(text.as_bytes()))
    }

    /// The key of a list of runs.
    pub(super) fn of_all(keys: impl Iterator<Item = Key>) -> Key {
        Key(xxh3_128(&keys.flat_map(|Key(key)| key.to_le_bytes()).collect::<Vec<u8>>()))
    }
}

/// The scenario, its files named by their content.
pub(super) fn by_content(scenario: &Scenario, inputs: &[Input]) -> Scenario {
    let mut scenario = scenario.clone();
    for (kind, name) in names(&mut scenario) {
        let Some(input) = inputs.iter().find(|input| input.name == *name) else { continue };
        let options = if kind == Kind::Trace { ReadOptions::split(name).1 } else { "" };
        *name = format!("sha256:{}{options}", input.sha256);
    }
    scenario
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.to_string()
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Key, String> {
        let is_hexadecimal = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let read = is_hexadecimal.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        read.map(Key).ok_or_else(|| format!("invalid key of a run '{text}': expected 32 hexadecimal digits"))
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Key, String> {
        text.parse()
    }
}
