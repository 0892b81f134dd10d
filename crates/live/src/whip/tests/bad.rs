//! Servers that violate RFC 9725.

use super::server::{Server, raw, response};
use super::*;

const SDP: (&str, &str) = ("Content-Type", "application/sdp");

fn open(url: &str) -> WhipError {
    client().open(&endpoint(url), "the offer").map(|(resource, _)| resource).expect_err("a bad server")
}

#[test]
fn a_created_session_without_location_or_with_a_wrong_one_is_an_error() {
    let server = Server::new(|_| response(201, &[SDP], "the answer"));
    let error = open(&server.url("/whip")).to_string();
    assert!(error.contains("needed is a Location header"), "{error}");
    let server = Server::new(|_| response(201, &[SDP, ("Location", "ftp://x/y")], "the answer"));
    let error = open(&server.url("/whip")).to_string();
    assert!(error.contains("ftp") && error.contains("https or http"), "{error}");
}

#[test]
fn an_answer_of_another_type_is_an_error_and_the_session_is_ended() {
    let page = ("Content-Type", "text/html");
    let server = Server::new(move |_| response(201, &[page, ("Location", "/s")], "<h1>Welcome</h1>"));
    let error = open(&server.url("/whip"));
    assert!(error.to_string().contains("text/html") && error.to_string().contains("application/sdp"), "{error}");
    assert!(!error.may_pass());
    let seen = server.seen();
    assert_eq!((seen[1].method.as_str(), seen[1].path.as_str()), ("DELETE", "/s"));
}

#[test]
fn a_success_that_is_not_201_is_an_error_that_says_so() {
    let server = Server::new(|_| response(200, &[SDP, ("Location", "/s")], "the answer"));
    let error = open(&server.url("/whip")).to_string();
    assert!(error.contains("answers 200, needed is 201"), "{error}");
}

#[test]
fn redirections_without_end_end_and_those_that_change_the_method_are_not_followed() {
    let server = Server::new(|request| {
        let next = format!("{}x", request.path);
        response(307, &[("Location", next.as_str())], "")
    });
    let error = open(&server.url("/whip"));
    assert!(matches!(&error, WhipError::Redirected { max: 5, .. }), "{error}");
    assert_eq!(server.seen().len(), 6);
    for status in [301, 302, 303] {
        let server = Server::new(move |_| response(status, &[("Location", "/other")], ""));
        let error = open(&server.url("/whip")).to_string();
        assert!(error.contains(&status.to_string()) && error.contains("307 or 308"), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[test]
fn an_answer_that_is_too_long_is_refused_and_an_errors_text_is_cut_off() {
    let long = "v".repeat(100_000);
    let server = Server::new(move |request| match request.path.as_str() {
        "/whip" => response(201, &[SDP, ("Location", "/s")], &long),
        _ => response(400, &[], &format!("\u{1b}[2J{long}")),
    });
    let error = open(&server.url("/whip"));
    assert!(matches!(error, WhipError::TooLong { max, .. } if max == Bytes::new(65_536)), "{error}");
    let error = open(&server.url("/other")).to_string();
    assert!(error.len() < 500 && error.ends_with("vvv...") && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn a_busy_server_says_when_to_come_back() {
    let server = Server::new(|_| response(503, &[("Retry-After", "7")], "busy"));
    let error = open(&server.url("/whip"));
    assert!(error.may_pass());
    assert_eq!(error.retry_after(), Some(Span::from_secs(7)));
    let server = Server::new(|_| response(503, &[("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT")], ""));
    assert_eq!(open(&server.url("/whip")).retry_after(), None);
}

#[test]
fn what_may_pass_is_tried_again_and_what_is_refused_for_good_is_not() {
    for (status, passes) in
        [(408, true), (409, true), (429, true), (500, true), (400, false), (403, false), (404, false), (406, false)]
    {
        let server = Server::new(move |_| response(status, &[], ""));
        assert_eq!(open(&server.url("/whip")).may_pass(), passes, "{status}");
    }
}

#[test]
fn a_status_that_nobody_knows_is_taken_for_the_first_of_its_hundred() {
    for (status, like, passes) in [(499, 400, false), (418, 400, false), (598, 500, true), (521, 500, true)] {
        let opened = |status| {
            let server = Server::new(move |_| response(status, &[], "why"));
            open(&server.url("/whip"))
        };
        let (error, known) = (opened(status), opened(like));
        assert!(matches!(&error, WhipError::Refused { status: found, .. } if *found == status), "{error}");
        assert_eq!((error.may_pass(), known.may_pass()), (passes, passes), "{status}");
        let server = Server::new(move |request| match request.method.as_str() {
            "POST" => response(201, &[SDP, ("Location", "/s")], "the answer"),
            _ => response(status, &[], "why"),
        });
        let (mut resource, _) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
        assert!(resource.restart("new").is_err() && resource.close().is_err(), "{status}");
    }
}

#[test]
fn a_server_that_closes_early_is_an_error_that_may_pass() {
    let cut: &[&[u8]] = &[
        b"",
        b"HTTP/1.1 201 Cre",
        b"HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /s\r\nContent-Length: 100\r\n\r\nv=0",
        b"\x16\x03\x01 not HTTP at all\r\n\r\n",
    ];
    for bytes in cut {
        let error = open(&raw(bytes, false));
        assert!(matches!(error, WhipError::Unreachable { .. }) && error.may_pass(), "{error}");
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let error = open(&format!("http://{nobody}/whip"));
    assert!(matches!(error, WhipError::Unreachable { .. }), "{error}");
}

#[test]
fn a_server_that_speaks_no_tls_or_alerts_is_an_error() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"", b"\x15\x03\x03\x00\x02\x02\x28"] {
        let error = open(&raw(bytes, false).replace("http://", "https://"));
        assert!(matches!(&error, WhipError::Unreachable { .. }) && error.may_pass(), "{error}");
    }
}

#[test]
fn a_server_that_stalls_is_given_up_on() {
    let stalls: &[&[u8]] = &[
        b"",
        b"HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /s\r\nContent-Length: 100\r\n\r\nv=0",
    ];
    for bytes in stalls {
        let limit = Span::from_millis(200);
        let client = Config { timeout: limit, ..Config::default() }.build().expect("in range");
        let error = client.open(&endpoint(&raw(bytes, true)), "the offer").map(|_| ()).unwrap_err();
        assert!(matches!(&error, WhipError::TimedOut { limit: found, .. } if *found == limit), "{error}");
        assert!(error.may_pass() && error.to_string().contains("200ms"), "{error}");
    }
}

#[test]
fn a_restart_answered_by_something_else_is_an_error() {
    let server = Server::new(|request| match request.method.as_str() {
        "POST" => response(201, &[SDP, ("Location", "/s")], "the answer"),
        _ => response(200, &[("Content-Type", "text/plain")], "sure"),
    });
    let (mut resource, _) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
    let error = resource.restart("new").unwrap_err().to_string();
    assert!(error.contains("text/plain") && error.contains("trickle-ice-sdpfrag"), "{error}");
}

#[test]
fn bounds_that_cannot_be_are_refused() {
    let error = Config { timeout: Span::ZERO, ..Config::default() }.build().unwrap_err().to_string();
    assert!(error.contains("timeout is 0") && error.contains("above zero"), "{error}");
}
