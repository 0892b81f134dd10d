//! Offer and answer by WHIP (RFC 9725) from who sends, and by WHEP (draft-ietf-wish-whep-03), which is the same in the
//! opposite direction, from who watches.
//!
//! A session's own address, `/whip/ID` or `/whep/ID`, needs no token: the id is unguessable, and only the client
//! receives it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};

use super::connections::{Limits, network};
use super::guard;
use super::hub::{Condition, Join, Patched, Sessions};
use super::reply::{ask, with, words};
use super::site::Peer;
use super::token::Token;

const SDP: &str = "application/sdp";
const FRAGMENT: &str = "application/trickle-ice-sdpfrag";

/// The state of the handlers.
#[derive(Clone)]
pub(super) struct Signalling {
    /// Where sessions are: `whip` or `whep`.
    pub(super) path: &'static str,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) token: Option<Arc<Token>>,
    pub(super) limits: Limits,
}

/// `/whip` or `/whep`: joins the first channel.
pub(super) fn first<S: Clone + Send + Sync + 'static>(signalling: Signalling) -> MethodRouter<S> {
    post(|state, request| join(state, None, request)).with_state(signalling)
}

/// The same with `/NAME`: a channel to join, or a session to change and to end.
pub(super) fn named<S: Clone + Send + Sync + 'static>(signalling: Signalling) -> MethodRouter<S> {
    post(|state, Path(channel): Path<String>, request| join(state, Some(channel), request))
        .patch(patch)
        .delete(leave)
        .with_state(signalling)
}

async fn join(State(signalling): State<Signalling>, channel: Option<String>, request: Request) -> Response {
    if signalling.token.as_ref().is_some_and(|token| !guard::shows(token, request.headers(), request.uri())) {
        return guard::unauthorized();
    }
    let query = request.uri().query().unwrap_or_default();
    let asked = |wanted: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.into_owned())
    };
    let (scheme, name) = (asked("scheme"), asked("name"));
    let from = request.extensions().get().map(|Peer(peer)| network(peer.ip()));
    let offer = match text(request, SDP, &signalling.limits).await {
        Ok(offer) => offer,
        Err(response) => return response,
    };
    let joined =
        match ask(&signalling.sessions, move |sessions| sessions.join(Join { offer, scheme, channel, name, from }))
            .await
        {
            Ok(Ok(joined)) => joined,
            Ok(Err(refused)) => return refused.into_response(),
            Err(response) => return response,
        };
    let response = (StatusCode::CREATED, [(header::CONTENT_TYPE, SDP)], joined.answer).into_response();
    let response = with(response, header::LOCATION, &format!("/{}/{}", signalling.path, joined.id));
    let response = with(response, header::ETAG, &format!("\"{}\"", joined.etag));
    with(response, header::HeaderName::from_static("accept-patch"), FRAGMENT)
}

async fn patch(State(signalling): State<Signalling>, Path(id): Path<String>, request: Request) -> Response {
    let condition = condition(request.headers());
    let fragment = match text(request, FRAGMENT, &signalling.limits).await {
        Ok(fragment) => fragment,
        Err(response) => return response,
    };
    match ask(&signalling.sessions, move |sessions| sessions.patch(&id, &fragment, &condition)).await {
        Ok(Ok(Patched::Taken)) => StatusCode::NO_CONTENT.into_response(),
        Ok(Ok(Patched::Restarted { fragment, etag })) => {
            let response = (StatusCode::OK, [(header::CONTENT_TYPE, FRAGMENT)], fragment).into_response();
            with(response, header::ETAG, &format!("\"{etag}\""))
        }
        Ok(Err(refused)) => refused.into_response(),
        Err(response) => response,
    }
}

async fn leave(State(signalling): State<Signalling>, Path(id): Path<String>) -> Response {
    match ask(&signalling.sessions, move |sessions| sessions.leave(&id)).await {
        Ok(true) => StatusCode::OK.into_response(),
        Ok(false) => words(StatusCode::NOT_FOUND, "There is no such session; it may have ended already."),
        Err(response) => response,
    }
}

/// The header If-Match. The first of several tags counts: a client has only one session.
fn condition(headers: &HeaderMap) -> Condition {
    let value = headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    match value.and_then(|value| value.split(',').next()).map(str::trim) {
        None => Condition::None,
        Some("*") => Condition::Any,
        Some(tag) => Condition::Tag(tag.trim_start_matches("W/").trim_matches('"').into()),
    }
}

/// The body, if it has this media type, is not too large, and arrives in time.
async fn text(request: Request, wanted: &str, limits: &Limits) -> Result<String, Response> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted)) {
        let sentence = format!("A body of type {kind:?}; it must be {wanted:?}: set Content-Type.");
        return Err(words(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
    }
    body(request.into_body(), limits.body, limits.timeout).await
}

/// A body as text.
pub(super) async fn body(body: Body, max: usize, timeout: Duration) -> Result<String, Response> {
    let bytes = match tokio::time::timeout(timeout, axum::body::to_bytes(body, max)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let sentence = format!("A body that breaks off or has more than {max} bytes; send less.");
            return Err(words(StatusCode::PAYLOAD_TOO_LARGE, sentence));
        }
        Err(_) => {
            let sentence = format!("The body did not come within {} s; send it at once.", timeout.as_secs_f64());
            return Err(with(words(StatusCode::REQUEST_TIMEOUT, sentence), header::CONNECTION, "close"));
        }
    };
    String::from_utf8(bytes.into()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        words(StatusCode::BAD_REQUEST, format!("A body that is not UTF-8 from byte {at} on; send text."))
    })
}
