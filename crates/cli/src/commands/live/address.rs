//! Addresses on the command line.

use std::net::{SocketAddr, ToSocketAddrs};

/// Parses an address or a host name, with a port.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|error| error.to_string()).map(|mut found| found.next());
    let problem = match found {
        Ok(Some(address)) => return Ok(address),
        Ok(None) => "it has no address".to_string(),
        Err(problem) => problem,
    };
    Err(format!("'{text}' is no address: {problem}; write one such as 127.0.0.1:9000, [::1]:9000 or localhost:9000"))
}
