//! Hostile clients: floods, slow connections, malformed requests.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use proptest::prelude::*;
use tokio::sync::watch;
use tower::ServiceExt;

use super::super::server::router;
use super::super::site::Peer;
use super::super::*;
use super::fake::{FakeHub, TOKEN, ask, connect, server, status};
use crate::in_real_time::in_real_time;
use thalweg_emulate::clock::Clock;

/// All bytes received, even if the peer resets the connection at the end.
fn everything(stream: &mut impl Read) -> Vec<u8> {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut some) {
        all.extend_from_slice(&some[..count]);
    }
    all
}

#[test]
fn a_client_that_sends_its_headers_one_by_one_is_cut_off() {
    in_real_time(|| {
        let limits = Limits { timeout: Duration::from_millis(300), ..Limits::default() };
        let (server, _) = server(None, limits);
        let mut stream = connect(server.address());
        stream.write_all(b"GET /about HTTP/1.1\r\n").unwrap();
        // Each line arrives in time, but all of them together take too long. The kernel accepts a few more after the end.
        let sent = (0..100).take_while(|line| {
            std::thread::park_timeout(Duration::from_millis(50));
            write!(stream, "X-{line}: slow\r\n").is_ok()
        });
        let sent = sent.count();
        assert!(sent < 60, "{sent} lines of headers were read");
    });
}

#[test]
fn a_connection_on_which_nothing_more_is_asked_ends() {
    in_real_time(|| {
        let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
        let (server, _) = server(None, limits);
        let mut silent = connect(server.address());
        assert!(everything(&mut silent).is_empty());
        let mut idle = connect(server.address());
        write!(idle, "GET /clock HTTP/1.1\r\nHost: {}\r\n\r\n", server.address()).unwrap();
        assert!(everything(&mut idle).starts_with(b"HTTP/1.1 200"));
    });
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    in_real_time(|| {
        let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
        let (server, hub) = server(None, limits);
        let mut stream = connect(server.address());
        let address = server.address();
        write!(
            stream,
            "POST /whep HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/sdp\r\nContent-Length: 9\r\n\r\nv=0"
        )
        .unwrap();
        assert!(everything(&mut stream).starts_with(b"HTTP/1.1 408"));
        assert!(hub.joins.lock().unwrap().is_empty());
    });
}

#[test]
fn headers_that_never_end_are_not_kept() {
    let (server, _) = server(None, Limits::default());
    let mut stream = connect(server.address());
    stream.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    let block = [b'x'; 4096];
    // More than the kernel holds of a connection while a busy server does not read.
    let sent = (0..16_000).take_while(|_| stream.write_all(&block).is_ok()).count();
    assert!(sent < 16_000, "64 megabytes of header were read");
}

#[test]
fn one_address_cannot_take_every_connection_and_closing_gives_them_back() {
    in_real_time(|| {
        let limits = Limits { connections_per_address: 3, ..Limits::default() };
        let (server, _) = server(None, limits);
        let address = server.address();
        // Those who have asked something stay.
        let held: Vec<_> = (0..3)
            .map(|_| {
                let mut stream = connect(address);
                write!(stream, "GET /clock HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
                stream.read_exact(&mut [0; 12]).unwrap();
                stream
            })
            .collect();
        let mut fourth = connect(address);
        assert!(everything(&mut fourth).is_empty());
        drop(held);
        let again = || {
            let mut stream = connect(address);
            let _ = write!(stream, "GET /clock HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            everything(&mut stream).starts_with(b"HTTP/1.1 200")
        };
        assert!((0..100).any(|_| again() || {
            std::thread::park_timeout(Duration::from_millis(20));
            false
        }));
    });
}

#[test]
fn idle_connections_keep_nobody_out_whether_there_is_a_token_or_not() {
    for token in [None, Some(TOKEN)] {
        let limits = Limits { connections: 8, connections_per_address: 8, ..Limits::default() };
        let (server, _) = server(token, limits);
        let _idle: Vec<_> = (0..40).map(|_| connect(server.address())).collect();
        let known = format!("Authorization: Bearer {TOKEN}");
        assert_eq!(status(&ask(server.address(), "GET /clock", &[&known], "")), 200);
    }
}

#[test]
fn without_the_token_no_place_is_kept_whatever_is_asked() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let (server, _) = server(Some(TOKEN), limits);
    let address = server.address();
    let asking = |headers: &str| {
        let mut stream = connect(address);
        write!(stream, "GET /about HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n").unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        (stream, status(std::str::from_utf8(&first).unwrap()))
    };
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let (mut known, welcome) = asking(&token);
    let (mut stranger, refused) = asking("");
    assert_eq!((welcome, refused), (200, 401));
    assert_eq!(asking("").1, 401);
    // The rest of its answer, and the end.
    everything(&mut stranger);
    write!(known, "GET /clock HTTP/1.1\r\nHost: {address}\r\n{token}Connection: close\r\n\r\n").unwrap();
    assert!(String::from_utf8_lossy(&everything(&mut known)).contains("now_ms"));
}

#[test]
fn a_viewers_figures_are_streamed_to_no_more_than_may_be() {
    in_real_time(|| {
        let limits = Limits { streams_per_viewer: 1, ..Limits::default() };
        let (server, _) = server(None, limits);
        let address = server.address();
        ask(address, "POST /whep", &["Content-Type: application/sdp"], "v=0");
        let open = || {
            let mut stream = connect(address);
            write!(stream, "GET /viewers/viewer-1/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            (status(std::str::from_utf8(&first).unwrap()), stream)
        };
        let (status, stream) = open();
        assert_eq!((status, open().0), (200, 429));
        drop(stream);
        assert!((0..100).any(|_| open().0 == 200 || {
            std::thread::park_timeout(Duration::from_millis(20));
            false
        }));
    });
}

fn test_router(token: Option<&str>) -> (Router, watch::Sender<bool>) {
    let (stop, stopped) = watch::channel(false);
    let config = WebConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        token: token.map(|token| token.parse().unwrap()),
        metrics_token: None,
        tls: None,
        clock: Clock::new(),
        limits: Limits::default(),
    };
    let hub: Arc<dyn Hub> = Arc::new(FakeHub::default());
    (router(&config, &hub, &stopped).layer(axum::Extension(Peer(SocketAddr::from(([10, 0, 0, 1], 1))))), stop)
}

fn any_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("whep".to_owned()),
        Just("viewers".to_owned()),
        Just("viewer-1".to_owned()),
        Just("events".to_owned()),
        Just("scheme".to_owned()),
        Just("about".to_owned()),
        Just("%00%ff".to_owned()),
        "[a-zA-Z0-9._~%+-]{0,20}",
    ];
    let query = prop_oneof![Just(String::new()), "[?][a-z=&%+0-9]{0,30}", Just(format!("?token={TOKEN}"))];
    (proptest::collection::vec(part, 0..5), query).prop_map(|(parts, query)| format!("/{}{query}", parts.join("/")))
}

proptest! {
    #[test]
    fn whatever_is_asked_is_answered_and_nothing_panics(
        method in prop_oneof![Just("GET"), Just("POST"), Just("PATCH"), Just("DELETE"), Just("OPTIONS"), Just("PUT"), Just("BREW")],
        path in any_path(),
        names in proptest::collection::vec(
            (prop_oneof![Just("content-type"), Just("if-match"), Just("authorization"), Just("origin"), Just("x")],
             proptest::collection::vec(prop_oneof![32u8..127, 128u8..=255], 0..30)), 0..5),
        host in prop_oneof![Just("127.0.0.1".to_owned()), "[ -~]{0,20}"],
        sdp in any::<bool>(),
        body in proptest::collection::vec(any::<u8>(), 0..300),
        guarded in any::<bool>(),
    ) {
        let Ok(uri) = path.parse::<axum::http::Uri>() else { return Ok(()) };
        let mut request = Request::builder().method(method).uri(uri.clone()).header("host", host);
        if sdp {
            request = request.header("content-type", "application/sdp");
        }
        for (name, value) in &names {
            request = request.header(*name, value.as_slice());
        }
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (router, _stop) = test_router(guarded.then_some(TOKEN));
        let response = runtime.block_on(router.oneshot(request)).unwrap();
        prop_assert!(response.status() != axum::http::StatusCode::INTERNAL_SERVER_ERROR, "{method} {uri}");
        prop_assert!(response.headers().contains_key("content-security-policy") || response.status() == 403);
        // Without the token `/about` is not shown, and metrics never over this address.
        if guarded && uri.path() == "/about" && !path.contains(TOKEN) && names.is_empty() && method == "GET" {
            prop_assert_eq!(response.status(), 401);
        }
        if uri.path() == "/metrics" && method == "GET" {
            prop_assert_eq!(response.status(), 403);
        }
    }
}
