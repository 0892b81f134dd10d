//! How a file is to be read.

use std::str::FromStr;

use crate::format::Format;
use crate::unit::RateUnit;

/// How a file is to be read, where its content leaves a choice: `format=seconds,unit=kbps`, or for comma-separated
/// values `column=UL_bitrate`, `time=start`, and rows by a value, `run_num=3`; for captures `from=192.0.2.1` and `to=`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format; by content when absent.
    pub format: Option<Format>,
    /// The column of rates.
    pub column: Option<String>,
    /// The unit of the rates.
    pub unit: Option<RateUnit>,
    /// The column of times.
    pub time: Option<String>,
    /// Columns, and the value that the rows to read have in them; in captures the addresses `from` and `to`.
    pub only: Vec<(String, String)>,
    /// The most delivery opportunities of what is not in Mahimahi's format; more are refused.
    pub most_opportunities: u64,
}

/// They take 800 MB: a quarter of an hour of 1.3 Gbps.
const MOST_OPPORTUNITIES: u64 = 100_000_000;

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        let most_opportunities = MOST_OPPORTUNITIES;
        ReadOptions { format: None, column: None, unit: None, time: None, only: Vec::new(), most_opportunities }
    }
}

impl ReadOptions {
    /// Splits `FILE:key=value,...` into the file and its options, which are empty if nothing after a colon is `key=`.
    pub fn split(name: &str) -> (&str, &str) {
        let begins = |(at, _): &(usize, char)| {
            let key = name[at + 1..].split_once('=').map_or("", |(key, _)| key);
            !key.is_empty() && !key.contains(['/', '\\', ':'])
        };
        match name.char_indices().filter(|(_, letter)| *letter == ':').find(begins) {
            Some((at, _)) => (&name[..at], &name[at + 1..]),
            None => (name, ""),
        }
    }
}

impl FromStr for ReadOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<ReadOptions, String> {
        let mut options = ReadOptions::default();
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                format!("unknown option '{part}' of a trace: expected key=value, such as format=seconds")
            })?;
            match key {
                "format" => options.format = Some(value.parse()?),
                "unit" => options.unit = Some(value.parse()?),
                "column" => options.column = Some(value.into()),
                "time" => options.time = Some(value.into()),
                _ => options.only.push((key.into(), value.into())),
            }
        }
        Ok(options)
    }
}
