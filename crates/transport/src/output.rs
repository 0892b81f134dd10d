//! What a connection wants, and what it tells.

use std::net::SocketAddr;

use thalweg_units::Time;

use crate::TransportError;

/// What a connection wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this.
    Transmit(Datagram),
    /// This happened.
    Event(Event),
    /// Nothing more until a datagram comes or this instant does.
    Wait {
        /// When [`crate::Connection::on_timeout`] is due; [`Time::NEVER`] after the end.
        until: Time,
    },
}

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    /// From which of our addresses.
    pub from: SocketAddr,
    /// To where.
    pub to: SocketAddr,
    /// Its payload.
    pub bytes: Vec<u8>,
}

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// There are a path and keys: packets can be sent.
    Connected,
    /// An RTP packet came: authentic, new and decrypted.
    Rtp(Vec<u8>),
    /// A compound RTCP packet came: authentic, new and decrypted.
    Rtcp(Vec<u8>),
    /// Nothing was heard for [`crate::Config::disconnect_timeout`]; sending goes on until consent expires.
    Disconnected,
    /// Something was heard again.
    Reconnected,
    /// It is over: either end said goodbye, or consent has expired ([`crate::Config::give_up`]).
    Closed,
    /// It is over: it could not be made, or not kept.
    Failed(TransportError),
}
