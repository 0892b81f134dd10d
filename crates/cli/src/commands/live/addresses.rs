//! Addresses on the command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

use anyhow::Context;

/// An address or a host name with a port; a port alone is one of this machine, and with a colon before it one of all its
/// addresses, as Go's programs have it.
pub(super) fn local_address(text: &str) -> Result<SocketAddr, String> {
    if let Some(Ok(port)) = text.strip_prefix(':').map(str::parse::<u16>) {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port));
    }
    text.parse::<u16>()
        .map_or_else(|_| address(text), |port| Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)))
}

/// An address or a host name, with a port.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|error| error.to_string()).map(|mut found| found.next());
    let problem = match found {
        Ok(Some(address)) => return Ok(address),
        Ok(None) => "it has no address".to_string(),
        Err(problem) => problem,
    };
    Err(format!("invalid address '{text}': {problem}; write one such as 127.0.0.1:9000, [::1]:9000 or localhost:9000"))
}

/// The address with a port so many above its own; port 0, any free one, stays.
///
/// # Errors
/// When there is no such port.
pub(super) fn above(mut address: SocketAddr, ports: usize) -> anyhow::Result<SocketAddr> {
    if address.port() != 0 {
        let port = u16::try_from(usize::from(address.port()) + ports);
        address.set_port(port.with_context(|| format!("{address} must leave room for a port above it"))?);
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_above_the_highest_is_refused() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!([0, 9000].map(|port| above(address(port), 1).unwrap().port()), [0, 9001]);
        assert!(above(address(65_535), 1).unwrap_err().to_string().contains("127.0.0.1:65535"));
    }

    #[test]
    fn a_port_alone_is_one_of_this_machine_and_with_a_colon_of_all_its_addresses() {
        assert_eq!(local_address("9000"), Ok("127.0.0.1:9000".parse().unwrap()));
        assert_eq!(local_address(":9000"), Ok("0.0.0.0:9000".parse().unwrap()));
        assert_eq!(local_address("[::1]:9000"), Ok("[::1]:9000".parse().unwrap()));
        assert!(local_address("90000").unwrap_err().contains("127.0.0.1:9000"));
    }
}
