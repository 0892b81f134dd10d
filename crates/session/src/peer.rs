//! Common part of both ends of a conversation: the connection to the peer.

use std::collections::VecDeque;

use thalweg_transport::{Connection, Datagram, Event, Output, SendError, TransportError};
use thalweg_units::{ConfigError, Ecn, Time};

/// A change of the connection's state.
#[derive(Debug)]
pub enum ConnectionEvent {
    /// Media may flow: from now on pictures are accepted.
    Connected,
    /// Nothing arrives from the peer; it may come back.
    Disconnected,
    /// The peer came back.
    Reconnected,
    /// The peer left or was given up; the conversation is over.
    Closed,
    /// The connection failed permanently.
    Failed(TransportError),
    /// Sender or receiver could not be built for this connection, though its configuration was valid before; the
    /// conversation is over.
    Unusable(ConfigError),
    /// A packet could not be written or protected, and why. Only the first one is reported; all are counted
    /// ([`Figures::unsent`](crate::outgoing::Figures::unsent),
    /// [`Statistics::rtcp_unsent`](thalweg_receiver::rtp::Statistics::rtcp_unsent)).
    Unsent(String),
}

/// Next step of a connection.
pub(crate) enum Next {
    Transmit(Datagram),
    Connected,
    Rtp(Vec<u8>, Ecn),
    Rtcp(Vec<u8>),
    Event(ConnectionEvent),
    Wait(Time),
}

/// The connection to the peer, and what happened on it.
pub(crate) struct Peer {
    pub(crate) connection: Connection,
    events: VecDeque<ConnectionEvent>,
    /// Packets that could not be written or protected.
    pub(crate) unsent: u64,
    /// The conversation is over.
    pub(crate) is_over: bool,
}

impl Peer {
    pub(crate) fn new(connection: Connection) -> Peer {
        Peer { connection, events: VecDeque::new(), unsent: 0, is_over: false }
    }

    /// Protected packets come before anything else, because the engine charged them at this instant.
    pub(crate) fn poll(&mut self) -> Next {
        loop {
            let event = match self.connection.poll() {
                Output::Transmit(datagram) => return Next::Transmit(datagram),
                Output::Event(event) => event,
                Output::Wait { until } => return self.events.pop_front().map_or(Next::Wait(until), Next::Event),
            };
            match event {
                Event::Connected => return Next::Connected,
                Event::Rtp(packet, ecn) => return Next::Rtp(packet, ecn),
                Event::Rtcp(datagram) => return Next::Rtcp(datagram),
                Event::Disconnected => self.say(ConnectionEvent::Disconnected),
                Event::Reconnected => self.say(ConnectionEvent::Reconnected),
                Event::Closed => self.end(ConnectionEvent::Closed),
                Event::Failed(error) => self.end(ConnectionEvent::Failed(error)),
            }
        }
    }

    /// Tells the caller.
    pub(crate) fn say(&mut self, event: ConnectionEvent) {
        self.events.push_back(event);
    }

    /// The conversation is over, for this reason.
    pub(crate) fn end(&mut self, event: ConnectionEvent) {
        self.is_over = true;
        self.say(event);
    }

    /// Sends an RTP packet; returns whether it was sent. One that cannot be sent is lost, as on any path.
    pub(crate) fn send_rtp(&mut self, ecn: Ecn, packet: &[u8]) -> bool {
        let sent = self.connection.send_rtp(ecn, packet);
        self.is_sent(sent)
    }

    /// Sends an RTCP datagram; returns whether it was sent.
    pub(crate) fn send_rtcp(&mut self, compound: &[u8]) -> bool {
        let sent = self.connection.send_rtcp(compound);
        self.is_sent(sent)
    }

    fn is_sent(&mut self, sent: Result<(), SendError>) -> bool {
        match sent {
            Ok(()) => return true,
            // The connection has ended; its event follows.
            Err(SendError::NotConnected) => {}
            Err(error) => self.on_unsent(error.to_string()),
        }
        false
    }

    /// A packet was not sent: every one is counted, the first is reported.
    pub(crate) fn on_unsent(&mut self, error: String) {
        self.unsent += 1;
        if self.unsent == 1 {
            self.say(ConnectionEvent::Unsent(error));
        }
    }
}
