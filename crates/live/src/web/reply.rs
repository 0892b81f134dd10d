//! Plain-text answers.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::refused::{Refused, RefusedKind};

/// A plain sentence with a status.
pub(super) fn words(status: StatusCode, sentence: impl Into<String>) -> Response {
    let mut body = sentence.into();
    body.push('\n');
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response()
}

/// The response with one more header.
pub(super) fn with(mut response: Response, name: HeaderName, value: &str) -> Response {
    // A value that is not valid in a header (a control character) is left out.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = match self.kind {
            RefusedKind::BadOffer | RefusedKind::UnknownScheme | RefusedKind::BadChange => StatusCode::BAD_REQUEST,
            RefusedKind::NoSuchViewer | RefusedKind::NoSuchChannel => StatusCode::NOT_FOUND,
            RefusedKind::Stale => StatusCode::PRECONDITION_FAILED,
            RefusedKind::Unconditional => StatusCode::PRECONDITION_REQUIRED,
            RefusedKind::IsSession => StatusCode::METHOD_NOT_ALLOWED,
            RefusedKind::Full | RefusedKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        let response = words(status, self.message);
        match status {
            StatusCode::SERVICE_UNAVAILABLE => with(response, header::RETRY_AFTER, "2"),
            StatusCode::METHOD_NOT_ALLOWED => with(response, header::ALLOW, "PATCH, DELETE"),
            _ => response,
        }
    }
}

/// Calls the hub where blocking is allowed. `Err` is the response if the hub panicked.
pub(super) async fn ask<H: ?Sized + Send + Sync + 'static, T: Send + 'static>(
    hub: &Arc<H>,
    question: impl FnOnce(&H) -> T + Send + 'static,
) -> Result<T, Response> {
    let hub = hub.clone();
    tokio::task::spawn_blocking(move || question(&*hub)).await.map_err(|error| {
        tracing::error!(%error, "the hub failed to answer");
        words(StatusCode::INTERNAL_SERVER_ERROR, "The server failed to answer; its log says why.")
    })
}
