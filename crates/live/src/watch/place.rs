//! The address to watch: a page's link as `publish` prints it, or any WHEP address.

use url::Url;

use crate::whip::{Authorities, Endpoint, Token, WhipError};

/// The address to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The endpoint for the offer.
    pub(super) whep: Endpoint,
    /// The endpoints that the page uses: what is published, and the publisher's clock. Only Thalweg's page has them.
    pub(super) about: Option<Endpoint>,
    pub(super) clock: Option<Endpoint>,
    /// True if the address was given as a page's link.
    pub(super) is_page: bool,
    url: Url,
}

impl Place {
    /// An address without a scheme is by `http`. One ending in `/` is a page's link; any other is a WHEP address, and if it is
    /// `/whep` or `/whep/NAME`, it may be one of Thalweg's. A token may be in the link (`#token=` or `?token=`), as on the
    /// page, or in `token`; it is sent as a bearer token and never printed. `channel` and `scheme` are for pages: which of
    /// several things to watch, and which sender to request.
    ///
    /// # Errors
    /// [`WhipError::Address`] if it is no address of a server, and [`WhipError::Token`] if the token is malformed.
    pub fn new(
        link: &str,
        token: Option<Token>,
        channel: Option<&str>,
        scheme: Option<&str>,
    ) -> Result<Place, WhipError> {
        let wrong = |why: &str| WhipError::Address { address: without_query(link), why: why.into() };
        // As browsers read it: what has no scheme is by `http`.
        let whole = if link.contains("://") { link.to_owned() } else { format!("http://{link}") };
        let mut url = Url::parse(&whole).map_err(|error| {
            wrong(&format!("{error}; give the link of a page or a WHEP address, such as http://127.0.0.1:8080/"))
        })?;
        let fragment = url.fragment().unwrap_or_default().as_bytes();
        let mut pairs = form_urlencoded::parse(fragment).chain(url.query_pairs());
        let shown = pairs.find(|(name, _)| name == "token").map(|(_, value)| value.into_owned());
        let token = match (token, shown) {
            (Some(token), _) => Some(token),
            (None, shown) => shown.map(|shown| shown.parse()).transpose()?,
        };
        let others: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "token")
            .map(|(n, v)| (n.into_owned(), v.into_owned()))
            .collect();
        url.set_query(None);
        url.set_fragment(None);
        let is_page = url.path().ends_with('/');
        let root = if is_page { Some(url.clone()) } else { root_of(&url) };
        let mut whep = url.clone();
        if is_page {
            whep.set_path(&format!("{}whep{}", url.path(), channel.map_or(String::new(), |name| format!("/{name}"))));
        } else if channel.is_some() {
            return Err(wrong("a WHEP address has its channel in it already; name the channel with a page's link"));
        }
        let asked = scheme.map(|scheme| ("scheme".to_owned(), scheme.to_owned()));
        for (name, value) in others.into_iter().chain(asked) {
            whep.query_pairs_mut().append_pair(&name, &value);
        }
        let beside = |name: &str| match &root {
            Some(root) => {
                let mut at = root.clone();
                at.set_path(&format!("{}{name}", root.path()));
                Endpoint::new(at.as_str(), token.clone()).map(Some)
            }
            None => Ok(None),
        };
        Ok(Place {
            whep: Endpoint::new(whep.as_str(), token.clone())?,
            about: beside("about")?,
            clock: beside("clock")?,
            is_page,
            url,
        })
    }

    /// The same, with servers by `https` authenticated by `authorities` ([`Endpoint::known_by`]).
    pub fn known_by(self, authorities: &Authorities) -> Place {
        let known = |endpoint: Endpoint| endpoint.known_by(authorities.clone());
        Place { whep: known(self.whep), about: self.about.map(known), clock: self.clock.map(known), ..self }
    }

    /// Returns true if the token crosses a network by `http` ([`Endpoint::shows_token`]).
    pub fn shows_token(&self) -> bool {
        self.whep.shows_token()
    }

    /// The host's addresses, as resolved by the system.
    pub(super) fn addresses(&self) -> std::io::Result<Vec<std::net::SocketAddr>> {
        self.url.socket_addrs(|| None)
    }
}

/// The address before `/whep` or `/whep/NAME`.
fn root_of(url: &Url) -> Option<Url> {
    let path = url.path();
    let above = match path.rsplit_once('/')? {
        (above, "whep") => above,
        (above, _) => above.strip_suffix("/whep")?,
    };
    let mut root = url.clone();
    root.set_path(&format!("{above}/"));
    Some(root)
}

/// The address without its query, which may contain a token.
fn without_query(link: &str) -> String {
    link.split(['?', '#']).next().unwrap_or_default().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(link: &str, channel: Option<&str>, scheme: Option<&str>) -> (String, Option<String>) {
        let place = Place::new(link, None, channel, scheme).unwrap();
        (place.whep.to_string(), place.about.map(|about| about.to_string()))
    }

    #[test]
    fn a_pages_link_leads_to_its_whep_address_and_the_token_is_in_none() {
        let about = |at: &str| Some(at.to_owned());
        let cases = [
            (("http://a:8080/?token=abc", None, None), ("http://a:8080/whep", about("http://a:8080/about"))),
            (("http://a:8080/#token=abc", None, None), ("http://a:8080/whep", about("http://a:8080/about"))),
            (("http://a:8080", Some("left"), None), ("http://a:8080/whep/left", about("http://a:8080/about"))),
            (("localhost:8080", None, None), ("http://localhost:8080/whep", about("http://localhost:8080/about"))),
            (("a:8080/#token=abc", None, None), ("http://a:8080/whep", about("http://a:8080/about"))),
            (("http://a/x/", None, Some("gcc")), ("http://a/x/whep?scheme=gcc", about("http://a/x/about"))),
            (("http://a/whep?token=t&q=1", None, None), ("http://a/whep?q=1", about("http://a/about"))),
            (("https://a/x/whep/left", None, None), ("https://a/x/whep/left", about("https://a/x/about"))),
            (("https://a/live/7", None, None), ("https://a/live/7", None)),
        ];
        for ((link, channel, scheme), (whep, about)) in cases {
            assert_eq!(addresses(link, channel, scheme), (whep.to_owned(), about), "{link}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_the_token_is_not_retransmitted() {
        for link in ["a page?token=secret", "rtmp://a/?token=secret", "http://a/whep/x/?token=two words secret"] {
            let error = Place::new(link, None, None, None).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(Place::new("http://a/whep", None, Some("left"), None).unwrap_err().to_string().contains("channel"));
    }
}
