//! A receiver for `examples/c/send.c`: answers RTP with transport-wide feedback (header extension 1) every 50 ms.
//!
//! ```text
//! cargo run -p thalweg-capi --example answer -- 5004 10    # a port and seconds
//! ```
#![allow(clippy::disallowed_methods, reason = "it is on a real network, by the real clock")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::{self, twcc};
use thalweg_wire::rtp::Packet;
use thalweg_wire::unwrap::SequenceUnwrapper;

/// The header extension with the transport-wide number.
const EXTENSION: u8 = 1;
const REPORTS: Span = Span::from_millis(50);

/// Content of a received datagram.
#[derive(Debug, Clone, Copy, Default)]
pub struct Received {
    /// Packets.
    pub packets: u64,
    /// Their bytes, from the RTP header on.
    pub bytes: u64,
    /// Packets that ended a frame.
    pub frames: u64,
}

/// Answers what comes until `duration` is over.
///
/// # Errors
/// Those of the socket.
pub fn serve(socket: &UdpSocket, duration: Duration) -> io::Result<Received> {
    socket.set_read_timeout(Some(Duration::from_millis(5)))?;
    let begun = Instant::now();
    let now = || Time::from_nanos(begun.elapsed().as_nanos() as u64);
    let mut messages = twcc::Config::default().build().expect("the usual messages");
    let (mut received, mut numbers, mut sender) = (Received::default(), SequenceUnwrapper::new(), None);
    let (mut arrivals, mut next_report) = (Vec::new(), now() + REPORTS);
    let mut buffer = [0; 65_535];
    while begun.elapsed() < duration {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                sender = Some(from);
                if let Some(number) = take(&mut received, &buffer[..length]) {
                    arrivals.push((numbers.unwrap(number.into()), Some(now())));
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
        if now() >= next_report {
            next_report += REPORTS;
            if let Some(to) = sender {
                report(socket, to, &mut messages, &mut arrivals)?;
            }
        }
    }
    Ok(received)
}

/// The transport-wide number of a packet.
fn take(received: &mut Received, datagram: &[u8]) -> Option<u16> {
    let packet = Packet::parse(datagram).ok()?;
    received.packets += 1;
    received.bytes += datagram.len() as u64;
    received.frames += u64::from(packet.header.marker);
    packet.extensions?.get(EXTENSION)?.try_into().ok().map(u16::from_be_bytes)
}

fn report(
    socket: &UdpSocket,
    to: SocketAddr,
    messages: &mut twcc::Builder,
    arrivals: &mut Vec<(u64, Option<Time>)>,
) -> io::Result<()> {
    arrivals.sort_unstable();
    arrivals.dedup_by_key(|(number, _)| *number);
    for message in messages.messages(arrivals).map_err(io::Error::other)? {
        let mut datagram = Vec::new();
        rtcp::write(&[rtcp::Packet::TransportFeedback(message)], &mut datagram).map_err(io::Error::other)?;
        socket.send_to(&datagram, to)?;
    }
    arrivals.clear();
    Ok(())
}

#[allow(dead_code, reason = "a test takes the rest")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: u16| arguments.next().map_or(Ok(usual), |text| text.parse());
    let (port, seconds) = (number(5004)?, number(10)?);
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    println!("{:?}", serve(&socket, Duration::from_secs(seconds.into()))?);
    Ok(())
}
