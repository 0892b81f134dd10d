//! Parameters that both endpoints signal before a connection can be established.

use std::fmt::{self, Write};
use std::str::FromStr;

/// The SHA-256 of the certificate that an endpoint shows in its DTLS handshake (RFC 8122 section 5).
///
/// Written as in SDP: `sha-256 AB:CD:...`, 32 pairs of digits. Parsed in either case: RFC 8122 requires upper case, but
/// some implementations do not follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint with this digest.
    pub const fn new(digest: [u8; 32]) -> Fingerprint {
        Fingerprint(digest)
    }

    /// The digest.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha-256")?;
        for (index, byte) in self.0.iter().enumerate() {
            f.write_char(if index == 0 { ' ' } else { ':' })?;
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

/// Why a text is not a [`Fingerprint`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintError {
    /// Another hash function: only SHA-256, which WebRTC makes mandatory (RFC 8827 section 6.5), is supported here.
    #[error("fingerprint is by {0}, must be by sha-256: let the peer make its fingerprint with sha-256")]
    Hash(String),
    /// Not 32 pairs of hexadecimal digits with colons between them.
    #[error("fingerprint {0:?} must be sha-256, a space, and 32 pairs of hexadecimal digits with colons between them")]
    Digest(String),
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let wrong = || FingerprintError::Digest(excerpt(text));
        let (hash, digits) = text.trim().split_once(' ').ok_or_else(wrong)?;
        if !hash.eq_ignore_ascii_case("sha-256") {
            return Err(FingerprintError::Hash(excerpt(hash)));
        }
        let mut digest = [0; 32];
        let mut pairs = digits.trim().split(':');
        for byte in &mut digest {
            let pair =
                pairs.next().filter(|pair| pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(pair.ok_or_else(wrong)?, 16).map_err(|_| wrong())?;
        }
        if pairs.next().is_some() { Err(wrong()) } else { Ok(Fingerprint(digest)) }
    }
}

/// An excerpt of untrusted text for an error message: 120 characters.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX: usize = 120;
    let mut out: String = text.chars().take(MAX).collect();
    if out.len() < text.len() {
        out.push_str("...");
    }
    out
}

/// ICE credentials, which authenticate an agent's connectivity checks (RFC 8839 section 5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user name fragment: 4 to 256 letters, digits, `+` and `/`.
    pub ufrag: String,
    /// The secret, known only to recipients of the signalling: 22 to 256 of the same characters.
    pub password: String,
}

/// Which side starts the DTLS handshake (RFC 8842).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DtlsRole {
    /// We start it: `a=setup:active`.
    Client,
    /// The peer starts it: `a=setup:passive`.
    Server,
}

/// The peer's parameters, from signalling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// The credentials of its checks.
    pub credentials: Credentials,
    /// The fingerprint its certificate must have.
    pub fingerprint: Fingerprint,
    /// Its candidates: the values of `a=candidate` lines, `candidate:...`; more may follow (trickle).
    pub candidates: Vec<String>,
    /// True if the peer is lite (`a=ice-lite`) and only answers checks: this agent is then controlling, whichever side
    /// offered.
    pub lite: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_written_and_in_small_letters() {
        let fingerprint = Fingerprint::new(std::array::from_fn(|index| index as u8 * 8 + 7));
        let text = fingerprint.to_string();
        assert!(
            text.starts_with("sha-256 07:0F:17:") && text.ends_with(":FF") && text.len() == 8 + 32 * 3 - 1,
            "{text}"
        );
        assert_eq!(text.parse(), Ok(fingerprint));
        assert_eq!(text.to_lowercase().parse(), Ok(fingerprint));
    }

    #[test]
    fn what_is_no_fingerprint_is_refused_with_what_was_found() {
        let good = Fingerprint::new([1; 32]).to_string();
        let bad = [
            String::new(),
            good[..good.len() - 3].to_owned(),
            format!("{good}:01"),
            good.replacen("01:", "+1:", 1),
            good.replacen("01:", "1:", 1),
        ];
        for text in bad {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError::Digest(text)));
        }
        let other = good.replace("sha-256", "sha-512").parse::<Fingerprint>().unwrap_err();
        assert!(other.to_string().contains("sha-512"), "{other}");
        let long = "x".repeat(100_000).parse::<Fingerprint>().unwrap_err().to_string();
        assert!(long.len() < 400, "{}", long.len());
    }
}
