//! How a file is to be read.

use std::str::FromStr;

use thalweg_netsim::trace::{Cut, MOST_OPPORTUNITIES};
use thalweg_units::Span;

use crate::format::Format;
use crate::hold::{Gaps, Hold};
use crate::unit::{RateUnit, TimeUnit};

/// How a file is to be read, where its content leaves a choice: `format=seconds,unit=kbps`, or for comma-separated
/// values `column=UL_bitrate`, `time=start`, and rows by a value, `run_num=3`; for captures `from=192.0.2.1` and `to=`.
/// Behind them may stand the part to read, `@60s-180s`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format; by content when absent.
    pub format: Option<Format>,
    /// The column of rates: its name, or without a header its number, from 1.
    pub column: Option<String>,
    /// The unit of the rates.
    pub unit: Option<RateUnit>,
    /// The column of times.
    pub time: Option<String>,
    /// The unit of the times of columns without a header.
    pub time_unit: Option<TimeUnit>,
    /// The side of its row on which a rate holds.
    pub hold: Option<Hold>,
    /// The treatment of pauses; they are taken out when absent.
    pub gaps: Option<Gaps>,
    /// The time between rows beyond which it is a pause; a minute, and ten usual times, when absent.
    pub gap: Option<Span>,
    /// The part of the file to read, by its times from the first.
    pub cut: Option<Cut>,
    /// Columns, and the value that the rows to read have in them; in captures the addresses `from` and `to`.
    pub only: Vec<(String, String)>,
    /// The most delivery opportunities of what is not in Mahimahi's format; more are refused.
    pub most_opportunities: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            column: None,
            unit: None,
            time: None,
            time_unit: None,
            hold: None,
            gaps: None,
            gap: None,
            cut: None,
            only: Vec::new(),
            most_opportunities: MOST_OPPORTUNITIES,
        }
    }
}

impl ReadOptions {
    /// Splits `FILE:key=value,...@FROM-TO` into the file and how it is read, which begins with its colon or its `@`. It
    /// is empty if nothing after a colon is `key=` and nothing after an `@` is a [`Cut`].
    pub fn split(name: &str) -> (&str, &str) {
        let (uncut, _) = Cut::split(name);
        let begins = |(at, _): &(usize, char)| {
            let key = uncut[at + 1..].split_once('=').map_or("", |(key, _)| key);
            !key.is_empty() && !key.contains(['/', '\\', ':'])
        };
        let options = uncut.char_indices().filter(|(_, letter)| *letter == ':').find(begins);
        name.split_at(options.map_or(uncut.len(), |(at, _)| at))
    }
}

impl FromStr for ReadOptions {
    type Err = String;

    /// Reads them with or without the colon before them.
    fn from_str(text: &str) -> Result<ReadOptions, String> {
        let (text, cut) = Cut::split(text);
        let text = text.strip_prefix(':').unwrap_or(text);
        let cut = cut.map(str::parse).transpose()?;
        let mut options = ReadOptions { cut, ..ReadOptions::default() };
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                format!("unknown option '{part}' of a trace: expected key=value, such as format=seconds")
            })?;
            match key {
                "format" => options.format = Some(value.parse()?),
                "unit" => options.unit = Some(value.parse()?),
                "column" => options.column = Some(value.into()),
                "time" => options.time = Some(value.into()),
                "time-unit" => options.time_unit = Some(value.parse()?),
                "hold" => options.hold = Some(value.parse()?),
                "gaps" => options.gaps = Some(value.parse()?),
                "gap" => options.gap = Some(gap(value)?),
                _ => options.only.push((key.into(), value.into())),
            }
        }
        Ok(options)
    }
}

fn gap(text: &str) -> Result<Span, String> {
    let gap = text.parse::<Span>().map_err(|error| format!("gap: {error}"))?;
    if gap > Span::ZERO { Ok(gap) } else { Err(format!("gap is {gap}, must be above 0, as in gap=60s")) }
}
