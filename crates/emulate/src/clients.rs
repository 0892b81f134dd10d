//! The clients of a relay.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thalweg_units::{Span, Time};

use crate::reactor::{UdpConfig, UdpCounts, UdpSocket};

/// A client, with a socket of its own towards the server, so that the server can tell clients apart.
pub(super) struct Client {
    pub(super) upstream: UdpSocket,
    /// The local address that it sent to, and that its answers come from.
    pub(super) reached: IpAddr,
    /// When its last datagram arrived.
    last_received: Time,
}

/// The clients by address: limited in number, removed after a timeout.
pub(super) struct Clients {
    all: BTreeMap<SocketAddr, Client>,
    server: SocketAddr,
    max: usize,
    idle: Span,
    udp: UdpConfig,
    pub(super) ever: u64,
    pub(super) refused: u64,
    /// Counts of the sockets of removed clients.
    past: UdpCounts,
}

impl Clients {
    pub(super) fn new(server: SocketAddr, max: usize, idle: Span, udp: UdpConfig) -> Clients {
        Clients { all: BTreeMap::new(), server, max, idle, udp, ever: 0, refused: 0, past: UdpCounts::default() }
    }

    /// A datagram arrived from `address`: returns whether it is, or becomes, a client.
    pub(super) fn on_datagram(&mut self, now: Time, address: SocketAddr, reached: IpAddr) -> bool {
        if let Some(client) = self.all.get_mut(&address) {
            client.last_received = now;
            client.reached = reached;
            return true;
        }
        let upstream = if self.all.len() < self.max { self.connect().ok() } else { None };
        let Some(upstream) = upstream else {
            self.refused += 1;
            return false;
        };
        self.all.insert(address, Client { upstream, reached, last_received: now });
        self.ever += 1;
        true
    }

    fn connect(&self) -> io::Result<UdpSocket> {
        let any = match self.server {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let mut upstream = UdpSocket::bind(SocketAddr::new(any, 0), &self.udp)?;
        upstream.connect(self.server)?;
        Ok(upstream)
    }

    /// Removes the clients that have been silent for too long.
    pub(super) fn forget(&mut self, now: Time) {
        let (idle, past) = (self.idle, &mut self.past);
        self.all.retain(|_, client| {
            let stays = now - client.last_received <= idle;
            if !stays {
                add(past, client.upstream.counts());
            }
            stays
        });
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get_mut(&mut self, address: &SocketAddr) -> Option<&mut Client> {
        self.all.get_mut(address)
    }

    /// The order stays the same until a client is added or removed.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Client> {
        self.all.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&SocketAddr, &mut Client)> {
        self.all.iter_mut()
    }

    /// Counts of all sockets, including those of removed clients.
    pub(super) fn counts(&self) -> UdpCounts {
        let mut all = self.past;
        self.all.values().for_each(|client| add(&mut all, client.upstream.counts()));
        all
    }
}

fn add(all: &mut UdpCounts, more: UdpCounts) {
    all.received += more.received;
    all.missed += more.missed;
    all.sent += more.sent;
    all.waited += more.waited;
    all.overflowed += more.overflowed;
    all.failed += more.failed;
    all.unreachable += more.unreachable;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_bounded_and_forgotten_when_silent() {
        let server = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        let mut clients = Clients::new(server.local_address(), 2, Span::from_secs(60), UdpConfig::default());
        let [a, b, c] = [1, 2, 3].map(|port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
        let seconds = |seconds| Time::ZERO + Span::from_secs(seconds);
        let heard = [(0, a), (1, b), (50, c), (50, a)].map(|(at, who)| clients.on_datagram(seconds(at), who, who.ip()));
        assert_eq!(heard, [true, true, false, true]);
        clients.forget(seconds(62));
        assert!(clients.get_mut(&a).is_some() && clients.get_mut(&b).is_none());
        assert!(clients.on_datagram(seconds(62), c, c.ip()));
        assert_eq!((clients.len(), clients.ever, clients.refused), (2, 3, 1));
    }
}
