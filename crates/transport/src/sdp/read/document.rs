//! Splits an SDP into sections and lines.

use std::io::Cursor;

use rtc_sdp::description::common::Attribute;
use rtc_sdp::{MediaDescription, SessionDescription};
use thalweg_units::Rate;

use crate::parameters::excerpt;
use crate::sdp::{MAX_BYTES, MAX_SECTIONS, Place, SdpError};

/// A well-formed SDP within the size limits.
pub(crate) struct Document(SessionDescription);

impl Document {
    pub(crate) fn read(text: &str) -> Result<Document, SdpError> {
        if text.len() > MAX_BYTES {
            return Err(SdpError::TooLong { found: text.len(), max: MAX_BYTES });
        }
        let is_whole = |line: &str| line.as_bytes().get(1) == Some(&b'=') && !line.contains('\r');
        let is_line = |line: &str| line.trim_end().is_empty() || is_whole(line.trim_end());
        if let Some((index, line)) = text.split('\n').enumerate().find(|(_, line)| !is_line(line)) {
            let why = "a line is a letter, =, and a value, and ends with CRLF".to_owned();
            return Err(SdpError::Syntax { line: index + 1, found: excerpt(line.trim_end()), why });
        }
        let mut reader = Cursor::new(text.as_bytes());
        let description = SessionDescription::unmarshal(&mut reader).map_err(|error| {
            // Where the parser stopped: in the invalid line, or just after its end.
            let stopped = usize::try_from(reader.position()).unwrap_or(0).clamp(1, text.len().max(1)) - 1;
            let before = text.as_bytes().get(..stopped).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count();
            let found = excerpt(text.split('\n').nth(line).unwrap_or_default().trim_end());
            SdpError::Syntax { line: line + 1, found, why: excerpt(&error.to_string()) }
        })?;
        match description.media_descriptions.len() {
            0 => {
                Err(SdpError::Missing { place: Place::Session, needed: "section after it: offer video or audio (m=)" })
            }
            found if found > MAX_SECTIONS => Err(SdpError::TooManySections { found, max: MAX_SECTIONS }),
            _ => Ok(Document(description)),
        }
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = Section<'_>> {
        let of = |(index, media)| Section { index, media, session: &self.0 };
        self.0.media_descriptions.iter().enumerate().map(of)
    }

    /// The MIDs of sections on one transport: each `a=group:BUNDLE` (RFC 9143), starting with the section that
    /// describes it.
    pub(crate) fn bundles(&self) -> impl Iterator<Item = Vec<&str>> {
        let groups = self.0.attributes.iter().filter(|attribute| attribute.key == "group");
        groups.filter_map(|group| {
            let mut words = group.value.as_deref()?.split_whitespace();
            (words.next()? == "BUNDLE").then(|| words.collect())
        })
    }

    /// Returns true if one-byte and two-byte header extensions may be mixed in a stream (RFC 8285 section 6).
    pub(crate) fn allows_mixed(&self) -> bool {
        self.0.has_attribute("extmap-allow-mixed")
    }

    /// Returns true if the peer is lite and only answers checks.
    pub(crate) fn is_lite(&self) -> bool {
        self.0.has_attribute("ice-lite")
    }
}

/// A section: its own lines, and the session's lines that apply to it.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    pub(crate) index: usize,
    pub(crate) media: &'a MediaDescription,
    session: &'a SessionDescription,
}

impl<'a> Section<'a> {
    pub(crate) fn place(&self) -> Place {
        Place::Section { index: self.index, kind: excerpt(self.kind()) }
    }

    /// `video`, `audio`, `application`, ...
    pub(crate) fn kind(&self) -> &'a str {
        &self.media.media_name.media
    }

    /// Returns true if the section is rejected or closed: port 0 without being bundle-only.
    pub(crate) fn is_closed(&self) -> bool {
        self.media.media_name.port.value == 0 && !self.media.has_attribute("bundle-only")
    }

    /// Returns true for RTP by any of the names that must be accepted (RFC 8829 section 5.1.2): the fingerprint says
    /// that it goes over DTLS, `a=rtcp-fb` which feedback there is, and ICE finds the transport.
    pub(crate) fn is_rtp(&self) -> bool {
        const NAMES: [&str; 8] = [
            "RTP/AVP",
            "RTP/AVPF",
            "RTP/SAVP",
            "RTP/SAVPF",
            "TCP/DTLS/RTP/SAVP",
            "TCP/DTLS/RTP/SAVPF",
            "UDP/TLS/RTP/SAVP",
            "UDP/TLS/RTP/SAVPF",
        ];
        NAMES.contains(&self.protocol().as_str())
    }

    /// The protocol in the `m=` line.
    pub(crate) fn protocol(&self) -> String {
        self.media.media_name.protos.join("/")
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.media.has_attribute(key)
    }

    /// Values of the section's own lines of this type.
    pub(crate) fn values(&self, key: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        values(&self.media.attributes, key)
    }

    /// The first line of this type, in the section or else in the session.
    pub(crate) fn value(&self, key: &'static str) -> Option<&'a str> {
        self.inherited(key).next()
    }

    /// The section's lines of this type, or, if it has none, the session's.
    pub(crate) fn inherited(&self, key: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
        let from = if self.media.has_attribute(key) { &self.media.attributes } else { &self.session.attributes };
        values(from, key)
    }

    /// The section's MID: a token (RFC 8866) of at most 64 bytes.
    pub(crate) fn mid(&self) -> Result<&'a str, SdpError> {
        const MAX: usize = 64;
        let place = || self.place();
        let missing = || SdpError::Missing { place: place(), needed: "a=mid: name the section, as BUNDLE needs" };
        let mid = self.values("mid").next().ok_or_else(missing)?;
        if (1..=MAX).contains(&mid.len()) && mid.bytes().all(is_token) {
            return Ok(mid);
        }
        let needed = format!("a name of 1 to {MAX} letters, digits and marks");
        Err(SdpError::Wrong { place: place(), found: excerpt(&format!("a=mid:{mid}")), needed })
    }

    /// Directions of the peer: (it sends, it receives).
    pub(crate) fn sends_and_receives(&self) -> (bool, bool) {
        const DIRECTIONS: [(&str, (bool, bool)); 4] = [
            ("sendrecv", (true, true)),
            ("sendonly", (true, false)),
            ("recvonly", (false, true)),
            ("inactive", (false, false)),
        ];
        let of = |attributes: &[Attribute]| {
            attributes.iter().find_map(|line| Some(DIRECTIONS.iter().find(|(name, _)| *name == line.key)?.1))
        };
        of(&self.media.attributes).or_else(|| of(&self.session.attributes)).unwrap_or((true, true))
    }

    /// Max rate that the peer wants to receive: `b=TIAS` in bit/s (RFC 3890), else `b=AS` in kbit/s.
    pub(crate) fn limit(&self) -> Option<Rate> {
        let of =
            |kind: &str| self.media.bandwidth.iter().find(|line| !line.experimental && line.bandwidth_type == kind);
        let kilobits = || of("AS").map(|line| line.bandwidth.saturating_mul(1000));
        of("TIAS").map(|line| line.bandwidth).or_else(kilobits).map(Rate::from_bps)
    }
}

fn values<'a>(attributes: &'a [Attribute], key: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
    attributes.iter().filter(move |line| line.key == key).map(|line| line.value.as_deref().unwrap_or_default())
}

/// `token-char` of RFC 8866.
fn is_token(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x27 | 0x2a..=0x2b | 0x2d..=0x2e | 0x30..=0x39 | 0x41..=0x5a | 0x5e..=0x7e)
}
