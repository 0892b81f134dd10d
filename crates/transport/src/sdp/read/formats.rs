//! Payload types: `a=rtpmap`, `a=fmtp`, `a=rtcp-fb`.

use std::collections::BTreeMap;

use super::document::Section;
use crate::sdp::negotiated::{Feedback, Kinds};

/// A payload type with its attributes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format<'a> {
    pub(crate) payload_type: u8,
    /// The codec and its clock rate: `VP8/90000`, `opus/48000/2`; compared case-insensitively.
    pub(crate) map: &'a str,
    /// Parameters, `name=value` separated by semicolons.
    pub(crate) parameters: &'a str,
    pub(crate) feedback: Feedback,
}

impl Format<'_> {
    pub(crate) fn is(&self, map: &str) -> bool {
        self.map.eq_ignore_ascii_case(map)
    }

    /// The value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self.parameters.split(';').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// The payload types of a section, the preferred one first; without those that have no codec, and without 64 to 95,
/// which cannot be distinguished from RTCP on the same port (RFC 5761 section 4).
pub(crate) fn formats<'a>(section: &Section<'a>) -> Vec<Format<'a>> {
    let maps = by_number(section.values("rtpmap"));
    let parameters = by_number(section.values("fmtp"));
    let mut feedback: BTreeMap<&str, Feedback> = BTreeMap::new();
    for (number, kind) in section.values("rtcp-fb").filter_map(|line| line.split_once(' ')) {
        feedback.entry(number).or_default().add(kind.trim());
    }
    let everybody = feedback.get("*").copied().unwrap_or_default();
    let format = |number: &&'a str| {
        let payload_type = number.parse().ok().filter(|number| matches!(number, 0..=63 | 96..=127))?;
        let own = feedback.get(number).copied().unwrap_or_default();
        Some(Format {
            payload_type,
            map: maps.get(number)?,
            parameters: parameters.get(number).copied().unwrap_or_default(),
            feedback: own.or(everybody),
        })
    };
    section.media.media_name.formats.iter().map(String::as_str).filter_map(|number| format(&number)).collect()
}

fn by_number<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut found = BTreeMap::new();
    for (number, value) in lines.filter_map(|line| line.split_once(' ')) {
        found.entry(number).or_insert(value.trim());
    }
    found
}
