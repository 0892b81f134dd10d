//! The server: a thread with its own runtime.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connections::{Limits, serve};
use super::guard;
use super::hub::Hub;
use super::reply::words;
use super::site::{self, Metrics};
use super::slots::Slots;
use super::token::Token;
use super::viewers::{self, Viewers};
use super::whep::{self, Whep};
use crate::clock::Clock;
use crate::thread::spawn;

/// The configuration of a web server.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// The address to listen at; port 0 takes a free port.
    pub listen: SocketAddr,
    /// The token that viewers must present; [`WebConfig::new`] makes one for any address but loopback.
    pub token: Option<Token>,
    /// The token that readers of `/metrics` must present. Without one only requests from this machine are answered; set
    /// one when a proxy runs on this machine in front of the server, because all requests then come from this machine.
    pub metrics_token: Option<Token>,
    /// Limits for clients.
    pub limits: Limits,
    /// The clock that pages compare their own with: the one by which pictures are taken.
    pub clock: Clock,
}

impl WebConfig {
    /// With a new token, unless only this machine can connect.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new(listen: SocketAddr) -> Result<WebConfig, WebError> {
        let token = if listen.ip().is_loopback() { None } else { Some(Token::random()?) };
        Ok(WebConfig { listen, token, metrics_token: None, limits: Limits::default(), clock: Clock::new() })
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The server cannot listen at the address.
    #[error("cannot listen on {address}: {source}; choose an address of this machine and a free port, or port 0")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The thread or its runtime cannot be started.
    #[error("cannot start the web server's thread: {0}")]
    Thread(#[from] io::Error),
    /// The token cannot be made.
    #[error(transparent)]
    Token(#[from] super::token::TokenError),
    /// The limit for headers is smaller than hyper supports.
    #[error("requests' heads are limited to {0} bytes; the limit must be at least 8192")]
    Head(usize),
}

/// A running web server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens, and serves from its own thread.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the thread cannot be started.
    pub fn start(config: WebConfig, hub: Arc<dyn Hub>) -> Result<Server, WebError> {
        let limits = config.limits.clone();
        Server::with_routes(config.listen, limits, |stopped| router(&config, &hub, stopped))
    }

    /// A server of these routes, which learn when it stops.
    pub(crate) fn with_routes(
        listen: SocketAddr,
        limits: Limits,
        routes: impl FnOnce(&watch::Receiver<bool>) -> Router,
    ) -> Result<Server, WebError> {
        /// The minimum buffer size of hyper.
        const SMALLEST_HEAD: usize = 8192;
        if limits.head < SMALLEST_HEAD {
            return Err(WebError::Head(limits.head));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build()?;
        let failed = |source| WebError::Listen { address: listen, source };
        let listener = runtime.block_on(TcpListener::bind(listen)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let router = routes(&stopped);
        let thread = spawn("web", move || {
            runtime.block_on(serve(listener, router, limits, stopped));
            // A call of the hub that never returns must not keep the program from ending.
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Server { address, stop, thread: Some(thread) })
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops: new connections are refused, requests in progress are answered, and event streams are closed. Takes at
    /// most two seconds.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// The routes of all requests.
pub(super) fn router(config: &WebConfig, hub: &Arc<dyn Hub>, stop: &watch::Receiver<bool>) -> Router {
    let token = config.token.clone().map(Arc::new);
    let guarded = token.is_some();
    let limits = config.limits.clone();
    let whep = Whep { hub: hub.clone(), token: token.clone(), limits: limits.clone() };
    let viewers = Viewers { hub: hub.clone(), limits, streams: Slots::default(), stop: stop.clone() };
    let metrics = Metrics { hub: hub.clone(), token: config.metrics_token.clone().map(Arc::new) };
    let behind_the_token = Router::new()
        .route("/about", get(site::about))
        .with_state(hub.clone())
        .route("/clock", get(site::clock).with_state(config.clock))
        .layer(from_fn_with_state(token, guard::token));
    let mut router = Router::new()
        .route("/whep", whep::first(whep.clone()))
        .route("/whep/{name}", whep::named(whep))
        .route("/viewers/{id}/events", viewers::events(viewers.clone()))
        .route("/viewers/{id}/scheme", viewers::scheme(viewers.clone()))
        .route("/viewers/{id}/link", viewers::link(viewers))
        .route("/metrics", get(site::metrics).with_state(metrics))
        .merge(behind_the_token)
        .fallback(|| async { words(StatusCode::NOT_FOUND, "There is nothing here; the page is at /.") });
    for (path, kind, text) in site::FILES {
        router = router.route(path, site::file(kind, text));
    }
    router
        .layer(from_fn(in_time))
        .layer(from_fn_with_state(guarded, guard::headers))
        .layer(from_fn_with_state(!guarded, guard::site))
}

/// An answer must begin within half a minute, whatever the hub does.
async fn in_time(request: Request, next: Next) -> Response {
    const LONGEST: Duration = Duration::from_secs(30);
    let late = || words(StatusCode::SERVICE_UNAVAILABLE, "The publisher is too busy to answer; try again.");
    tokio::time::timeout(LONGEST, next.run(request)).await.unwrap_or_else(|_| late())
}
