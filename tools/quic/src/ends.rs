//! quinn and noq behind one seam. Their interfaces are so alike that one text serves both; where they differ, a function of
//! the stack's own stands in front.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes as Data, BytesMut};
use thalweg_quic_cc::Handle;
use thalweg_units::{Bytes, Span};

use crate::stack::{Controller, DATAGRAMS, End, Ends, NAME, Packet, Received, SEED, STREAMS, Setup, Tls, ZEROS};

const SENDER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 1000);
const RECEIVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 2000);

macro_rules! stack {
    ($module:ident, $proto:ident, $adapter:ident, $bbr:ident) => {
        pub mod $module {
            use super::*;
            use $proto::congestion::{CubicConfig, NewRenoConfig, $bbr};
            use $proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            use $proto::{
                AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
                Endpoint, EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
            };

            /// One end.
            struct Side {
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                peer: SocketAddr,
                /// Packets with which the endpoint itself answers.
                answers: VecDeque<Packet>,
                /// Data still to be written: the stream, the first bytes, and how many follow them.
                blocked: VecDeque<(StreamId, Data, u64)>,
                /// Bytes of streams not wholly acknowledged.
                unacknowledged: BTreeMap<StreamId, u64>,
                /// Streams being read, with the first bytes of each.
                reading: BTreeMap<StreamId, Vec<u8>>,
                connected: bool,
            }

            /// The sender's side of a setup, and the application's end of a controller of ours.
            pub fn sending(setup: &Setup) -> anyhow::Result<(TransportConfig, Option<Handle>)> {
                let mut transport = TransportConfig::default();
                transport.datagram_send_buffer_size(DATAGRAMS);
                if setup.each_acknowledged {
                    let mut frequency = AckFrequencyConfig::default();
                    frequency.ack_eliciting_threshold(VarInt::from_u32(0));
                    transport.ack_frequency_config(Some(frequency));
                }
                let mut handle = None;
                match setup.controller {
                    Controller::Cubic => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
                    Controller::NewReno => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
                    Controller::Bbr => transport.congestion_controller_factory(Arc::new($bbr::default())),
                    Controller::Ours(name) => {
                        let [start, min, max] = setup.rates;
                        let settings = $adapter::Settings::named(name)
                            .or_else(|_| $adapter::Settings::experimental(name))?
                            .with_rates(start, min, max)?;
                        let factory = $adapter::Factory::new(settings);
                        handle = Some(factory.handle());
                        transport.congestion_controller_factory(Arc::new(factory))
                    }
                };
                Ok((transport, handle))
            }

            /// Both ends of a connection that begins at `now`.
            pub fn ends(setup: &Setup, now: Instant) -> anyhow::Result<Ends> {
                let tls = Tls::new()?;
                let mut config = EndpointConfig::default();
                config.rng_seed(Some(SEED));
                let config = Arc::new(config);
                let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls.server)?));
                let mut transport = TransportConfig::default();
                transport.max_concurrent_uni_streams(VarInt::from_u32(STREAMS));
                server.transport_config(Arc::new(transport));
                let mut receiver = Side::new($module::endpoint(config.clone(), Some(Arc::new(server))), SENDER);
                receiver.connected = false;

                let (transport, handle) = sending(setup)?;
                let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls.client)?));
                client.transport_config(Arc::new(transport));
                let mut sender = Side::new($module::endpoint(config, None), RECEIVER);
                sender.connection = Some(sender.endpoint.connect(now, client, RECEIVER, NAME)?);
                Ok(Ends { sender: Box::new(sender), receiver: Box::new(receiver), handle })
            }

            impl Side {
                fn new(endpoint: Endpoint, peer: SocketAddr) -> Side {
                    Side {
                        endpoint,
                        connection: None,
                        peer,
                        answers: VecDeque::new(),
                        blocked: VecDeque::new(),
                        unacknowledged: BTreeMap::new(),
                        reading: BTreeMap::new(),
                        connected: false,
                    }
                }

                /// Passes events between endpoint and connection, and takes the connection's.
                fn settle(&mut self) {
                    let Some((handle, connection)) = &mut self.connection else { return };
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    let mut writable = false;
                    while let Some(event) = connection.poll() {
                        match event {
                            Event::Connected => self.connected = true,
                            Event::Stream(StreamEvent::Opened { .. }) => {
                                while let Some(id) = connection.streams().accept(Dir::Uni) {
                                    self.reading.insert(id, Vec::new());
                                }
                            }
                            Event::Stream(StreamEvent::Writable { .. }) => writable = true,
                            Event::Stream(StreamEvent::Finished { id }) => {
                                self.unacknowledged.remove(&id);
                            }
                            // Nothing was heard for 30 s, as when the last frame is lost.
                            Event::ConnectionLost { .. } => self.connected = false,
                            _ => {}
                        }
                    }
                    if writable {
                        self.write();
                    }
                }

                /// Writes what waits, in order.
                fn write(&mut self) {
                    let Some((_, connection)) = &mut self.connection else { return };
                    while let Some((id, head, left)) = self.blocked.front_mut() {
                        let mut stream = connection.send_stream(*id);
                        while !head.is_empty() {
                            let Ok(written) = stream.write(head) else { return };
                            *head = head.slice(written..);
                        }
                        while *left > 0 {
                            let piece = (*left).min(ZEROS.len() as u64) as usize;
                            let Ok(written) = stream.write(&ZEROS[..piece]) else { return };
                            *left -= written as u64;
                        }
                        stream.finish().expect("it is open");
                        self.blocked.pop_front();
                    }
                }
            }

            impl End for Side {
                fn next_timeout(&mut self) -> Option<Instant> {
                    self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
                }

                fn on_timeout(&mut self, now: Instant) {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_timeout(now);
                    }
                    self.settle();
                }

                fn on_packet(&mut self, now: Instant, packet: Packet) {
                    let mut answer = Vec::new();
                    let ecn = EcnCodepoint::from_bits(packet.ecn);
                    let data = BytesMut::from(&packet.payload[..]);
                    let event = $module::handle(&mut self.endpoint, now, self.peer, ecn, data, &mut answer);
                    match event {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            self.connection.as_mut().expect("it has events").1.handle_event(event);
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                            self.connection = Some(accepted.expect("the handshake is sound"));
                        }
                        Some(DatagramEvent::Response(_)) => self.answers.push_back(Packet { payload: answer, ecn: 0 }),
                        None => {}
                    }
                    self.settle();
                }

                fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
                    if let Some(answer) = self.answers.pop_front() {
                        return Some(answer);
                    }
                    let (_, connection) = self.connection.as_mut()?;
                    let mut payload = Vec::with_capacity(1500);
                    let transmit = $module::poll_transmit(connection, now, &mut payload);
                    self.settle();
                    transmit.map(|transmit| Packet { payload, ecn: transmit.ecn.map_or(0, |ecn| ecn as u8) })
                }

                fn is_connected(&self) -> bool {
                    self.connected
                }

                fn send_stream(&mut self, frame: u32, size: u64) {
                    let (_, connection) = self.connection.as_mut().expect("it is connected");
                    let id = connection.streams().open(Dir::Uni).expect("the receiver reads all");
                    let head = Data::copy_from_slice(&frame.to_be_bytes());
                    let rest = size.saturating_sub(head.len() as u64);
                    self.blocked.push_back((id, head, rest));
                    self.unacknowledged.insert(id, size);
                    self.write();
                }

                fn send_datagrams(&mut self, frame: u32, size: u64) {
                    let (_, connection) = self.connection.as_mut().expect("it is connected");
                    let max = connection.datagrams().max_size().expect("both ends have datagrams") as u64;
                    let mut left = size;
                    while left > 0 {
                        let piece = left.min(max).max(4);
                        let mut data = vec![0; piece as usize];
                        data[..4].copy_from_slice(&frame.to_be_bytes());
                        connection.datagrams().send(Data::from(data), true).expect("it fits");
                        left = left.saturating_sub(piece);
                    }
                }

                fn waiting(&mut self) -> u64 {
                    let beyond = self.unacknowledged.values().sum::<u64>().saturating_sub(self.window().0.get());
                    let (_, connection) = self.connection.as_mut().expect("it is connected");
                    beyond + (DATAGRAMS - connection.datagrams().send_buffer_space()) as u64
                }

                fn receive(&mut self) -> Vec<Received> {
                    let Some((_, connection)) = &mut self.connection else { return Vec::new() };
                    let mut received = Vec::new();
                    while let Some(datagram) = connection.datagrams().recv() {
                        let frame = u32::from_be_bytes(datagram[..4].try_into().expect("four bytes"));
                        received.push(Received::Datagram { frame, size: datagram.len() as u64 });
                    }
                    self.reading.retain(|id, head| {
                        let mut stream = connection.recv_stream(*id);
                        let Ok(mut chunks) = stream.read(true) else { return true };
                        let (mut size, mut end) = (0, false);
                        loop {
                            match chunks.next(usize::MAX) {
                                Ok(Some(chunk)) => {
                                    size += chunk.bytes.len() as u64;
                                    let missing = (4 - head.len()).min(chunk.bytes.len());
                                    head.extend_from_slice(&chunk.bytes[..missing]);
                                }
                                Ok(None) => {
                                    end = true;
                                    break;
                                }
                                Err(_) => break,
                            }
                        }
                        // What the receiver may take grows, and the connection says so with its next packet.
                        let _ = chunks.finalize();
                        let first = <[u8; 4]>::try_from(&head[..]).ok().map(u32::from_be_bytes);
                        if size > 0 || end {
                            received.push(Received::Stream { number: id.index(), first, size, end });
                        }
                        !end
                    });
                    received
                }

                fn window(&mut self) -> (Bytes, Span) {
                    let (_, connection) = self.connection.as_mut().expect("it is connected");
                    let (window, rtt) = $module::window(connection);
                    (Bytes::new(window), Span::from_nanos(rtt.as_nanos() as i64))
                }
            }

            include!(concat!(stringify!($module), "_only.rs"));
        }
    };
}

stack!(quinn, quinn_proto, thalweg_quic_cc, BbrConfig);
stack!(noq, noq_proto, thalweg_quic_cc, Bbr3Config);
