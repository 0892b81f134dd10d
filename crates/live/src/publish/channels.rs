//! The channels: for each a socket and its addresses, the scheme that it begins with, and perhaps an emulated link in
//! front of it.

use std::net::{IpAddr, SocketAddr};
use std::ops::Index;
use std::sync::Arc;

use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{self, Source, Transmit, UdpConfig, UdpSocket};
use thalweg_emulate::{LinkHandle, Relay, RelayConfig, Way};
use thalweg_netsim::FindTrace;
use thalweg_sender::SenderFactory;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::{Datagram, Remote, sdp};

use super::PublishError;
use super::config::ChannelConfig;
use super::messages::Key;
use crate::joining::bad;
use crate::web::{LinkChange, Refused, RefusedKind};

/// A socket, and what it sends.
pub(super) struct Channel {
    pub(super) config: ChannelConfig,
    pub(super) scheme: Arc<dyn SenderFactory>,
    pub(super) socket: UdpSocket,
    /// Addresses at which its socket is reached.
    pub(super) candidates: Vec<SocketAddr>,
    /// The link that is emulated in front of it.
    pub(super) link: Option<LinkHandle>,
}

/// The channels, numbered in the order of the configuration.
pub(super) struct Channels(Vec<Channel>);

impl Channels {
    /// Binds the sockets, and starts the emulated links in front of them.
    pub(super) fn open(
        configs: &[ChannelConfig],
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<(Channels, Vec<Relay>), PublishError> {
        let (mut channels, mut relays) = (Vec::new(), Vec::new());
        for config in configs {
            let (channel, relay) = open(config, clock, find)?;
            channels.push(channel);
            relays.extend(relay);
        }
        Ok((Channels(channels), relays))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.0.iter()
    }

    /// The channel of this name.
    pub(super) fn find(&self, name: &str) -> Result<usize, Refused> {
        self.iter().position(|channel| channel.config.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(|channel| channel.config.name.as_str()).collect();
            Refused::new(RefusedKind::NoSuchChannel, format!("no channel {name:?}: there is {}", names.join(", ")))
        })
    }

    /// The sockets, to wait for.
    pub(super) fn sources(&self) -> Vec<&dyn Source> {
        self.iter().map(|channel| &channel.socket as &dyn Source).collect()
    }

    /// Hands over what has come to a channel's socket.
    pub(super) fn receive(&mut self, channel: usize, take: impl FnMut(reactor::Received<'_>)) {
        self.0[channel].socket.receive(take);
    }

    /// Queues a datagram of a channel. What does not fit into the socket's buffer is lost, as anywhere on the path; the
    /// socket counts it.
    pub(super) fn push(&mut self, channel: usize, datagram: Datagram) {
        let transmit = Transmit::from_known(datagram.from, datagram.to, datagram.ecn, datagram.bytes);
        self.0[channel].socket.push(transmit);
    }

    /// Sends what is queued.
    pub(super) fn flush(&mut self) {
        self.0.iter_mut().for_each(|channel| channel.socket.flush());
    }

    /// Changes the links of all channels, which stay the same for all; `viewer` asked for it.
    pub(super) fn change_links(&self, viewer: Key, change: &LinkChange) -> Result<(), Refused> {
        let changes = change.changes()?;
        let links = || self.iter().filter_map(|channel| channel.link.as_ref());
        if links().next().is_none() {
            let none = "No link is emulated here: publish with --rate, --up, --delay or --scenario.";
            return Err(Refused::new(RefusedKind::BadChange, none));
        }
        if change.rate_bps.is_some() && !links().all(|link| link.state().has_rate()) {
            let none = "The emulated link has no rate to change: publish with --rate, --up or --scenario.";
            return Err(Refused::new(RefusedKind::BadChange, none));
        }
        links().for_each(|link| changes.iter().for_each(|change| link.change(*change)));
        tracing::info!(viewer, ?changes, "link changed");
        Ok(())
    }
}

impl Index<usize> for Channels {
    type Output = Channel;

    fn index(&self, channel: usize) -> &Channel {
        &self.0[channel]
    }
}

impl Channel {
    /// Parses an SDP fragment of signalling, with the candidates that are usable here.
    pub(super) fn fragment(&self, text: &str) -> Result<Fragment, Refused> {
        let mut fragment = Fragment::read(text).map_err(bad)?;
        if self.link.is_some() {
            fragment.candidates.clear();
        }
        Ok(fragment)
    }

    /// The peer's parameters as usable here: behind an emulated link the peer reaches us through the link, and nothing is
    /// sent to its own candidates, which would bypass the link.
    pub(super) fn through_link(&self, remote: Remote) -> Result<Remote, Refused> {
        if self.link.is_none() {
            return Ok(remote);
        }
        if remote.lite {
            return Err(bad(
                "the peer is an ICE lite one, which waits to be sent to: no link can be emulated before it",
            ));
        }
        Ok(Remote { candidates: Vec::new(), ..remote })
    }

    /// The addresses that viewers are given.
    pub(super) fn advertised(&self) -> Vec<SocketAddr> {
        self.config.advertised(&self.candidates)
    }

    /// The same as lines of SDP.
    pub(super) fn candidate_lines(&self) -> Vec<String> {
        sdp::host_candidates(&self.advertised())
    }
}

fn open(
    config: &ChannelConfig,
    clock: Clock,
    find: &mut FindTrace<'_>,
) -> Result<(Channel, Option<Relay>), PublishError> {
    let bind = |error| PublishError::Bind { address: config.bind, error };
    let socket = UdpSocket::bind(config.bind, &UdpConfig::default()).map_err(bind)?;
    let local = socket.local_address();
    let candidates = reached_at(local)?;
    let mut config = config.clone();
    let link = config.link.take();
    let relay = match link {
        None => None,
        Some(link) => {
            let Some(first) = candidates.first() else {
                return Err(PublishError::Config(format!(
                    "{local} is reached at no address: choose one of this machine"
                )));
            };
            let listen = SocketAddr::new(first.ip(), 0);
            // For a relay the side that sends first are the clients; here these are the viewers.
            let relay = RelayConfig {
                link: link.adjustable(),
                clock,
                clients_send: Way::Down,
                ..RelayConfig::new(listen, *first)
            };
            let relay = Relay::start(&relay, find)?;
            config.advertise = vec![relay.address()];
            Some(relay)
        }
    };
    let scheme = config.scheme.clone();
    let link = relay.as_ref().map(Relay::link);
    Ok((Channel { config, scheme, socket, candidates, link }, relay))
}

/// The addresses at which a socket bound to `local` is reached: `local` itself, or, if it is a wildcard, every address
/// of this machine of the same family; loopback last, as other machines cannot reach it.
///
/// # Errors
/// When the system cannot list its addresses.
pub fn reached_at(local: SocketAddr) -> Result<Vec<SocketAddr>, PublishError> {
    if !local.ip().is_unspecified() {
        return Ok(vec![local]);
    }
    let interfaces = nix::ifaddrs::getifaddrs().map_err(std::io::Error::from)?;
    let address = |interface: nix::ifaddrs::InterfaceAddress| -> Option<IpAddr> {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
    };
    let usable = |ip: &IpAddr| match ip {
        IpAddr::V4(v4) => local.is_ipv4() && !v4.is_link_local(),
        IpAddr::V6(v6) => local.is_ipv6() && !v6.is_unicast_link_local(),
    };
    let mut found: Vec<IpAddr> = Vec::new();
    for ip in interfaces.filter_map(address).filter(usable) {
        if !found.contains(&ip) {
            found.push(ip);
        }
    }
    found.sort_by_key(IpAddr::is_loopback);
    Ok(found.into_iter().map(|ip| SocketAddr::new(ip, local.port())).collect())
}
