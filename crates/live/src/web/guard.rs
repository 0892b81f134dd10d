//! Access control, and the headers of every answer.
//!
//! With a token, any request that presents it is allowed, from whatever site: a site cannot send a token that it cannot
//! read. Without one, which is for a server on this machine only, the risk is the browser: other sites open in it could
//! request the video. They are refused by their Origin, and host names that were made to point here (DNS rebinding) by
//! their Host.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::reply::{with, words};
use super::token::Token;

/// Requires the token, if there is one.
pub(super) async fn token(State(token): State<Option<Arc<Token>>>, request: Request, next: Next) -> Response {
    match token {
        Some(token) if !shows(&token, request.headers(), request.uri()) => unauthorized(),
        _ => next.run(request).await,
    }
}

/// Returns true if a request presents this token, in a header or in its address.
pub(super) fn shows(token: &Token, headers: &HeaderMap, uri: &Uri) -> bool {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
        let (scheme, credentials) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(credentials.trim())
    });
    let in_address = || form_urlencoded::parse(uri.query()?.as_bytes()).find(|(name, _)| name == "token");
    match bearer {
        Some(shown) => token.is(shown),
        None => in_address().is_some_and(|(_, shown)| token.is(&shown)),
    }
}

pub(super) fn unauthorized() -> Response {
    let response =
        words(StatusCode::UNAUTHORIZED, "This needs the token of the link: open the link as it was printed.");
    with(response, header::WWW_AUTHENTICATE, "Bearer realm=\"thalweg\"")
}

/// Refuses requests that are not clear about their host: a proxy in front may have understood another one (RFC 9112
/// section 3.2).
pub(super) async fn one_host(request: Request, next: Next) -> Response {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        return words(StatusCode::BAD_REQUEST, format!("A request with {hosts} Host headers; it must have one."));
    }
    next.run(request).await
}

/// Refuses requests of other sites when there is no token.
pub(super) async fn site(State(open): State<bool>, request: Request, next: Next) -> Response {
    if open {
        let headers = request.headers();
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        // An address with a host in it counts more than the header (RFC 9112 section 3.2.2).
        let host = request.uri().authority().map(Authority::as_str).or(text(header::HOST)).unwrap_or("?");
        if !names_a_machine(host) {
            return words(
                StatusCode::FORBIDDEN,
                format!(
                    "A request to the host {host:?}; without a token only an address or localhost is answered: publish with a token."
                ),
            );
        }
        if let Some(origin) = text(header::ORIGIN).filter(|origin| {
            !["http", "https"].iter().any(|scheme| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")))
        }) {
            return words(
                StatusCode::FORBIDDEN,
                format!(
                    "A request from a page of {origin:?}; without a token only this server's own page is answered: publish with a token."
                ),
            );
        }
    }
    next.run(request).await
}

/// Returns true if a Host header is an IP address or this machine's own name, which no other name server can redirect.
fn names_a_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

/// The page's content security policy: only this server's own scripts, styles and statistics may be loaded, and the
/// page may not be framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every answer; with CORS headers (required by WHEP section 4.1) only if a token protects the server.
pub(super) async fn headers(State(guarded): State<bool>, request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS;
    let is_signalling = request.uri().path().split('/').any(|part| part == "whep" || part == "whip");
    let mut response = if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let mut fixed = vec![
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    if preflight && is_signalling {
        fixed.push((HeaderName::from_static("accept-post"), "application/sdp"));
    }
    if guarded {
        fixed.push((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"));
        fixed.push((header::ACCESS_CONTROL_EXPOSE_HEADERS, "Location, ETag, Accept-Patch, Retry-After"));
        if preflight {
            fixed.push((header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PATCH, DELETE, OPTIONS"));
            fixed.push((header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type, If-Match"));
        }
    }
    for (name, value) in fixed {
        response = with(response, name, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_name_server_could_point_here_is_no_machine() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "[::1]:80", "localhost:9", "LocalHost", "192.168.1.5:1"] {
            assert!(names_a_machine(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:80", "", "?", "127.0.0.1.evil.example", "a b"] {
            assert!(!names_a_machine(host), "{host}");
        }
    }
}
