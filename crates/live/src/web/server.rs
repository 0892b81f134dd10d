//! The server: a thread with its own runtime.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{Redirect, Response};
use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::calling;
use super::connections::{Front, Limits, serve};
use super::guard;
use super::hub::{Hub, Receivers, Relayed, Sessions};
use super::receiving;
use super::reply::words;
use super::signalling::{self, Signalling};
use super::site::{self, Metrics};
use super::slots::Slots;
use super::tls::Tls;
use super::token::Token;
use super::viewers::{self, Viewers};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::thread::spawn;

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
    /// The certificate to show; without one page and signalling are by `http`.
    pub tls: Option<Tls>,
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
        Ok(WebConfig { listen, token, metrics_token: None, tls: None, limits: Limits::default(), clock: Clock::new() })
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
    /// Scheme of its links: `http` or `https`.
    scheme: &'static str,
    token: Option<Arc<Token>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens, and serves from its own thread.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the thread cannot be started.
    pub fn start(config: WebConfig, hub: Arc<dyn Hub>) -> Result<Server, WebError> {
        Server::with_routes(&config, |stopped| router(&config, &hub, stopped))
    }

    /// The same for a receiver: a page that sends this machine's camera, and its WHIP endpoint.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the thread cannot be started.
    pub fn start_receiving(config: WebConfig, receivers: Arc<dyn Receivers>) -> Result<Server, WebError> {
        Server::with_routes(&config, |_| receiving_router(&config, &receivers))
    }

    /// The same for a relay: the page of its viewers, and in the folder `send/` that of its sender with its endpoint,
    /// `send/whip`, and metrics, `send/metrics`.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the thread cannot be started.
    pub fn start_relaying(config: WebConfig, relayed: &Relayed) -> Result<Server, WebError> {
        Server::with_routes(&config, |stopped| relaying_router(&config, relayed, stopped))
    }

    /// The same for a call of two: a page that sends to one relay, the first that is free, and shows the other. The relays
    /// are in the folders `a/` and `b/`.
    ///
    /// # Errors
    /// When the server cannot listen at the address, or the thread cannot be started.
    pub fn start_calling(config: WebConfig, seats: &[Relayed; 2]) -> Result<Server, WebError> {
        Server::with_routes(&config, |stopped| calling_router(&config, seats, stopped))
    }

    /// A server of these routes, which learn when it stops.
    pub(crate) fn with_routes(
        config: &WebConfig,
        routes: impl FnOnce(&watch::Receiver<bool>) -> Router,
    ) -> Result<Server, WebError> {
        /// The minimum buffer size of hyper.
        const SMALLEST_HEAD: usize = 8192;
        let WebConfig { listen, limits, token, tls, .. } = config.clone();
        if limits.head < SMALLEST_HEAD {
            return Err(WebError::Head(limits.head));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build()?;
        let failed = |source| WebError::Listen { address: listen, source };
        let listener = runtime.block_on(TcpListener::bind(listen)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let token = token.map(Arc::new);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let tls = tls.as_ref().map(Tls::acceptor);
        let front = Front { router: routes(&stopped), limits, token: token.clone(), tls };
        let thread = spawn("web", move || {
            runtime.block_on(serve(listener, front, stopped));
            // A call of the hub that never returns must not keep the program from ending.
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Server { address, scheme, token, stop, thread: Some(thread) })
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The page's link for who reaches this server at `address`. The token is in its fragment, which a browser sends to no
    /// server, so that it is in no proxy's log.
    pub fn link(&self, address: SocketAddr) -> String {
        self.link_to(address, "")
    }

    /// The same of the page in this folder, such as a relay's `send/`.
    pub fn link_to(&self, address: SocketAddr, folder: &str) -> String {
        let token = self.token.as_ref().map_or(String::new(), |token| format!("#token={}", token.reveal()));
        format!("{}://{address}/{folder}{token}", self.scheme)
    }

    /// Its endpoint of this name for who reaches this server at `address`, without the token.
    pub fn endpoint(&self, address: SocketAddr, name: &str) -> String {
        format!("{}://{address}/{name}", self.scheme)
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

/// The routes of all requests to a publisher.
pub(crate) fn router(config: &WebConfig, hub: &Arc<dyn Hub>, stop: &watch::Receiver<bool>) -> Router {
    guarded(config, watching(config, hub, stop, "whep"))
}

/// Those to a receiver.
fn receiving_router(config: &WebConfig, receivers: &Arc<dyn Receivers>) -> Router {
    guarded(config, sending(config, receivers, "whip"))
}

/// Those to a relay.
fn relaying_router(config: &WebConfig, relayed: &Relayed, stop: &watch::Receiver<bool>) -> Router {
    guarded(config, relaying(config, relayed, stop, ["whep", "send/whip"]))
}

/// Those to a call: a relay for what comes from each seat, and their page.
fn calling_router(config: &WebConfig, [a, b]: &[Relayed; 2], stop: &watch::Receiver<bool>) -> Router {
    let sessions: Arc<dyn Sessions> = a.hub.clone();
    let mut router = Router::new()
        .nest("/a/", relaying(config, a, stop, ["a/whep", "a/send/whip"]))
        .nest("/b/", relaying(config, b, stop, ["b/whep", "b/send/whip"]))
        .route("/health", get(site::health).with_state(sessions));
    for (path, kind, text) in calling::FILES {
        router = router.route(path, site::file(kind, text));
    }
    guarded(config, router)
}

/// A relay's viewers', and in a folder its sender's. Their sessions are at `whep` and `whip`, from the root on.
fn relaying(
    config: &WebConfig,
    relayed: &Relayed,
    stop: &watch::Receiver<bool>,
    [whep, whip]: [&'static str; 2],
) -> Router {
    // A page whose name does not end in a slash would look for its files beside the folder.
    let without_slash = get(|| async { Redirect::permanent("send/") });
    watching(config, &relayed.hub, stop, whep)
        .route("/send", without_slash)
        .nest("/send/", sending(config, &relayed.receivers, whip))
}

/// Routes of a publisher: `whep` is where its sessions are, from the root on.
fn watching(config: &WebConfig, hub: &Arc<dyn Hub>, stop: &watch::Receiver<bool>, whep: &'static str) -> Router {
    let token = config.token.clone().map(Arc::new);
    let limits = config.limits.clone();
    let viewers = Viewers { hub: hub.clone(), limits, streams: Slots::default(), stop: stop.clone() };
    let about = Router::new()
        .route("/about", get(site::about))
        .with_state(hub.clone())
        .layer(from_fn_with_state(token, guard::token));
    let router = Router::new()
        .route("/viewers/{id}/events", viewers::events(viewers.clone()))
        .route("/viewers/{id}/scheme", viewers::scheme(viewers.clone()))
        .route("/viewers/{id}/link", viewers::link(viewers))
        .merge(about);
    common(router, config, &(hub.clone() as Arc<dyn Sessions>), whep, &site::FILES)
}

/// Routes of a receiver: `whip` is where its sessions are, from the root on.
fn sending(config: &WebConfig, receivers: &Arc<dyn Receivers>, whip: &'static str) -> Router {
    let token = config.token.clone().map(Arc::new);
    let about = Router::new()
        .route("/about", get(receiving::about))
        .with_state(receivers.clone())
        .layer(from_fn_with_state(token, guard::token));
    let figures = get(receiving::sender).with_state(receivers.clone());
    let router = Router::new().route("/senders/{id}", figures).merge(about);
    common(router, config, &(receivers.clone() as Arc<dyn Sessions>), whip, &receiving::FILES)
}

/// These routes with what all have: signalling, the page's files, the clock, the metrics.
fn common(
    router: Router,
    config: &WebConfig,
    sessions: &Arc<dyn Sessions>,
    path: &'static str,
    files: &[(&'static str, &'static str, &'static str)],
) -> Router {
    let token = config.token.clone().map(Arc::new);
    let signalling =
        Signalling { path, sessions: sessions.clone(), token: token.clone(), limits: config.limits.clone() };
    let metrics = Metrics { hub: sessions.clone(), token: config.metrics_token.clone().map(Arc::new) };
    let clock = Router::new()
        .route("/clock", get(site::clock).with_state(config.clock))
        .layer(from_fn_with_state(token, guard::token));
    // Where it is nested, a route has the last part of the path.
    let last = path.rsplit('/').next().unwrap_or(path);
    let mut router = router
        .route(&format!("/{last}"), signalling::first(signalling.clone()))
        .route(&format!("/{last}/{{name}}"), signalling::named(signalling))
        .route("/metrics", get(site::metrics).with_state(metrics))
        .route("/health", get(site::health).with_state(sessions.clone()))
        .merge(clock);
    for &(path, kind, text) in files {
        router = router.route(path, site::file(kind, text));
    }
    router
}

/// The routes with what guards every server's.
fn guarded(config: &WebConfig, router: Router) -> Router {
    let guarded = config.token.is_some();
    router
        .fallback(|| async { words(StatusCode::NOT_FOUND, "There is nothing here; the page is at /.") })
        .layer(from_fn(in_time))
        .layer(from_fn_with_state(guarded, guard::headers))
        .layer(from_fn_with_state(!guarded, guard::site))
        .layer(from_fn(guard::one_host))
}

/// An answer must begin within half a minute, whatever the hub does.
async fn in_time(request: Request, next: Next) -> Response {
    const LONGEST: Duration = Duration::from_secs(30);
    let late = || words(StatusCode::SERVICE_UNAVAILABLE, "The server is too busy to answer; try again.");
    tokio::time::timeout(LONGEST, next.run(request)).await.unwrap_or_else(|_| late())
}
