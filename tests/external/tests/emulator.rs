//! A link for somebody else's packets, without WebRTC, codecs and HTTP.
#![cfg(target_os = "linux")]

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use thalweg::emulate::{LinkConfig, Relay, RelayConfig};
use thalweg::netsim::{HopConfig, PathConfig, Trace};
use thalweg::units::Span;

#[test]
fn a_datagram_crosses_an_emulated_link_to_a_server_and_back() -> Result<(), Box<dyn std::error::Error>> {
    let [server, client] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
    for socket in [&server, &client] {
        socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    }
    let mut config = RelayConfig::new("127.0.0.1:0".parse()?, server.local_addr()?);
    let delay = || PathConfig { hops: vec![HopConfig::delay(Span::from_millis(20))] };
    config.link = LinkConfig { up: delay(), down: delay(), ..config.link };
    let relay = Relay::start(&config, &mut |name| Err::<Arc<Trace>, _>(format!("unknown trace '{name}'")))?;
    client.send_to(b"there", relay.address())?;
    let mut buffer = [0; 100];
    let (length, from) = server.recv_from(&mut buffer)?;
    server.send_to(&buffer[..length], from)?;
    assert_eq!(client.recv(&mut buffer)?, 5);
    relay.stop()?;
    Ok(())
}
