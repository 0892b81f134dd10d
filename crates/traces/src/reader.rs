//! A reader of one format, and what it makes of a file.

use std::borrow::Cow;

use thalweg_netsim::Trace;
use thalweg_units::Span;

use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::unit::RateUnit;

/// A link that was read from a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// Its delivery opportunities.
    pub trace: Trace,
    /// How the file was read.
    pub format: Format,
    /// Notes for a reader of results: which columns were read in which units, and what the file does not show.
    pub notes: Vec<String>,
    /// The one-way delay of the path, from captures that show it.
    pub delay: Option<Span>,
}

impl Reading {
    pub(crate) fn new(format: Format, trace: Trace, notes: Vec<String>) -> Reading {
        Reading { trace, format, notes, delay: None }
    }
}

/// A file to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    /// Its name, for formats that are known by their endings.
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a [u8],
}

impl<'a> File<'a> {
    /// Its text, without a byte order mark and without comments (`#`) above the first row, whose lines are blank. A
    /// comment directly above it that has a name with a unit of rates for each of its fields is the header.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub(crate) fn text(self) -> Result<Cow<'a, str>, ReadError> {
        let text = std::str::from_utf8(self.bytes).map_err(|_| {
            ReadError::unclear("neither text nor a packet capture: traces are text, captures pcap or pcapng")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_above = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
        let above: Vec<&str> = text.split_inclusive('\n').take_while(is_above).collect();
        if above.iter().all(|line| line.trim().is_empty()) {
            return Ok(text.into());
        }
        let rows = &text[above.iter().map(|line| line.len()).sum()..];
        let header = above.last().and_then(|line| line.trim().strip_prefix('#')).unwrap_or_default();
        let header = header.trim_start_matches('#').trim();
        let is_header = is_header(header, rows.lines().next().unwrap_or_default());
        let lines = "\n".repeat(above.len() - usize::from(is_header));
        let header = if is_header { format!("{header}\n") } else { String::new() };
        Ok(format!("{lines}{header}{rows}").into())
    }
}

/// Returns true if a line has a name for each field of a row, one of them with a unit of rates.
fn is_header(line: &str, row: &str) -> bool {
    let delimiter = [',', ';', '\t'].into_iter().find(|delimiter| row.contains(*delimiter));
    let fields = |line: &str| -> Vec<String> {
        match delimiter {
            Some(delimiter) => line.split(delimiter).map(String::from).collect(),
            None => line.split_whitespace().map(String::from).collect(),
        }
    };
    let names = fields(line);
    names.len() > 1 && names.len() == fields(row).len() && names.iter().any(|name| RateUnit::ends(name).is_some())
}

/// The lines of a text that are not blank, with their numbers.
pub(crate) fn lines(text: &str) -> Vec<(usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// The fields of a line at white space, if all of them are numbers and there is one.
pub(crate) fn numbers(line: &str) -> Option<Vec<f64>> {
    let fields: Option<Vec<f64>> = line.split_whitespace().map(|field| field.parse().ok()).collect();
    fields.filter(|fields| !fields.is_empty())
}

/// A reader of one format.
pub(crate) struct Reader {
    pub(crate) format: Format,
    /// The options it takes beside `format`; `NAME` is any other.
    pub(crate) options: &'static [&'static str],
    /// Recognises a file that no earlier reader has recognised as of this format; an error if that is open.
    pub(crate) is: fn(File<'_>) -> Result<bool, ReadError>,
    pub(crate) read: fn(File<'_>, &ReadOptions) -> Result<Reading, ReadError>,
}
