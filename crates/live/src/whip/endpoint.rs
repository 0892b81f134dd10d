//! The address of a server, and the token for it.

use std::fmt;
use std::str::FromStr;

use url::{Host, Origin, Url};

use super::authorities::Authorities;
use super::error::WhipError;

/// A publisher's bearer token: `Authorization: Bearer ...` (RFC 6750). It appears in no error and no log.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

impl FromStr for Token {
    type Err = WhipError;

    /// Letters, digits, and `-._~+/=`, as in RFC 6750 section 2.1, though in any order.
    fn from_str(text: &str) -> Result<Token, WhipError> {
        let text = text.trim();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_allowed) {
            Err(WhipError::Token)
        } else {
            Ok(Token(text.to_owned()))
        }
    }
}

/// An address to publish to or to watch from, the token for it, and the authorities for its certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) authorities: Option<Authorities>,
    token: Option<Token>,
    /// The origin that the token may be sent to.
    home: Origin,
}

impl Endpoint {
    /// An endpoint at an `http` or `https` address, without user name and password in it.
    ///
    /// # Errors
    /// [`WhipError::Address`] for any other.
    pub fn new(url: &str, token: Option<Token>) -> Result<Endpoint, WhipError> {
        let wrong = |why: String| WhipError::Address { address: url.to_owned(), why };
        let mut parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        check(&parsed).map_err(wrong)?;
        parsed.set_fragment(None);
        let home = parsed.origin();
        Ok(Endpoint { url: parsed, authorities: None, token, home })
    }

    /// The same, with servers by `https` authenticated by `authorities` and no others.
    pub fn known_by(self, authorities: Authorities) -> Endpoint {
        Endpoint { authorities: Some(authorities), ..self }
    }

    /// The token, if it may be sent: only within the origin that it was given for (scheme, host and port).
    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref().filter(|_| self.url.origin() == self.home)
    }

    /// Returns true if the token will be readable on the network: it is to be sent by `http`, to another machine. RFC
    /// 9725 section 4.7 requires `https`.
    pub fn shows_token(&self) -> bool {
        self.token().is_some() && self.url.scheme() == "http" && !is_loopback(&self.url)
    }

    /// The endpoint at `location`, absolute or relative to this one.
    pub(super) fn follow(&self, location: &str) -> Result<Endpoint, WhipError> {
        let wrong = |why: String| WhipError::Address { address: super::error::excerpt(location), why };
        let mut url = self.url.join(location).map_err(|error| wrong(error.to_string()))?;
        check(&url).map_err(wrong)?;
        if self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(wrong("it leads from https to http; let the server name an https address".to_owned()));
        }
        url.set_fragment(None);
        Ok(Endpoint { url, ..self.clone() })
    }
}

/// The address, without the token.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

fn check(url: &Url) -> Result<(), String> {
    match url.scheme() {
        "http" | "https" => {}
        other => return Err(format!("it is of scheme {other}, must be https or http")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a name or a password before the host; give a token instead".to_owned());
    }
    Ok(())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::new(url, Some("secret".parse().expect("a token"))).expect("an address")
    }

    #[test]
    fn a_location_is_followed_wherever_it_leads_and_the_token_stays_in_its_origin() {
        let base = endpoint("https://media.example:8443/live/whip?room=1");
        let cases = [
            ("/session/7", "https://media.example:8443/session/7", true),
            ("7", "https://media.example:8443/live/7", true),
            ("?id=7", "https://media.example:8443/live/whip?id=7", true),
            ("https://media.example:8443/s#x", "https://media.example:8443/s", true),
            ("//other.example/s", "https://other.example/s", false),
            ("https://media.example/s", "https://media.example/s", false),
        ];
        for (location, url, keeps) in cases {
            let followed = base.follow(location).expect(location);
            assert_eq!((followed.url.as_str(), followed.token().is_some()), (url, keeps), "{location}");
        }
        let away_and_back = base.follow("//other.example/").and_then(|other| other.follow("//media.example:8443/s"));
        assert!(away_and_back.expect("an address").token().is_some());
        for location in
            ["http://media.example:8443/s", "ftp://media.example/s", "https://me:you@media.example/", "https://"]
        {
            assert!(matches!(base.follow(location), Err(WhipError::Address { .. })), "{location}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_is_refused_with_what_is_needed() {
        for (url, needed) in
            [("rtmp://a/b", "https or http"), ("https://me:you@a/b", "token"), ("a/b", "relative"), ("", "relative")]
        {
            let error = Endpoint::new(url, None).unwrap_err().to_string();
            assert!(error.contains(needed), "{url}: {error}");
        }
    }

    #[test]
    fn a_token_is_in_no_text_and_has_no_lines() {
        let text = format!("{:?}", endpoint("https://media.example/"));
        assert!(!text.contains("secret"), "{text}");
        for text in ["", "two words", "line\r\nX: y", "s\u{e9}cret"] {
            let error = text.parse::<Token>().unwrap_err().to_string();
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_token_is_shown_by_http_to_another_machine_only() {
        for (url, shows) in [
            ("http://media.example/", true),
            ("http://192.0.2.1/", true),
            ("https://media.example/", false),
            ("http://127.0.0.1:9/", false),
            ("http://[::1]/", false),
            ("http://localhost/", false),
        ] {
            assert_eq!(endpoint(url).shows_token(), shows, "{url}");
        }
        assert!(!Endpoint::new("http://media.example/", None).expect("an address").shows_token());
    }
}
