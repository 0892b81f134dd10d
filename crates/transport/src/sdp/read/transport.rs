//! The peer's addresses and authentication: ICE (RFC 8839), DTLS (RFC 8842, RFC 8122).

use super::document::{Document, Section};
use crate::parameters::{Credentials, DtlsRole, Fingerprint, Remote, excerpt};
use crate::sdp::{MAX_CANDIDATES, Place, SdpError};

/// The peer, according to the section that describes the bundle's transport.
pub(crate) fn remote(document: &Document, tagged: &Section<'_>) -> Result<Remote, SdpError> {
    let missing = |needed| move || SdpError::Missing { place: tagged.place(), needed };
    let ufrag = tagged.value("ice-ufrag").ok_or_else(missing("a=ice-ufrag: send the SDP of a WebRTC connection"))?;
    let password = tagged.value("ice-pwd").ok_or_else(missing("a=ice-pwd: send the SDP of a WebRTC connection"))?;
    Ok(Remote {
        credentials: credentials(tagged.place(), ufrag, password)?,
        fingerprint: fingerprint(tagged)?,
        candidates: candidates(tagged),
        lite: document.is_lite(),
    })
}

/// ICE credentials, if they have the lengths of RFC 8839 section 5.4. Any visible characters are accepted except the
/// colon, which separates names in a check: some implementations use `-` and `_`, which the RFC does not allow.
pub(crate) fn credentials(place: Place, ufrag: &str, password: &str) -> Result<Credentials, SdpError> {
    for (key, value, min) in [("ice-ufrag", ufrag, 4), ("ice-pwd", password, 22)] {
        if !(min..=256).contains(&value.len()) || !value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':') {
            let needed = format!("{min} to 256 letters, digits, + and /");
            return Err(SdpError::Wrong { place, found: excerpt(&format!("a={key}:{value}")), needed });
        }
    }
    Ok(Credentials { ufrag: ufrag.to_owned(), password: password.to_owned() })
}

/// The first SHA-256 fingerprint; a peer may give several, by several hash functions (RFC 8122 section 5.1).
fn fingerprint(tagged: &Section<'_>) -> Result<Fingerprint, SdpError> {
    let mut first = None;
    for line in tagged.inherited("fingerprint") {
        match line.parse() {
            Ok(fingerprint) => return Ok(fingerprint),
            Err(source) => first = first.or(Some(source)),
        }
    }
    Err(match first {
        Some(source) => SdpError::Fingerprint { place: tagged.place(), source },
        None => SdpError::Missing {
            place: tagged.place(),
            needed: "a=fingerprint: without one the peer's certificate cannot be checked, and media is not sent",
        },
    })
}

/// Candidates of component 1; with RTCP on the same port there is no other component, although Pion lists one.
fn candidates(tagged: &Section<'_>) -> Vec<String> {
    let lines = tagged.values("candidate").filter(|line| line.split_whitespace().nth(1) == Some("1"));
    lines.take(MAX_CANDIDATES).map(|line| format!("candidate:{line}")).collect()
}

/// The DTLS role left to this endpoint: `preferred` where the peer offers both (RFC 8842 section 5).
pub(crate) fn dtls_role(tagged: &Section<'_>, preferred: Option<DtlsRole>) -> Result<DtlsRole, SdpError> {
    let needed = match preferred {
        Some(_) => "a=setup:actpass, active or passive",
        None => "a=setup:active or passive, as an answer chooses one",
    };
    let Some(setup) = tagged.value("setup") else {
        return Err(SdpError::Missing { place: tagged.place(), needed });
    };
    match (setup, preferred) {
        ("actpass", Some(role)) => Ok(role),
        ("active", _) => Ok(DtlsRole::Server),
        ("passive", _) => Ok(DtlsRole::Client),
        _ => {
            let found = excerpt(&format!("a=setup:{setup}"));
            Err(SdpError::Wrong { place: tagged.place(), found, needed: needed.to_owned() })
        }
    }
}
