//! Requests by HTTP 1.0, whose responses come in one piece and end with their connection.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A response: its status, and its body.
pub type Response = (u16, String);

/// The authority and the path of `http://HOST:PORT/PATH`.
fn parts(url: &str) -> Result<(&str, &str), Box<dyn Error>> {
    let rest = url.strip_prefix("http://").ok_or_else(|| format!("{url:?} does not begin with http://"))?;
    Ok(rest.find('/').map_or((rest, "/"), |at| rest.split_at(at)))
}

fn request(method: &str, url: &str, kind: &str, body: &str) -> Result<Response, Box<dyn Error>> {
    let (host, path) = parts(url)?;
    let mut stream = TcpStream::connect(host)?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (head, body) = response.split_once("\r\n\r\n").ok_or("a response without an end of its head")?;
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(|| format!("no status in {head:?}"))?, body.to_owned()))
}

/// Asks for what is at an address.
pub fn get(url: &str) -> Result<Response, Box<dyn Error>> {
    request("GET", url, "text/plain", "")
}

/// Sends a body of this media type to an address.
pub fn post(url: &str, kind: &str, body: &str) -> Result<Response, Box<dyn Error>> {
    request("POST", url, kind, body)
}
