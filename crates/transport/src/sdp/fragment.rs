//! Signalling after offer and answer: trickled candidates, and the credentials of an ICE restart
//! (`application/trickle-ice-sdpfrag`, RFC 8840 section 9).

use std::fmt;

use super::error::{Place, SdpError};
use super::{MAX_BYTES, MAX_CANDIDATES, read};
use crate::parameters::{Credentials, excerpt};

/// The media type of a fragment.
pub const MEDIA_TYPE: &str = "application/trickle-ice-sdpfrag";

/// A fragment about one transport. [`Display`](fmt::Display) writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// True if its sender is lite and only answers checks.
    pub lite: bool,
    /// MIDs of the sections on the transport; empty if not given.
    pub bundle: Vec<String>,
    /// The kind of the section that describes the transport: `video` or `audio`; empty if the session does.
    pub kind: String,
    /// MID of that section; empty without one.
    pub mid: String,
    /// Its sender's credentials: new ones mean a restart.
    pub credentials: Credentials,
    /// Values of `a=candidate` lines, `candidate:...`.
    pub candidates: Vec<String>,
    /// True if there will be no more candidates.
    pub ended: bool,
}

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lite {
            f.write_str("a=ice-lite\r\n")?;
        }
        f.write_str("a=ice-options:trickle\r\n")?;
        if !self.bundle.is_empty() {
            write!(f, "a=group:BUNDLE {}\r\n", self.bundle.join(" "))?;
        }
        if !self.kind.is_empty() {
            // The payload type has no meaning here (RFC 8840 section 9).
            write!(f, "m={} 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:{}\r\n", self.kind, self.mid)?;
        }
        write!(f, "a=ice-ufrag:{}\r\na=ice-pwd:{}\r\n", self.credentials.ufrag, self.credentials.password)?;
        for candidate in &self.candidates {
            write!(f, "a={candidate}\r\n")?;
        }
        if self.ended {
            f.write_str("a=end-of-candidates\r\n")?;
        }
        Ok(())
    }
}

impl Fragment {
    /// Parses a fragment: its first section, which describes the transport when bundled. Credentials may precede it, and
    /// a session with one transport needs no section for them: whip-whep 1.2.0 restarts so. Unknown lines are ignored.
    ///
    /// # Errors
    /// [`SdpError`], if it is too long, has an invalid line, or lacks the credentials or the section's MID.
    pub fn read(text: &str) -> Result<Fragment, SdpError> {
        if text.len() > MAX_BYTES {
            return Err(SdpError::TooLong { found: text.len(), max: MAX_BYTES });
        }
        let (mut kind, mut mid, mut ufrag, mut password) = (None, None, None, None);
        let (mut lite, mut ended, mut bundle, mut candidates) = (false, false, Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line = line.trim();
            if let Some(media) = line.strip_prefix("m=") {
                if kind.is_some() {
                    break;
                }
                kind = media.split_whitespace().next();
                continue;
            }
            let Some(attribute) = line.strip_prefix("a=") else {
                let why = "a fragment has lines a= and m= only".to_owned();
                return Err(SdpError::Syntax { line: index + 1, found: excerpt(line), why });
            };
            match attribute.split_once(':').unwrap_or((attribute, "")) {
                ("ice-ufrag", value) => ufrag = Some(value),
                ("ice-pwd", value) => password = Some(value),
                ("mid", value) => mid = Some(value),
                ("group", value) => bundle = value.split_whitespace().skip(1).map(str::to_owned).collect(),
                ("candidate", _) if candidates.len() < MAX_CANDIDATES => candidates.push(attribute.to_owned()),
                ("end-of-candidates", _) => ended = true,
                ("ice-lite", _) => lite = true,
                _ => {}
            }
        }
        let missing = |place, needed| move || SdpError::Missing { place, needed };
        let place = || kind.map_or(Place::Session, |kind| Place::Section { index: 0, kind: excerpt(kind) });
        let mid = if kind.is_some() { mid.ok_or_else(missing(place(), "a=mid"))? } else { "" };
        let ufrag = ufrag.ok_or_else(missing(place(), "a=ice-ufrag"))?;
        let password = password.ok_or_else(missing(place(), "a=ice-pwd"))?;
        let credentials = read::credentials(place(), ufrag, password)?;
        let (kind, mid) = (kind.unwrap_or_default().to_owned(), mid.to_owned());
        Ok(Fragment { lite, bundle, kind, mid, credentials, candidates, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server's answer to a restart as in RFC 9725 section 4.3.3, with our own credentials.
    const RESTART: &str = "a=ice-lite\r\na=ice-options:trickle ice2\r\na=group:BUNDLE 0 1\r\n\
        m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=ice-ufrag:Tq4b\r\na=ice-pwd:0123456789abcdefABCDEF\r\n\
        a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host\r\na=end-of-candidates\r\n";

    #[test]
    fn what_a_server_says_to_a_restart_is_read() {
        let fragment = Fragment::read(RESTART).expect("a fragment");
        assert_eq!(fragment.credentials.ufrag, "Tq4b");
        assert_eq!(fragment.bundle, ["0", "1"]);
        assert_eq!(fragment.candidates, ["candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host"]);
        assert!(fragment.lite && fragment.ended);
        assert_eq!(Fragment::read(&fragment.to_string()), Ok(fragment));
    }

    #[test]
    fn of_several_sections_the_first_counts_and_the_session_speaks_for_it() {
        let text = "a=ice-ufrag:abcd\na=ice-pwd:0123456789abcdefABCDEF\nm=video 9 RTP/AVP 0\na=mid:v\n\
                    m=audio 9 RTP/AVP 0\na=mid:a\na=ice-ufrag:other\n";
        let fragment = Fragment::read(text).expect("a fragment");
        assert_eq!((fragment.mid.as_str(), fragment.credentials.ufrag.as_str()), ("v", "abcd"));
    }

    #[test]
    fn credentials_without_a_section_are_of_the_session() {
        let text = "a=ice-ufrag:nEwU\r\na=ice-pwd:ZZZZ456789abcdefABCDEF01\r\n";
        let fragment = Fragment::read(text).expect("a fragment");
        assert_eq!((fragment.kind.as_str(), fragment.mid.as_str()), ("", ""));
        assert_eq!(fragment.credentials.ufrag, "nEwU");
        assert_eq!(fragment.to_string(), format!("a=ice-options:trickle\r\n{text}"));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (line, named) in [("a=mid", "a=mid"), ("a=ice-u", "a=ice-ufrag"), ("a=ice-p", "a=ice-pwd")] {
            let text: String =
                RESTART.lines().filter(|kept| !kept.starts_with(line)).map(|kept| kept.to_owned() + "\n").collect();
            let error = Fragment::read(&text).unwrap_err();
            assert!(matches!(error, SdpError::Missing { needed, .. } if needed.contains(named)), "{error}");
        }
        let error = Fragment::read(&format!("{RESTART}v=0\r\n")).unwrap_err();
        assert!(error.to_string().contains("line 10") && error.to_string().contains("v=0"), "{error}");
        let error = Fragment::read(&"a".repeat(MAX_BYTES + 1)).unwrap_err();
        assert_eq!(error, SdpError::TooLong { found: MAX_BYTES + 1, max: MAX_BYTES });
    }
}
