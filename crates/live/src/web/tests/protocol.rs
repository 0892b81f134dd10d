//! The documented behaviour: WHEP, the token, the statistics.

use std::io::{BufRead, BufReader, Write};

use super::super::*;
use super::fake::{TOKEN, VIEWER, ask, connect, header, server, status};

const SDP: &str = "Content-Type: application/sdp";
const FRAGMENT: &str = "Content-Type: application/trickle-ice-sdpfrag";

#[test]
fn an_offer_is_answered_with_where_the_viewer_is_and_the_viewer_can_leave() {
    let (server, hub) = server(None, Limits::default());
    let answer = ask(server.address(), "POST /whep/left?scheme=vidaptive%2Bdummies", &[SDP], "v=0\r\noffer");
    assert_eq!(status(&answer), 201, "{answer}");
    assert!(answer.ends_with("\r\n\r\nv=0\r\nanswer"));
    assert_eq!(header(&answer, "content-type"), Some("application/sdp"));
    assert_eq!(header(&answer, "location"), Some("/whep/viewer-1"));
    assert_eq!(header(&answer, "etag"), Some("\"first\""));
    assert_eq!(header(&answer, "accept-patch"), Some("application/trickle-ice-sdpfrag"));
    let join = hub.joins.lock().unwrap()[0].clone();
    assert_eq!((join.scheme.as_deref(), join.channel.as_deref()), (Some("vidaptive+dummies"), Some("left")));
    // Nobody joins a session (RFC 9725 section 4.2).
    let joined = ask(server.address(), "POST /whep/viewer-1", &[SDP], "v=0\r\noffer");
    assert_eq!((status(&joined), header(&joined, "allow")), (405, Some("PATCH, DELETE")), "{joined}");
    // No tag is looked at where the session need not match (RFC 9725 section 4.3.1).
    assert_eq!(status(&ask(server.address(), "DELETE /whep/viewer-1", &["If-Match: \"another\""], "")), 200);
    assert_eq!(status(&ask(server.address(), "DELETE /whep/viewer-1", &[], "")), 404);
}

#[test]
fn a_fragment_is_taken_under_the_tag_of_its_session_alone() {
    let (server, _) = server(None, Limits::default());
    let patch =
        |tag: &[&str]| ask(server.address(), "PATCH /whep/viewer-1", &[&[FRAGMENT], tag].concat(), "a=candidate:1");
    let taken = patch(&["If-Match: \"first\""]);
    // Without a body and without a tag (RFC 9725 section 4.3.2).
    assert_eq!((status(&taken), header(&taken, "etag")), (204, None));
    assert!(taken.ends_with("\r\n\r\n"), "{taken}");
    assert_eq!(status(&patch(&["If-Match: \"another\""])), 412);
    assert_eq!(status(&patch(&[])), 428);
    let restarted = patch(&["If-Match: *"]);
    assert_eq!((status(&restarted), header(&restarted, "etag")), (200, Some("\"second\"")));
    assert!(restarted.ends_with("a=ice-ufrag:new"));
    let wrong = ask(server.address(), "PATCH /whep/viewer-1", &[SDP, "If-Match: *"], "");
    assert_eq!(status(&wrong), 415);
}

#[test]
fn each_reason_to_refuse_an_offer_has_its_status_and_its_sentence() {
    let (server, _) = server(None, Limits::default());
    let post = |path: &str, kind: &str, body: &str| ask(server.address(), &format!("POST {path}"), &[kind], body);
    for (path, kind, body, wanted, sentence) in [
        ("/whep", SDP, "hello", 400, "does not begin with \"v=0\""),
        ("/whep/right", SDP, "v=0", 404, "there is \"left\""),
        ("/whep", "Content-Type: text/plain", "v=0", 415, "it must be \"application/sdp\""),
        ("/whep", SDP, &"v=0 ".repeat(20_000), 413, "more than 65536 bytes"),
    ] {
        let answer = post(path, kind, body);
        assert_eq!(status(&answer), wanted, "{answer}");
        assert!(answer.contains(sentence), "{answer}");
    }
    assert_eq!(status(&post("/whep", SDP, "v=0")), 201);
    let full = post("/whep", SDP, "v=0");
    assert_eq!((status(&full), header(&full, "retry-after")), (503, Some("2")));
    assert_eq!(status(&ask(server.address(), "GET /whep", &[], "")), 405);
    assert_eq!(status(&ask(server.address(), "PUT /whep/viewer-1", &[], "")), 405);
}

#[test]
fn with_a_token_nothing_is_published_to_who_does_not_show_it() {
    let (server, _) = server(Some(TOKEN), Limits::default());
    let get = |path: &str, headers: &[&str]| ask(server.address(), &format!("GET {path}"), headers, "");
    for path in ["/about", "/clock", "/about?token=0123456789abcdee", "/about?token=", "/about?tokens=0123456789abcdef"]
    {
        let answer = get(path, &[]);
        assert_eq!(
            (status(&answer), header(&answer, "www-authenticate")),
            (401, Some("Bearer realm=\"thalweg\"")),
            "{path}"
        );
        assert!(!answer.contains(TOKEN));
    }
    let wrong =
        ["Authorization: Bearer 0123456789abcdee", "Authorization: Basic 0123456789abcdef", "Authorization: Bearer"];
    wrong.iter().for_each(|header| assert_eq!(status(&get("/about", &[header])), 401, "{header}"));
    // A valid token in the address does not make up for a wrong header.
    assert_eq!(status(&get(&format!("/about?token={TOKEN}"), &[wrong[0]])), 401);
    assert_eq!(status(&get("/about", &[&format!("authorization: bearer {TOKEN}")])), 200);
    assert_eq!(status(&get(&format!("/about?a=b&token={TOKEN}"), &[])), 200);
    assert_eq!(status(&ask(server.address(), "POST /whep", &[SDP], "v=0")), 401);
    assert_eq!(status(&ask(server.address(), "POST /whep/left", &[SDP], "v=0")), 401);
    let authorized = [SDP, &format!("Authorization: Bearer {TOKEN}")];
    assert_eq!(status(&ask(server.address(), "POST /whep", &authorized, "v=0")), 201);
    // The page itself needs no token.
    assert_eq!(status(&get("/", &[])), 200);
}

#[test]
fn other_sites_may_ask_with_a_token_and_only_with_one() {
    let cross = ["Origin: https://elsewhere.example", SDP];
    let (open, _) = server(None, Limits::default());
    let answer = ask(open.address(), "POST /whep", &cross, "v=0");
    assert_eq!((status(&answer), header(&answer, "access-control-allow-origin")), (403, None), "{answer}");
    let own = format!("Origin: http://{}", open.address());
    assert_eq!(status(&ask(open.address(), "POST /whep", &[&own, SDP], "v=0")), 201);
    let (guarded, _) = server(Some(TOKEN), Limits::default());
    let preflight = ask(guarded.address(), "OPTIONS /whep", &["Origin: https://elsewhere.example"], "");
    assert_eq!((status(&preflight), header(&preflight, "access-control-allow-origin")), (204, Some("*")));
    assert_eq!(header(&preflight, "accept-post"), Some("application/sdp"));
    assert!(header(&preflight, "access-control-allow-headers").unwrap().contains("If-Match"));
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let answer = ask(guarded.address(), "POST /whep", &[cross[0], cross[1], &bearer], "v=0");
    assert_eq!((status(&answer), header(&answer, "access-control-expose-headers").is_some()), (201, true));
}

#[test]
fn a_name_that_was_made_to_point_here_is_not_answered_without_a_token() {
    let (server, _) = server(None, Limits::default());
    let mut stream = connect(server.address());
    stream.write_all(b"GET /about HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert_eq!(status(&line), 403);
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let (server, _) = server(None, Limits::default());
    for path in ["/", "/style.css", "/page.js", "/about", "/nowhere", "/metrics"] {
        let answer = ask(server.address(), &format!("GET {path}"), &[], "");
        assert!(header(&answer, "content-security-policy").unwrap().contains("default-src 'none'; script-src 'self';"));
        assert_eq!(header(&answer, "x-content-type-options"), Some("nosniff"));
        assert_eq!(header(&answer, "referrer-policy"), Some("no-referrer"));
    }
}

#[test]
fn the_page_has_no_script_or_style_in_its_html_and_fetches_nothing_from_elsewhere() {
    // uPlot's own address stands in a comment of it.
    for (path, _, text) in site::FILES.into_iter().filter(|(_, _, text)| *text != site::UPLOT) {
        assert!(!text.is_empty(), "{path}");
        // The name of a header extension is an address that nobody opens.
        let text = text
            .replace("'https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension'", "");
        assert!(!text.contains("https://") && !text.contains("style=\"") && !text.contains(" onclick="), "{path}");
    }
    let page = site::FILES[0].2;
    assert!(
        !page.contains("<style")
            && page.matches("<script").count() == page.matches("<script type=\"module\" src=\"").count()
    );
}

#[test]
fn figures_come_ten_times_a_second_until_the_viewer_leaves_and_a_switch_shows_in_them() {
    let (server, hub) = server(None, Limits::default());
    let events = format!("/viewers/{VIEWER}/events");
    assert_eq!(status(&ask(server.address(), &format!("GET {events}"), &[], "")), 404);
    assert_eq!(status(&ask(server.address(), "POST /whep", &[SDP], "v=0")), 201);
    let mut stream = connect(server.address());
    write!(stream, "GET {events} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut figures = |wanted: &str| lines.by_ref().find(|line| line.contains(wanted)).unwrap_or_default();
    assert!(figures("text/event-stream").starts_with("content-type"));
    let first = figures("data: ");
    let first: serde_json::Value = serde_json::from_str(&first["data: ".len()..]).unwrap();
    assert_eq!(
        (&first["scheme"], &first["rtt_ms"], &first["alpha"]),
        (&"gcc".into(), &12.5.into(), &serde_json::Value::Null)
    );
    let switch = |scheme: &str| ask(server.address(), &format!("POST /viewers/{VIEWER}/scheme"), &[], scheme);
    assert_eq!(status(&switch("vidaptive\n")), 204);
    assert!(!figures("\"scheme\":\"vidaptive\"").is_empty());
    let unknown = switch("magic");
    assert!(status(&unknown) == 400 && unknown.contains("there are gcc, vidaptive"), "{unknown}");
    assert_eq!(status(&switch(&"x".repeat(300))), 413);
    assert!(hub.leave(VIEWER));
    assert_eq!(figures("event: "), "event: gone");
}

#[test]
fn a_viewer_changes_the_link_by_its_id_within_bounds_and_nobody_else_does() {
    let (server, hub) = server(None, Limits::default());
    let change = |id: &str, body: &str| ask(server.address(), &format!("POST /viewers/{id}/link"), &[], body);
    let whole = r#"{"rate_bps":2e6,"delay_ms":25,"loss":0.02}"#;
    assert_eq!(status(&change(VIEWER, whole)), 404);
    assert_eq!(status(&ask(server.address(), "POST /whep", &[SDP], "v=0")), 201);
    assert_eq!(status(&change("viewer-2", whole)), 404);
    assert_eq!(status(&change(VIEWER, whole)), 204);
    let wanted = LinkChange { rate_bps: Some(Some(2e6)), delay_ms: Some(25.0), loss: Some(0.02) };
    assert_eq!(*hub.link.lock().unwrap(), Some(wanted));
    assert_eq!(status(&change(VIEWER, r#"{"rate_bps":null}"#)), 204);
    assert_eq!(*hub.link.lock().unwrap(), Some(LinkChange { rate_bps: Some(None), ..LinkChange::default() }));
    assert_eq!(status(&change(VIEWER, r#"{"loss":0.5}"#)), 204);
    assert_eq!(*hub.link.lock().unwrap(), Some(LinkChange { loss: Some(0.5), ..LinkChange::default() }));
    for (body, sentence) in [
        (r#"{"rate_bps":10,"delay_ms":25,"loss":0}"#, "10 kbps to 10 Gbps"),
        (r#"{"delay_ms":-1,"loss":0}"#, "0 to 10000"),
        (r#"{"delay_ms":1,"loss":2}"#, "0.02 for 2 %"),
        (r#"{"delay_ms":1,"loss":0,"jitter_ms":3}"#, "unknown field `jitter_ms`"),
        ("2Mbps", "write {\"rate_bps\":2e6"),
    ] {
        let answer = change(VIEWER, body);
        assert!(status(&answer) == 400 && answer.contains(sentence), "{answer}");
    }
    assert_eq!(status(&change(VIEWER, &"x".repeat(300))), 413);
}

#[test]
fn a_server_that_stops_tells_its_streams_and_frees_its_port() {
    let (server, _) = server(None, Limits::default());
    let address = server.address();
    assert_eq!(status(&ask(address, "POST /whep", &[SDP], "v=0")), 201);
    let mut stream = connect(address);
    write!(stream, "GET /viewers/{VIEWER}/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.starts_with("data: ")));
    server.stop();
    assert!(lines.any(|line| line == "event: gone"));
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn health_needs_no_token_and_says_nothing_else() {
    let (server, _) = server(Some(TOKEN), Limits::default());
    let answer = ask(server.address(), "GET /health", &[], "");
    assert_eq!((status(&answer), answer.split("\r\n\r\n").nth(1)), (200, Some("It works.\n")));
}

#[test]
fn a_request_has_one_host_and_an_address_with_a_host_counts_more() {
    let (server, _) = server(None, Limits::default());
    let address = server.address();
    let say = |request: String| {
        let mut stream = connect(address);
        stream.write_all(request.as_bytes()).unwrap();
        let answer = std::io::read_to_string(stream).unwrap();
        status(&answer)
    };
    let end = "Connection: close\r\n\r\n";
    assert_eq!(say(format!("GET /clock HTTP/1.1\r\nHost: {address}\r\n{end}")), 200);
    assert_eq!(say(format!("GET /clock HTTP/1.1\r\n{end}")), 400);
    assert_eq!(say(format!("GET /clock HTTP/1.1\r\nHost: {address}\r\nHost: other\r\n{end}")), 400);
    assert_eq!(say(format!("GET /clock HTTP/1.1\r\nHost: {address}\r\nHost: {address}\r\n{end}")), 400);
    assert_eq!(say(format!("GET http://evil.example/clock HTTP/1.1\r\nHost: {address}\r\n{end}")), 403);
    assert_eq!(say(format!("GET http://{address}/clock HTTP/1.1\r\nHost: {address}\r\n{end}")), 200);
}

#[test]
fn an_address_that_is_taken_is_an_error_that_says_so() {
    let (server, hub) = server(None, Limits::default());
    let config = WebConfig::new(server.address()).unwrap();
    let error = Server::start(config.clone(), hub.clone()).unwrap_err();
    assert!(error.to_string().contains("choose an address of this machine and a free port"), "{error}");
    let limits = Limits { head: 100, ..Limits::default() };
    let error = Server::start(WebConfig { limits, ..config }, hub).unwrap_err();
    assert!(error.to_string().contains("at least 8192"), "{error}");
}

#[test]
fn a_token_is_the_default_for_all_but_loopback() {
    assert!(WebConfig::new(([127, 0, 0, 1], 0).into()).unwrap().token.is_none());
    assert!(WebConfig::new(([0, 0, 0, 0], 0).into()).unwrap().token.is_some());
}

#[test]
fn the_clock_is_that_of_this_machine_and_metrics_are_for_it() {
    let (server, _) = server(None, Limits::default());
    let clock = ask(server.address(), "GET /clock", &[], "");
    let clock: serde_json::Value = serde_json::from_str(clock.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    // Later than when this test was written, and before the year 2200.
    assert!((1.79e12..7.3e12).contains(&clock["now_ms"].as_f64().unwrap()), "{clock}");
    let metrics = ask(server.address(), "GET /metrics", &[], "");
    assert!(metrics.ends_with("thalweg_viewers 0\n"));
}
