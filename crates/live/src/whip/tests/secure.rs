//! Servers by `https`: which certificates are accepted, and the errors for the others.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

const OFFER: &str = "the offer";

/// A certificate with its key.
struct Shown {
    parameters: CertificateParams,
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Shown {
    /// A self-signed certificate for these names.
    fn own(names: &[&str]) -> Shown {
        Shown::of(parameters(names))
    }

    fn authority() -> Shown {
        let mut parameters = parameters(&[]);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.distinguished_name.push(DnType::CommonName, "an authority");
        Shown::of(parameters)
    }

    fn of(parameters: CertificateParams) -> Shown {
        let key = KeyPair::generate().expect("random numbers");
        let certificate = parameters.self_signed(&key).expect("a certificate").der().clone();
        Shown { parameters, certificate, key }
    }

    /// A certificate signed by `authority`.
    fn by(authority: &Shown, names: &[&str]) -> Shown {
        let (parameters, key) = (parameters(names), KeyPair::generate().expect("random numbers"));
        let issuer = Issuer::from_params(&authority.parameters, &authority.key);
        let certificate = parameters.signed_by(&key, &issuer).expect("a certificate").der().clone();
        Shown { parameters, certificate, key }
    }

    fn pem(&self) -> String {
        let body = STANDARD.encode(&self.certificate);
        format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
    }

    fn authorities(&self) -> Authorities {
        Authorities::read(self.pem().as_bytes()).expect("a certificate")
    }
}

fn parameters(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).expect("names")
}

/// A server that presents this certificate and answers every request with a session; returns the address for offers.
fn serve(shown: &Shown) -> String {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("some");
    let key = PrivatePkcs8KeyDer::from(shown.key.serialize_der()).into();
    let config = builder.with_no_client_auth().with_single_cert(vec![shown.certificate.clone()], key).expect("a key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).expect("a configuration"), stream);
            let (mut request, mut some) = (Vec::new(), [0; 4096]);
            // The whole request is read, so that nothing is reset; a client that rejects the certificate sends nothing
            // more.
            while !request.ends_with(OFFER.as_bytes()) {
                match stream.read(&mut some) {
                    Ok(count @ 1..) => request.extend_from_slice(&some[..count]),
                    _ => break,
                }
            }
            let head = "HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /session";
            let answer = format!("{head}\r\nContent-Length: 10\r\nConnection: close\r\n\r\nthe answer");
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    format!("https://127.0.0.1:{port}/whip")
}

fn open(url: &str, authorities: Option<Authorities>) -> Result<String, WhipError> {
    let endpoint = endpoint(url);
    let endpoint = match authorities {
        Some(authorities) => endpoint.known_by(authorities),
        None => endpoint,
    };
    client().open(&endpoint, OFFER).map(|(_, answer)| answer)
}

#[test]
fn a_server_is_believed_by_its_own_certificate_or_its_authoritys_where_that_is_named() {
    let (own, authority) = (Shown::own(&["127.0.0.1"]), Shown::authority());
    let signed = Shown::by(&authority, &["127.0.0.1"]);
    assert_eq!(open(&serve(&own), Some(own.authorities())).expect("believed"), "the answer");
    assert_eq!(open(&serve(&signed), Some(authority.authorities())).expect("believed"), "the answer");
    // Each of several certificates in one file counts.
    let both = Authorities::read(format!("{}{}", own.pem(), authority.pem()).as_bytes()).expect("two");
    assert_eq!(format!("{both:?}"), "Authorities(2)");
    for shown in [&own, &signed] {
        assert_eq!(open(&serve(shown), Some(both.clone())).expect("believed"), "the answer");
    }
}

#[test]
fn any_other_server_is_refused_for_good_with_what_is_wrong_and_what_to_do() {
    let (own, authority) = (Shown::own(&["127.0.0.1"]), Shown::authority());
    let elsewhere = Shown::by(&authority, &["media.example"]);
    let cases = [
        ("nobody knows it", &own, None, "UnknownIssuer"),
        ("another is named", &own, Some(authority.authorities()), "UnknownIssuer"),
        ("it is another's", &elsewhere, Some(authority.authorities()), "media.example"),
        ("an authority is no server", &authority, Some(authority.authorities()), "CA:FALSE"),
    ];
    for (what, shown, authorities, named) in cases {
        let error = open(&serve(shown), authorities).expect_err(what);
        assert!(matches!(error, WhipError::Untrusted { .. }) && !error.may_pass(), "{what}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(named) && text.contains("its certificate must be given"), "{what}: {text}");
        assert!(text.starts_with("POST https://127.0.0.1:") && !text.contains("secret"), "{what}: {text}");
    }
}
