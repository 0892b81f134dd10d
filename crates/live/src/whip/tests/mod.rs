//! The client with servers that follow the specification, and with others.

mod bad;
mod good;
mod secure;
mod server;

use thalweg_units::{Bytes, Span};

use super::*;

fn client() -> Client {
    Config { timeout: Span::from_secs(5), ..Config::default() }.build().expect("in range")
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(url, Some("secret".parse().expect("a token"))).expect("an address")
}
