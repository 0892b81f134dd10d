//! Files that are no link or are not read yet, refused by their own name with the way out.

use crate::error::ReadError;
use crate::format::Format;
use crate::reader::{File, numbers};

/// Refuses what is known and not read.
pub(crate) fn refuse(file: File<'_>) -> Result<(), ReadError> {
    let begins = |bytes: &[u8]| file.bytes.starts_with(bytes);
    // Magic numbers of RFC 1952, RFC 8878, the .xz file format 1.2, PKWARE's APPNOTE, Apache Parquet, RFC 1740.
    let binary = [
        (&[0x1f, 0x8b][..], "compressed by gzip: unpack it first (gunzip -k FILE)"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "compressed by zstd: unpack it first (zstd -d FILE)"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "compressed by xz: unpack it first (xz -dk FILE)"),
        (b"PK\x03\x04", "a zip archive: unpack it first (unzip FILE)"),
        (b"PAR1", "a Parquet file: save the columns of time and rate as comma-separated values"),
        (&[0x00, 0x05, 0x16, 0x07], "a Mac's companion file: read the one without ._"),
    ];
    if let Some((_, name)) = binary.iter().find(|(magic, _)| begins(magic)) {
        return Err(ReadError::unclear(*name));
    }
    let Ok(text) = std::str::from_utf8(file.bytes) else { return Ok(()) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start_matches('\u{1e}').trim_start();
    let first = text.lines().next().unwrap_or_default();
    let head = || text.lines().take(HEAD);
    // The lines of iperf begin with a number in brackets, as a list does.
    let name = if head().any(|line| line.contains("icmp_seq=") && line.contains("time=")) {
        "the output of ping, which has no rates"
    } else if head().any(|line| line.contains(" sec ") && line.contains("bits/sec")) {
        "the output of iperf"
    } else if first.split_once(',').is_some_and(|(rate, unit)| numbers(rate).is_some() && unit.contains("bits/s")) {
        "a rate and its unit a line"
    } else if is_json(text) {
        "JSON"
    } else {
        return Ok(());
    };
    let formats: Vec<&str> = Format::ALL.iter().map(|(.., title)| *title).collect();
    Err(ReadError::unclear(format!(
        "{name}: not read as a link, which is one of {}; write its times and rates as comma-separated values under the \
         header time_s,rate_mbps",
        formats.join(", ")
    )))
}

/// Lines in which the output of a program is recognised.
const HEAD: usize = 20;

/// Returns true if a text begins as JSON does; a bracket begins the lines of some logs too, before a date.
fn is_json(text: &str) -> bool {
    match text.strip_prefix('[').map(str::trim_start) {
        Some(inside) => {
            let after = inside.trim_start_matches(|letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter));
            let is_list = after.len() < inside.len() && after.trim_start().starts_with([',', ']']);
            inside.starts_with(['{', '[', '"']) || is_list
        }
        None => text.starts_with('{'),
    }
}
