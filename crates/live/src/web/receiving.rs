//! The page of a receiver, which sends a camera by WHIP, and the figures of one sender.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::hub::Receivers;
use super::reply::{ask, words};
use super::site::{JAVASCRIPT, json};

/// The files of the page: path, media type, contents.
pub(super) const FILES: [(&str, &str, &str); 6] = [
    ("/", "text/html; charset=utf-8", include_str!("page/receive.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/send.js", JAVASCRIPT, include_str!("page/send.js")),
    ("/camera.js", JAVASCRIPT, include_str!("page/camera.js")),
    ("/whip.js", JAVASCRIPT, include_str!("page/whip.js")),
    ("/whep.js", JAVASCRIPT, include_str!("page/whep.js")),
];

/// `/about`.
pub(super) async fn about(State(receivers): State<Arc<dyn Receivers>>) -> Response {
    ask(&receivers, |receivers| receivers.about()).await.map_or_else(|response| response, json)
}

/// `/senders/ID`: its present figures. The id is as secret as the token.
pub(super) async fn sender(State(receivers): State<Arc<dyn Receivers>>, Path(id): Path<String>) -> Response {
    match ask(&receivers, move |receivers| receivers.sender(&id)).await {
        Ok(Some(figures)) => json(figures),
        Ok(None) => words(StatusCode::NOT_FOUND, "There is no such sender; it may have ended already."),
        Err(response) => response,
    }
}
