//! A reader of one format, and what it makes of a file.

use thalweg_netsim::Trace;
use thalweg_units::Span;

use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;

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
    /// Its text, without a byte order mark.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub(crate) fn text(self) -> Result<&'a str, ReadError> {
        let text = std::str::from_utf8(self.bytes).map_err(|_| {
            ReadError::unclear("neither text nor a packet capture: traces are text, captures pcap or pcapng")
        })?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
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
