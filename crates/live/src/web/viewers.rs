//! The requests about one viewer: its event stream of statistics, the switch of its scheme, and changes of the emulated
//! link. All need only the viewer's id.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

use super::connections::Limits;
use super::hub::Hub;
use super::refused::Refused;
use super::reply::{ask, words};
use super::seats::Seat;
use super::signalling::body;
use super::slots::{Slot, Slots};
use super::snapshot::LinkChange;

/// Interval between statistics.
const INTERVAL: Duration = Duration::from_millis(100);

/// The state of the handlers.
#[derive(Clone)]
pub(super) struct Viewers {
    pub(super) hub: Arc<dyn Hub>,
    pub(super) limits: Limits,
    /// The open event streams of each viewer.
    pub(super) streams: Slots<String>,
    pub(super) stop: watch::Receiver<bool>,
}

/// `/viewers/ID/events`.
pub(super) fn events<S: Clone + Send + Sync + 'static>(viewers: Viewers) -> MethodRouter<S> {
    get(stream).with_state(viewers)
}

/// `/viewers/ID/scheme`.
pub(super) fn scheme<S: Clone + Send + Sync + 'static>(viewers: Viewers) -> MethodRouter<S> {
    post(switch).with_state(viewers)
}

async fn switch(State(viewers): State<Viewers>, Path(id): Path<String>, request: Request) -> Response {
    /// The maximum length of a scheme's name with all suffixes.
    const NAME: usize = 200;
    let scheme = match body(request.into_body(), NAME, viewers.limits.timeout).await {
        Ok(scheme) => scheme.trim().to_owned(),
        Err(response) => return response,
    };
    done(ask(&viewers.hub, move |hub| hub.switch(&id, &scheme)).await)
}

/// The answer to a request that changes something.
fn done(changed: Result<Result<(), Refused>, Response>) -> Response {
    match changed {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(refused)) => refused.into_response(),
        Err(response) => response,
    }
}

/// `/viewers/ID/link`.
pub(super) fn link<S: Clone + Send + Sync + 'static>(viewers: Viewers) -> MethodRouter<S> {
    post(change).with_state(viewers)
}

async fn change(State(viewers): State<Viewers>, Path(id): Path<String>, request: Request) -> Response {
    /// The maximum length of three numbers with their names.
    const CHANGE: usize = 200;
    let text = match body(request.into_body(), CHANGE, viewers.limits.timeout).await {
        Ok(text) => text,
        Err(response) => return response,
    };
    let change: LinkChange = match serde_json::from_str(&text) {
        Ok(change) => change,
        Err(error) => {
            let sentence =
                format!("A link cannot be read: {error}; write {{\"rate_bps\":2e6,\"delay_ms\":25,\"loss\":0}}.");
            return words(StatusCode::BAD_REQUEST, sentence);
        }
    };
    done(ask(&viewers.hub, move |hub| hub.change_link(&id, &change)).await)
}

async fn stream(
    State(viewers): State<Viewers>,
    Path(id): Path<String>,
    seat: Option<Extension<Arc<Seat>>>,
) -> Response {
    let asked = id.clone();
    match ask(&viewers.hub, move |hub| hub.snapshot(&asked).is_some()).await {
        Ok(true) => {}
        Ok(false) => return words(StatusCode::NOT_FOUND, "There is no such viewer; they may have left already."),
        Err(response) => return response,
    }
    // The viewer's name is as secret as the token, which an event stream cannot show.
    if let Some(Extension(seat)) = seat {
        seat.keep();
    }
    let max = viewers.limits.streams_per_viewer;
    let Some(slot) = viewers.streams.take(id.clone(), max) else {
        let sentence = format!("{max} streams of this viewer's figures are open, as many as may be; close one.");
        return words(StatusCode::TOO_MANY_REQUESTS, sentence);
    };
    let mut interval = tokio::time::interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = Events { hub: viewers.hub, stop: viewers.stop, id, interval, _slot: slot };
    let body = Body::from_stream(futures_util::stream::unfold(Some(events), |events| async move {
        let mut events = events?;
        match events.next().await {
            Some(figures) => Some((Ok::<_, Infallible>(figures), Some(events))),
            // Tells the page that the stream is over, so that it does not take it for a broken connection.
            None => Some((Ok(Bytes::from_static(b"event: gone\ndata: {}\n\n")), None)),
        }
    }));
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")], body).into_response()
}

/// An event stream of one viewer's statistics.
struct Events {
    hub: Arc<dyn Hub>,
    stop: watch::Receiver<bool>,
    id: String,
    interval: Interval,
    _slot: Slot<String>,
}

impl Events {
    /// The next event; `None` when the viewer has left or the server stops.
    async fn next(&mut self) -> Option<Bytes> {
        tokio::select! {
            _ = self.interval.tick() => {}
            _ = self.stop.wait_for(|stop| *stop) => return None,
        }
        let id = self.id.clone();
        let snapshot = ask(&self.hub, move |hub| hub.snapshot(&id)).await.ok()??;
        let figures = serde_json::to_string(&snapshot).ok()?;
        Some(format!("data: {figures}\n\n").into())
    }
}
