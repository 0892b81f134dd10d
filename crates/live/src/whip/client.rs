//! HTTP requests, one at a time, limited in time and size.

use std::io::Read;
use std::time::Duration;

use thalweg_units::{Bytes, ConfigError, Span};
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use ureq::http::{HeaderMap, Request, Response};
use ureq::tls::RootCerts;
use ureq::{Agent, AsSendBody, Body};

use super::authorities::tls;
use super::endpoint::Endpoint;
use super::error::{WhipError, excerpt};

/// Limits of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Timeout of a request, from the name lookup to the last byte of the answer; above zero.
    pub timeout: Span,
    /// Maximum number of redirections.
    pub redirections: usize,
    /// Maximum size of an answer; for SDP that is [`MAX_BYTES`](thalweg_transport::sdp::MAX_BYTES).
    pub answer: Bytes,
}

impl Default for Config {
    fn default() -> Config {
        let answer = Bytes::new(thalweg_transport::sdp::MAX_BYTES as u64);
        Config { timeout: Span::from_secs(10), redirections: 5, answer }
    }
}

impl Config {
    /// Builds the client. TLS is rustls's, with the authorities that an [`Endpoint`] names or else Mozilla's; proxies
    /// are those of the environment.
    ///
    /// # Errors
    /// [`ConfigError`] if `timeout` is not above zero.
    pub fn build(self) -> Result<Client, ConfigError> {
        let timeout = u64::try_from(self.timeout.as_nanos()).ok().filter(|nanos| *nanos > 0);
        let timeout = timeout.ok_or_else(|| ConfigError::out_of_range("timeout", self.timeout, "above zero"))?;
        let agent = Agent::config_builder()
            .timeout_global(Some(Duration::from_nanos(timeout)))
            .http_status_as_error(false)
            .max_redirects(0)
            // Requests are minutes apart: the server would usually have closed a connection that is kept open.
            .max_idle_connections(0)
            .user_agent(concat!("thalweg/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls(RootCerts::WebPki))
            .build()
            .new_agent();
        Ok(Client { agent, config: self })
    }
}

/// A client of WHIP and WHEP servers. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    config: Config,
}

/// A request without its address.
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    /// The body's media type, and the body.
    pub(super) body: Option<(&'static str, &'a str)>,
    /// The header `If-Match`.
    pub(super) condition: Option<&'a str>,
}

/// The response: the endpoint that answered, after redirections, and its answer.
pub(super) struct Reply {
    pub(super) from: Endpoint,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: impl ureq::http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type of the body in lower case, without parameters.
    pub(super) fn media_type(&self) -> String {
        let value = self.header(CONTENT_TYPE).unwrap_or_default();
        excerpt(value.split(';').next().unwrap_or_default()).to_ascii_lowercase()
    }

    /// This response as an error.
    pub(super) fn refused(self, method: &'static str) -> WhipError {
        let seconds = self.header(RETRY_AFTER).and_then(|value| value.trim().parse::<u32>().ok());
        let retry_after = seconds.map(|seconds| Span::from_secs(i64::from(seconds)));
        let address = self.from.url.to_string();
        WhipError::Refused { method, address, status: self.status, text: excerpt(&self.body), retry_after }
    }

    pub(super) fn unexpected(&self, method: &'static str, found: String, needed: &'static str) -> WhipError {
        WhipError::Unexpected { method, address: self.from.url.to_string(), found, needed }
    }
}

impl Client {
    /// Gets a text from the endpoint, with the endpoint's token.
    ///
    /// # Errors
    /// [`WhipError`], for any status that is not a success too.
    pub fn get(&self, endpoint: &Endpoint) -> Result<String, WhipError> {
        const METHOD: &str = "GET";
        let reply = self.ask(endpoint, &Ask { method: METHOD, body: None, condition: None })?;
        if (200..300).contains(&reply.status) { Ok(reply.body) } else { Err(reply.refused(METHOD)) }
    }

    /// Sends the request, and follows redirections.
    pub(super) fn ask(&self, endpoint: &Endpoint, ask: &Ask<'_>) -> Result<Reply, WhipError> {
        let mut at = endpoint.clone();
        for _ in 0..=self.config.redirections {
            let reply = self.ask_once(&at, ask)?;
            match (reply.status, reply.header(LOCATION)) {
                (307 | 308, Some(location)) => at = at.follow(location)?,
                (301..=303, Some(_)) => {
                    let needed = "307 or 308, which keep the method (RFC 9725 section 4.5)";
                    return Err(reply.unexpected(ask.method, format!("{} with another address", reply.status), needed));
                }
                _ => return Ok(reply),
            }
        }
        Err(WhipError::Redirected { address: at.url.to_string(), max: self.config.redirections })
    }

    fn ask_once(&self, at: &Endpoint, ask: &Ask<'_>) -> Result<Reply, WhipError> {
        let (method, address) = (ask.method, || at.url.to_string());
        let mut request = Request::builder().method(method).uri(at.url.as_str());
        if let Some(token) = at.token() {
            request = request.header(AUTHORIZATION, token.header());
        }
        if let Some(condition) = ask.condition {
            request = request.header("If-Match", condition);
        }
        if let Some((kind, _)) = ask.body {
            request = request.header(CONTENT_TYPE, kind);
        }
        let invalid =
            |error: ureq::http::Error| WhipError::Unreachable { method, address: address(), why: error.to_string() };
        let sent = match ask.body {
            Some((_, body)) => self.run(at, request.body(body).map_err(invalid)?),
            None => self.run(at, request.body(()).map_err(invalid)?),
        };
        let mut response = sent.map_err(|error| self.failed(method, address(), &error))?;
        let body = self.read(method, address(), &mut response)?;
        let (parts, _) = response.into_parts();
        Ok(Reply { from: at.clone(), status: parts.status.as_u16(), headers: parts.headers, body })
    }

    fn run(&self, at: &Endpoint, request: Request<impl AsSendBody>) -> Result<Response<Body>, ureq::Error> {
        match &at.authorities {
            None => self.agent.run(request),
            Some(authorities) => {
                let request = self.agent.configure_request(request).tls_config(authorities.tls()).build();
                self.agent.run(request)
            }
        }
    }

    /// The body, if it is not too long. For an error status a long body is truncated instead, since it is only
    /// displayed.
    fn read(&self, method: &'static str, address: String, response: &mut Response<Body>) -> Result<String, WhipError> {
        let max = self.config.answer.get();
        let mut bytes = Vec::new();
        let is_success = response.status().is_success();
        let read = response.body_mut().as_reader().take(max + 1).read_to_end(&mut bytes);
        if let Err(error) = read {
            return if is_success {
                Err(self.failed(method, address, &ureq::Error::from(error)))
            } else {
                Ok(lossy(&bytes))
            };
        }
        if is_success && bytes.len() as u64 > max {
            return Err(WhipError::TooLong { method, address, max: self.config.answer });
        }
        Ok(lossy(&bytes))
    }

    fn failed(&self, method: &'static str, address: String, error: &ureq::Error) -> WhipError {
        match error {
            ureq::Error::Timeout(_) => WhipError::TimedOut { method, address, limit: self.config.timeout },
            error => match untrusted(error) {
                Some(why) => WhipError::Untrusted { method, address, why: excerpt(&why) },
                None => WhipError::Unreachable { method, address, why: excerpt(&error.to_string()) },
            },
        }
    }
}

/// The problem of the server's certificate, if that is the error.
fn untrusted(error: &ureq::Error) -> Option<String> {
    let error = match error {
        // The error of rustls arrives through its reader and writer.
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        ureq::Error::Rustls(error) => error,
        _ => return None,
    };
    let rustls::Error::InvalidCertificate(why) = error else { return None };
    let why = why.to_string();
    let in_words = [
        ("UnknownIssuer", "nobody who is trusted has signed it"),
        // openssl's default certificate.
        (
            "CaUsedAsEndEntity",
            "it is an authority's, which no server may show: make one with basicConstraints=CA:FALSE",
        ),
    ];
    let found = in_words.iter().find(|(name, _)| why.contains(name));
    Some(found.map_or_else(|| why.clone(), |(name, words)| format!("{words}, {name}")))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
