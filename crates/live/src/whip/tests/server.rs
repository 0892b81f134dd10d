//! Servers for tests, on the loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::response::Response;

/// A received request.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A server that answers with the result of a function and records the requests. It ends with the test's process.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(super) fn new(answer: impl Fn(&Seen) -> Response + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket of tokio's");
        let address = listener.local_addr().expect("bound");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (memory, answer) = (seen.clone(), Arc::new(answer));
        let router = Router::new().fallback(move |request: Request| {
            let (memory, answer) = (memory.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let bytes: Bytes = axum::body::to_bytes(body, 1 << 20).await.expect("a small body");
                let body = String::from_utf8(bytes.to_vec()).expect("text");
                let path = parts.uri.path().to_owned();
                let request = Seen { method: parts.method, path, headers: parts.headers, body };
                let response = answer(&request);
                memory.lock().expect("no panic").push(request);
                response
            }
        });
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("in a runtime");
                axum::serve(listener, router).await.expect("serves for ever");
            });
        });
        Server { address, seen }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }
}

/// A response.
pub(super) fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let with = |response: axum::http::response::Builder, (name, value): &(&str, &str)| response.header(*name, *value);
    let response = headers.iter().fold(Response::builder().status(status), with);
    response.body(body.to_owned().into()).expect("a response")
}

/// A server that accepts one connection after the other, reads the start of a request and writes these bytes, and
/// nothing more: it then closes the connection, or holds it open until the client closes it.
pub(super) fn raw(bytes: &'static [u8], holds_on: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/whip", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(bytes);
            while holds_on && stream.read(&mut request).is_ok_and(|count| count > 0) {}
        }
    });
    url
}
