//! The page, its configuration, the clock it compares its own with, and the metrics.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::extract::{Extension, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use super::guard;
use super::hub::{Hub, Sessions};
use super::reply::{ask, words};
use super::token::Token;
use thalweg_emulate::clock::Clock;

pub(super) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page: path, media type, contents. They are the same in every copy of the program and contain no
/// secret.
pub(super) const FILES: [(&str, &str, &str); 11] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/page.js", JAVASCRIPT, include_str!("page/page.js")),
    ("/viewer.js", JAVASCRIPT, include_str!("page/viewer.js")),
    ("/whep.js", JAVASCRIPT, include_str!("page/whep.js")),
    ("/barcode.js", JAVASCRIPT, include_str!("page/barcode.js")),
    ("/charts.js", JAVASCRIPT, include_str!("page/charts.js")),
    ("/link.js", JAVASCRIPT, include_str!("page/link.js")),
    ("/score.js", JAVASCRIPT, include_str!("page/score.js")),
    ("/uplot.js", JAVASCRIPT, UPLOT),
    ("/uplot.css", "text/css; charset=utf-8", include_str!("page/vendor/uPlot.min.css")),
];

/// uPlot as a module, with its licence. The files are those of the laboratory's report: `page/vendor` links to them.
pub(super) const UPLOT: &str = concat!(
    "/*\n",
    include_str!("page/vendor/LICENSE"),
    "*/\n",
    include_str!("page/vendor/uPlot.iife.min.js"),
    "\nexport default uPlot;\n"
);

/// Serves one of them.
pub(super) fn file<S: Clone + Send + Sync + 'static>(kind: &'static str, text: &'static str) -> MethodRouter<S> {
    get(move || async move { ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text) })
}

/// `/about`.
pub(super) async fn about(State(hub): State<Arc<dyn Hub>>) -> Response {
    match ask(&hub, |hub| serde_json::to_string(&hub.about())).await {
        Ok(Ok(about)) => json(about),
        Ok(Err(error)) => {
            words(StatusCode::INTERNAL_SERVER_ERROR, format!("The list of published media cannot be made: {error}."))
        }
        Err(response) => response,
    }
}

/// `/clock`: the publisher's time in milliseconds since 1970, from which a page calculates the offset of its own clock.
/// Like the times of pictures, it is not affected by a step of this machine's time of day.
pub(super) async fn clock(State(clock): State<Clock>) -> Response {
    let now = clock.wall(clock.now()).duration_since(UNIX_EPOCH).unwrap_or_default();
    json(format!("{{\"now_ms\":{:.3}}}", now.as_secs_f64() * 1e3))
}

/// `/health`, for who restarts what does not answer: 200 as long as the thread of the network answers in time. It says
/// nothing else, so it needs no token.
pub(super) async fn health(State(hub): State<Arc<dyn Sessions>>) -> Response {
    match ask(&hub, |hub| drop(hub.metrics())).await {
        Ok(()) => words(StatusCode::OK, "It works."),
        Err(response) => response,
    }
}

/// `/metrics`.
#[derive(Clone)]
pub(super) struct Metrics {
    pub(super) hub: Arc<dyn Sessions>,
    pub(super) token: Option<Arc<Token>>,
}

/// For requests with the metrics' own token, or from this machine if there is none.
pub(super) async fn metrics(
    State(metrics): State<Metrics>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Response {
    match metrics.token {
        Some(token) if !guard::shows(&token, request.headers(), request.uri()) => return guard::unauthorized(),
        None if !peer.is_some_and(|Extension(Peer(peer))| is_loopback(peer)) => {
            let sentence =
                "Metrics are for this machine alone; start it with a token for them to read them from elsewhere.";
            return words(StatusCode::FORBIDDEN, sentence);
        }
        _ => {}
    }
    match ask(&metrics.hub, |hub| hub.metrics()).await {
        Ok(text) => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text).into_response()
        }
        Err(response) => response,
    }
}

/// The address of the peer that a request came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

fn is_loopback(peer: SocketAddr) -> bool {
    match peer.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

pub(super) fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text).into_response()
}
