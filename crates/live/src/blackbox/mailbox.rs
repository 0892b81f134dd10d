//! The mailbox: serves both pages on loopback, and carries what they say to each other and to this program.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::watch;

use super::report::Report;
use super::{BlackBoxError, Part};
use crate::web::{Limits, Server, Token, WebConfig};
use thalweg_emulate::clock::Clock;

/// A second of 60 pictures with both sides' statistics is some 20 kB; a page that was stopped for a while has more to say.
const BODY: usize = 16 << 20;
/// How long a request for what has not been written yet waits before it is answered with nothing.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 5_000 });

/// Message of a page.
#[derive(Debug)]
pub(super) enum Letter {
    /// Its session description, for the other one.
    Description(String),
    /// Report of the page.
    Report(Box<Report>),
    /// Why it cannot go on.
    Failure(String),
}

/// A running mailbox.
pub(super) struct Mailbox {
    server: Server,
    token: Token,
    letters: Receiver<(Part, Letter)>,
    offer: watch::Sender<Option<String>>,
    answer: watch::Sender<Option<String>>,
}

#[derive(Clone)]
struct Shared {
    task: Arc<str>,
    clock: Clock,
    letters: Sender<(Part, Letter)>,
    offer: watch::Receiver<Option<String>>,
    answer: watch::Receiver<Option<String>>,
}

impl Mailbox {
    /// Starts serving on a free port of loopback; `task` is what the pages are asked to do, as JSON.
    pub(super) fn start(task: &str, clock: Clock) -> Result<Mailbox, BlackBoxError> {
        let token = Token::random().map_err(crate::web::WebError::from)?;
        let (sender, letters) = channel();
        let ((offer, offered), (answer, answered)) = (watch::channel(None), watch::channel(None));
        let shared = Shared { task: task.into(), clock, letters: sender, offer: offered, answer: answered };
        // Connections last as long as a call.
        let limits = Limits { longest: Duration::from_secs(86_400), ..Limits::default() };
        let config = WebConfig { limits, clock, ..WebConfig::new((Ipv4Addr::LOCALHOST, 0).into())? };
        let server = Server::with_routes(&config, |_| routes(&token, shared))?;
        Ok(Mailbox { server, token, letters, offer, answer })
    }

    /// The address of a page.
    pub(super) fn page(&self, part: Part) -> String {
        format!("http://{}/{}/{part}", self.server.address(), self.token.reveal())
    }

    /// The next letter, if one comes soon.
    pub(super) fn take(&self) -> Option<(Part, Letter)> {
        self.letters.recv_timeout(Duration::from_millis(50)).ok()
    }

    /// Has the receiver find this offer.
    pub(super) fn offer(&self, sdp: String) {
        self.offer.send_replace(Some(sdp));
    }

    /// Has the sender find this answer.
    pub(super) fn answer(&self, sdp: String) {
        self.answer.send_replace(Some(sdp));
    }
}

fn routes(token: &Token, shared: Shared) -> Router {
    const HTML: &str = "text/html; charset=utf-8";
    const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
    let mut router = Router::new();
    for (path, kind, text) in [
        ("/sender", HTML, include_str!("page/index.html")),
        ("/receiver", HTML, include_str!("page/index.html")),
        ("/page.js", JAVASCRIPT, include_str!("page/page.js")),
        ("/reader.js", JAVASCRIPT, include_str!("page/reader.js")),
        ("/barcode.js", JAVASCRIPT, include_str!("../web/page/barcode.js")),
    ] {
        router = router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }));
    }
    let router = router
        .route("/task", get(|State(shared): State<Shared>| async move { shared.task.to_string() }))
        .route("/clock", get(|State(shared): State<Shared>| async move { milliseconds(&shared.clock) }))
        .route("/offer", get(|State(shared): State<Shared>| written(shared.offer)))
        .route("/answer", get(|State(shared): State<Shared>| written(shared.answer)))
        .route("/{part}/{kind}", post(taken))
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(shared);
    // No other page of this machine can guess it.
    Router::new().nest(&format!("/{}", token.reveal()), router)
}

fn milliseconds(clock: &Clock) -> String {
    (clock.now().as_secs_f64() * 1e3).to_string()
}

async fn written(mut letter: watch::Receiver<Option<String>>) -> Response {
    let found = tokio::time::timeout(PATIENCE, letter.wait_for(Option::is_some)).await;
    match found.ok().and_then(Result::ok).and_then(|text| text.clone()) {
        Some(text) => text.into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn taken(State(shared): State<Shared>, Path((part, kind)): Path<(String, String)>, body: String) -> Response {
    let Some(part) = Part::BOTH.into_iter().find(|known| known.to_string() == part) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let letter = match kind.as_str() {
        "description" => Letter::Description(body),
        "failure" => Letter::Failure(body),
        "report" => match serde_json::from_str(&body) {
            Ok(report) => Letter::Report(report),
            Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        },
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    // After the call nobody reads them.
    let _ = shared.letters.send((part, letter));
    StatusCode::NO_CONTENT.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use thalweg_units::Time;
    use tower::ServiceExt;

    struct Asked {
        router: Router,
        runtime: tokio::runtime::Runtime,
        token: Token,
        letters: Receiver<(Part, Letter)>,
        offer: watch::Sender<Option<String>>,
    }

    impl Asked {
        fn new() -> Asked {
            let token = Token::random().unwrap();
            let (sender, letters) = channel();
            let ((offer, offered), (_, answer)) = (watch::channel(None), watch::channel(None));
            let shared = Shared { task: "{}".into(), clock: Clock::new(), letters: sender, offer: offered, answer };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            Asked { router: routes(&token, shared), runtime, token, letters, offer }
        }

        fn ask(&self, path: &str, body: Option<&str>) -> (u16, String) {
            let method = if body.is_some() { "POST" } else { "GET" };
            let request = Request::builder().method(method).uri(path).body(Body::from(body.unwrap_or("").to_owned()));
            self.runtime.block_on(async {
                let response = self.router.clone().oneshot(request.unwrap()).await.unwrap();
                let status = response.status().as_u16();
                let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
                (status, String::from_utf8(bytes.to_vec()).unwrap())
            })
        }

        fn ask_with_token(&self, path: &str, body: Option<&str>) -> (u16, String) {
            self.ask(&format!("/{}{path}", self.token.reveal()), body)
        }
    }

    #[test]
    fn only_a_page_with_the_secret_gets_or_writes_anything() {
        let asked = Asked::new();
        assert_eq!(asked.ask("/sender", None).0, 404);
        assert_eq!(asked.ask(&format!("/{}/sender", "0".repeat(32)), None).0, 404);
        assert_eq!(asked.ask("/sender/description", Some("v=0")).0, 404);
        assert!(asked.letters.try_recv().is_err());
        assert!(asked.ask_with_token("/sender", None).1.contains("page.js"));
    }

    #[test]
    fn a_description_waits_for_its_reader_and_an_early_reader_asks_again() {
        let asked = Asked::new();
        assert_eq!(asked.ask_with_token("/offer", None), (204, String::new()));
        asked.offer.send_replace(Some("v=0 offered".into()));
        assert_eq!(asked.ask_with_token("/offer", None), (200, "v=0 offered".into()));
    }

    #[test]
    fn letters_arrive_in_order_and_a_report_that_is_none_is_refused_with_the_reason() {
        let asked = Asked::new();
        let report = r#"{"at": 12.5, "pictures": [{"number": 7, "at": 11.5, "timestamp": 40, "rtp": null, "width": 640, "height": 360}],
            "presented": [{"at": 12.0, "rtp": 90}], "statistics": {"rtp": {"framesEncoded": 3}}}"#;
        for (path, body, status) in [
            ("/sender/description", "v=0", 204),
            ("/receiver/report", report, 204),
            ("/receiver/failure", "no camera", 204),
            ("/receiver/report", "{}", 400),
            ("/nobody/report", report, 404),
            ("/sender/song", "la", 404),
        ] {
            assert_eq!(asked.ask_with_token(path, Some(body)).0, status, "{path}");
        }
        let (part, letter) = asked.letters.try_recv().unwrap();
        assert!(part == Part::Sender && matches!(letter, Letter::Description(text) if text == "v=0"));
        let (part, letter) = asked.letters.try_recv().unwrap();
        let Letter::Report(report) = letter else { panic!("{letter:?}") };
        assert_eq!((part, report.pictures[0].number, report.at), (Part::Receiver, Some(7), Time::from_micros(12_500)));
        let (_, letter) = asked.letters.try_recv().unwrap();
        assert!(matches!(letter, Letter::Failure(text) if text == "no camera"));
        assert!(asked.letters.try_recv().is_err());
    }
}
