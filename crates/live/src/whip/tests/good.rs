//! Servers that follow RFC 9725.

use super::server::{Seen, Server, response};
use super::*;
use axum::response::Response;

const FRAGMENT: &str = "application/trickle-ice-sdpfrag";

fn whip(request: &Seen) -> Response {
    let method = request.method.as_str();
    if request.header("authorization") != Some("Bearer secret") {
        return response(401, &[], "who are you?");
    }
    match (method, request.path.as_str()) {
        ("POST", "/whip") => response(
            201,
            &[
                ("Content-Type", "application/SDP; charset=utf-8"),
                ("Location", "session/7"),
                ("ETag", "\"one\""),
                ("Link", "<stun:stun.example>; rel=\"ice-server\""),
            ],
            "the answer",
        ),
        ("PATCH", "/session/7") if request.header("if-match") == Some("*") => {
            response(200, &[("Content-Type", FRAGMENT), ("ETag", "\"two\"")], "the server's fragment")
        }
        ("PATCH", "/session/7") => response(204, &[], ""),
        ("DELETE", "/session/7") => response(200, &[], ""),
        _ => response(404, &[], "nothing here"),
    }
}

#[test]
fn a_session_is_begun_changed_and_ended() {
    let server = Server::new(whip);
    let (mut resource, answer) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
    assert_eq!((answer.as_str(), resource.address()), ("the answer", server.url("/session/7").as_str()));
    assert_eq!(resource.ice_servers()[0].url, "stun:stun.example");
    assert_eq!(resource.trickle("a candidate").expect("taken"), Patched::Taken);
    let restarted = resource.restart("new credentials").expect("taken");
    assert_eq!(restarted, Patched::Restarted("the server's fragment".to_owned()));
    assert_eq!(resource.trickle("another").expect("taken"), Patched::Taken);
    resource.close().expect("an end");
    let seen = server.seen();
    let asked: Vec<_> = seen.iter().map(|request| (request.method.as_str(), request.header("if-match"))).collect();
    let expected = [
        ("POST", None),
        ("PATCH", Some("\"one\"")),
        ("PATCH", Some("*")),
        ("PATCH", Some("\"two\"")),
        ("DELETE", None),
    ];
    assert_eq!(asked, expected);
    let bodies: Vec<_> = seen.iter().map(|request| (request.header("content-type"), request.body.as_str())).collect();
    assert_eq!(bodies[0], (Some("application/sdp"), "the offer"));
    assert_eq!(bodies[1], (Some(FRAGMENT), "a candidate"));
    assert_eq!(bodies[4], (None, ""));
    assert!(seen[0].header("user-agent").is_some_and(|agent| agent.starts_with("thalweg/")));
}

#[test]
fn without_the_token_the_servers_words_are_in_the_error() {
    let server = Server::new(whip);
    let endpoint = Endpoint::new(&server.url("/whip"), None).expect("an address");
    let error = client().open(&endpoint, "the offer").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("401") && text.contains("who are you?") && text.contains("POST http://127.0.0.1"), "{text}");
    assert!(!error.may_pass());
}

#[test]
fn who_has_no_token_sends_no_authorization_and_who_has_one_sends_it_in_every_request() {
    for token in [None, Some("secret".parse().expect("a token"))] {
        let server = Server::new(|request| match request.method.as_str() {
            "POST" => response(201, &[("Content-Type", "application/sdp"), ("Location", "/s")], "the answer"),
            _ => response(204, &[], ""),
        });
        let endpoint = Endpoint::new(&server.url("/whip"), token.clone()).expect("an address");
        let (mut resource, _) = client().open(&endpoint, "the offer").expect("a session");
        resource.trickle("a candidate").expect("taken");
        resource.close().expect("an end");
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        let expected = token.as_ref().map(|_| "Bearer secret");
        assert!(seen.iter().all(|request| request.header("authorization") == expected));
    }
}

#[test]
fn links_of_unknown_relations_are_no_servers_and_no_error() {
    let server = Server::new(|_| {
        let links =
            ("Link", "</sse>; rel=\"urn:ietf:params:whip:ext:example:sse\", <stun:a.example>; rel=\"ice-server\"");
        response(201, &[("Content-Type", "application/sdp"), ("Location", "/s"), links], "the answer")
    });
    let (resource, _) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
    let urls: Vec<_> = resource.ice_servers().iter().map(|server| server.url.as_str()).collect();
    assert_eq!(urls, ["stun:a.example"]);
}

#[test]
fn a_redirection_keeps_method_and_body_and_the_token_does_not_leave_its_origin() {
    let target = Server::new(|request| match request.method.as_str() {
        "POST" => response(201, &[("Content-Type", "application/sdp"), ("Location", "/session")], "the answer"),
        _ => response(200, &[], ""),
    });
    let elsewhere = target.url("/far");
    let first = Server::new(move |request| match request.path.as_str() {
        "/whip" => response(307, &[("Location", "/near")], ""),
        _ => response(308, &[("Location", elsewhere.as_str())], ""),
    });
    let (resource, _) = client().open(&endpoint(&first.url("/whip")), "the offer").expect("a session");
    assert_eq!(resource.address(), target.url("/session"));
    resource.close().expect("an end");
    assert!(first.seen().iter().all(|request| request.header("authorization") == Some("Bearer secret")));
    let seen = target.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str(), seen[0].body.as_str()), ("POST", "/far", "the offer"));
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_server_without_trickle_and_restart_is_no_error() {
    for status in [405, 422, 501] {
        let server = Server::new(move |request| match request.method.as_str() {
            "POST" => response(201, &[("Content-Type", "application/sdp"), ("Location", "/s")], "the answer"),
            _ => response(status, &[], "not here"),
        });
        let (mut resource, _) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
        assert_eq!(resource.trickle("a candidate").expect("an answer"), Patched::Unsupported);
        assert_eq!(resource.restart("new").expect("an answer"), Patched::Unsupported);
        // The server sent no ETag, so the request has no If-Match.
        assert_eq!(server.seen()[1].header("if-match"), None);
    }
}

#[test]
fn a_session_the_server_has_forgotten_has_ended() {
    for status in [404, 410] {
        let server = Server::new(move |request| match request.method.as_str() {
            "POST" => response(201, &[("Content-Type", "application/sdp"), ("Location", "/s")], "the answer"),
            _ => response(status, &[], "what session?"),
        });
        let (mut resource, _) = client().open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
        assert!(matches!(resource.restart("new"), Err(WhipError::Refused { status: found, .. }) if found == status));
        resource.close().expect("an end");
    }
}

#[test]
fn clients_of_one_process_do_not_share_a_connection_that_a_restarted_server_has_closed() {
    let server = Server::new(whip);
    let client = client();
    for _ in 0..3 {
        let (resource, _) = client.open(&endpoint(&server.url("/whip")), "the offer").expect("a session");
        resource.close().expect("an end");
    }
    assert!(server.seen().iter().all(|request| request.path != "/"));
    assert_eq!(server.seen().len(), 6);
}
