//! The server with a certificate.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, CertifiedKey, KeyPair, date_time_ymd, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::super::*;
use super::fake::{FakeHub, TOKEN, connect, header, status};

/// A certificate for `localhost` that signs itself.
fn made() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// The texts of a certificate and of its key.
fn texts(made: &CertifiedKey<KeyPair>) -> (String, String) {
    (pem("CERTIFICATE", made.cert.der()), pem("PRIVATE KEY", &made.signing_key.serialize_der()))
}

/// A server that shows a certificate for `localhost`, and a client that trusts nothing else.
fn secured(limits: Limits) -> (Server, Arc<ClientConfig>) {
    let made = made();
    let (certificate, key) = texts(&made);
    let tls = Tls::read(certificate.as_bytes(), key.as_bytes()).unwrap();
    let config = WebConfig {
        token: Some(TOKEN.parse().unwrap()),
        tls: Some(tls),
        limits,
        ..WebConfig::new(([127, 0, 0, 1], 0).into()).unwrap()
    };
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    (Server::start(config, Arc::new(FakeHub::default())).unwrap(), Arc::new(client))
}

#[test]
fn with_a_certificate_everything_goes_by_https_and_nothing_by_http() {
    let (server, client) = secured(Limits::default());
    let address = server.address();
    assert_eq!(server.link(address), format!("https://{address}/#token={TOKEN}"));
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(client, name).unwrap(), connect(address));
    let request = format!(
        "POST /whep HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/sdp\r\nContent-Length: 3\r\nConnection: close\r\n\r\nv=0"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // The end without close_notify is an error of the reader, after everything has been read.
    let _ = stream.read_to_string(&mut answer);
    assert_eq!((status(&answer), header(&answer, "location")), (201, Some("/whep/viewer-1")), "{answer}");
    assert_eq!(status(&ask_plainly(&server)), 0);
}

/// Answer to a request by `http`: an alert of TLS, at most.
fn ask_plainly(server: &Server) -> String {
    let mut stream = connect(server.address());
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
    // In one piece: a server that has read a part of it may have ended the connection before the rest is written.
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_client_that_begins_no_handshake_is_cut_off() {
    let (server, _) = secured(Limits { timeout: Duration::from_millis(200), ..Limits::default() });
    let mut silent = connect(server.address());
    assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn a_certificate_outside_its_dates_says_which_they_are() {
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
    (parameters.not_before, parameters.not_after) = (date_time_ymd(2026, 1, 2), date_time_ymd(2026, 3, 4));
    let key = KeyPair::generate().unwrap();
    let made = CertifiedKey { cert: parameters.self_signed(&key).unwrap(), signing_key: key };
    let (certificate, key) = texts(&made);
    let tls = Tls::read(certificate.as_bytes(), key.as_bytes()).unwrap();
    // 2026-01-01 is day 20,454 since 1970.
    let on = |day: u64| tls.outdated(UNIX_EPOCH + Duration::from_secs(86_400 * (20_453 + day)));
    assert!(on(1).is_some_and(|why| why.contains("not valid before 2026-01-02")), "{:?}", on(1));
    assert_eq!(on(31), None);
    assert!(on(64).is_some_and(|why| why.contains("expired: it was valid until 2026-03-04")), "{:?}", on(64));
}

#[test]
fn a_certificate_and_its_key_belong_together_and_anything_else_is_refused_with_what_is_needed() {
    let (certificate, key) = texts(&made());
    let (_, other) = texts(&made());
    assert!(Tls::read(certificate.as_bytes(), key.as_bytes()).is_ok());
    for (certificate, key, named) in [
        ("", &key, "BEGIN CERTIFICATE"),
        (&key, &key, "BEGIN CERTIFICATE"),
        (&certificate, &String::new(), "BEGIN PRIVATE KEY"),
        (&certificate, &certificate, "BEGIN PRIVATE KEY"),
        (&certificate, &other, "together"),
    ] {
        let error = Tls::read(certificate.as_bytes(), key.as_bytes()).expect_err(named).to_string();
        assert!(error.contains(named), "{error}");
    }
}
