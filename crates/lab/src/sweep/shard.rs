//! A part of a sweep that a machine of its own plays.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The jobs whose number divided by `of` leaves `index`: neighbours on the last axis, which take about as long, go to
/// different shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// All jobs.
    pub const WHOLE: Shard = Shard { index: 0, of: 1 };

    /// The shard of this index, from 0, of so many.
    ///
    /// # Errors
    /// When there is no such shard.
    pub fn new(index: u32, of: u32) -> Result<Shard, String> {
        match of.checked_sub(1) {
            Some(last) if index <= last => Ok(Shard { index, of }),
            Some(last) => Err(format!("unknown shard {index} of {of}: shards are 0/{of} to {last}/{of}")),
            None => Err(format!("there is no shard {index} of 0: 0/1 is all jobs")),
        }
    }

    /// Its index, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns true if it has the job of this number.
    pub fn has(self, job: u32) -> bool {
        job % self.of == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        let (index, of) =
            numbers.ok_or_else(|| format!("invalid shard '{text}': write index/number, such as 0/4 to 3/4"))?;
        Shard::new(index, of)
    }
}
