//! Outputs and events of a connection.

use std::net::SocketAddr;

use thalweg_units::{Ecn, Time};

use crate::TransportError;

/// Task for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this datagram.
    Transmit(Datagram),
    /// Handle this event.
    Event(Event),
    /// Nothing to do until the next datagram or this time.
    Wait {
        /// When to call [`crate::Connection::on_timeout`]; [`Time::NEVER`] after the end.
        until: Time,
    },
}

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    /// The local address to send from.
    pub from: SocketAddr,
    /// The remote address.
    pub to: SocketAddr,
    /// The ECN field of its IP packet.
    pub ecn: Ecn,
    /// Its payload.
    pub bytes: Vec<u8>,
}

/// An event of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// There is a path with keys: packets can be sent.
    Connected,
    /// An RTP packet was received: authentic, new and decrypted; and the ECN field that its IP packet came with.
    Rtp(Vec<u8>, Ecn),
    /// A compound RTCP packet was received: authentic, new and decrypted.
    Rtcp(Vec<u8>),
    /// Nothing was received for [`crate::Config::disconnect_timeout`]; sending continues until consent expires.
    Disconnected,
    /// Input is received again.
    Reconnected,
    /// The connection ended: either side closed it, or consent has expired ([`crate::Config::give_up`]).
    Closed,
    /// The connection ended: it could not be established or maintained.
    Failed(TransportError),
}
