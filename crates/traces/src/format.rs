//! The formats and their names.

use std::fmt;
use std::str::FromStr;

/// A format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Mahimahi's: a time in milliseconds for each delivery opportunity.
    Mahimahi,
    /// A time and a rate in columns of numbers without a header.
    Columns,
    /// One rate a second, with or without the number of the second before it.
    Seconds,
    /// Comma-separated values with a header that names the units.
    Csv,
    /// A packet capture, to which a link is fitted.
    Capture,
}

impl Format {
    /// Every format with its names in options and its name in output.
    pub(crate) const ALL: [(Format, &'static [&'static str], &'static str); 5] = [
        (Format::Mahimahi, &["mahimahi"], "Mahimahi's times of delivery opportunities"),
        (Format::Columns, &["columns"], "times and rates in columns"),
        (Format::Seconds, &["seconds"], "one rate a second"),
        (Format::Csv, &["csv"], "comma-separated values"),
        (Format::Capture, &["pcap", "capture"], "a packet capture"),
    ];
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let found = Format::ALL.iter().find(|(_, names, _)| names.contains(&text));
        found.map(|(format, ..)| *format).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(_, names, _)| names[0]).collect();
            format!("unknown format '{text}': expected one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Format::ALL.iter().find(|(format, ..)| format == self);
        f.write_str(found.map_or("", |(.., title)| title))
    }
}
