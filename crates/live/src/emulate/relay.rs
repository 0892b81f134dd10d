//! A relay of UDP with a link in the middle.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use thalweg_link::Trace;
use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};
use thalweg_wire::overhead::{IPV4, IPV6, UDP};

use super::clients::Clients;
use super::{EmulateError, EmulatedLink, LinkConfig, Statistics, Way};
use crate::clock::Clock;
use crate::reactor::{Poller, PollerConfig, Source, UdpConfig, UdpSocket, Waker};
use crate::thread::spawn;

/// Each has a descriptor, and each wake-up looks at all of them.
const MAX_CLIENTS: usize = 1000;
/// How often silent clients are looked for and logs are written.
const TICK: Span = Span::from_secs(1);

/// A relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Where clients send to. Port 0 takes a free one, which [`Relay::address`] tells.
    pub listen: SocketAddr,
    /// The server. Only it is heard from that side.
    pub server: SocketAddr,
    /// The link between them: one, which all clients share. A packet's size is that of the IP packet the client sent or
    /// gets.
    pub link: LinkConfig,
    /// Which way of the link what clients send goes: [`Way::Up`], unless the server is the sender that the link is described from.
    pub clients_send: Way,
    /// The clock it runs by.
    pub clock: Clock,
    /// The most clients at a time, 1 to 1000; what others send is dropped and counted. 64 by default.
    pub max_clients: usize,
    /// How long a client may be silent before it is forgotten. 60 s by default.
    pub idle: Span,
    /// How its thread waits.
    pub poller: PollerConfig,
    /// How its sockets are made.
    pub udp: UdpConfig,
}

impl RelayConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check("clients", self.max_clients).is((1..=MAX_CLIENTS).contains(&self.max_clients), "1 to 1000")?;
        check("idle", self.idle).within(above(Span::ZERO), "60s")?;
        self.poller.check()
    }

    /// A relay from `listen` to `server` over a link without delay or limits.
    pub fn new(listen: SocketAddr, server: SocketAddr) -> RelayConfig {
        RelayConfig {
            listen,
            server,
            link: LinkConfig::default(),
            clients_send: Way::Up,
            clock: Clock::new(),
            max_clients: 64,
            idle: Span::from_secs(60),
            poller: PollerConfig::default(),
            udp: UdpConfig::default(),
        }
    }
}

/// A relay that runs in a thread of its own; dropped, it stops.
///
/// Each client address gets a socket of its own towards the server, which so sees as many addresses as there are
/// clients; what the server sends there goes to that client alone. Nobody who has not sent something is ever sent
/// anything, and never more than the server sent.
pub struct Relay {
    address: SocketAddr,
    requests: Sender<Request>,
    waker: Waker,
    thread: Option<JoinHandle<io::Result<Statistics>>>,
}

enum Request {
    Statistics(Sender<Statistics>),
    Stop,
}

impl Relay {
    /// Starts relaying. `find` gives a trace by its name.
    ///
    /// # Errors
    /// When a trace cannot be found, a parameter is out of range, the address cannot be listened at, or the log cannot
    /// be written.
    pub fn start<E: Display>(
        config: &RelayConfig,
        find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    ) -> Result<Relay, EmulateError> {
        config.check()?;
        let listen = UdpSocket::bind(config.listen, &config.udp)
            .map_err(|source| EmulateError::Listen { address: config.listen, source })?;
        let poller = Poller::new(config.clock, config.poller)?;
        let (requests, inbox) = channel();
        let (address, waker) = (listen.local_address(), poller.waker());
        let work = Work {
            clock: config.clock,
            poller,
            inbox,
            listen,
            server: config.server,
            clients: Clients::new(config.server, config.max_clients, config.idle, config.udp),
            link: config.link.build(config.clock.now(), find)?,
            clients_send: config.clients_send,
            orphaned: 0,
        };
        let thread = spawn("relay", move || work.run())?;
        Ok(Relay { address, requests, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has done so far; `None` when it has failed, which [`Relay::stop`] explains.
    pub fn statistics(&self) -> Option<Statistics> {
        let (answer, answered) = channel();
        self.requests.send(Request::Statistics(answer)).ok()?;
        self.waker.wake();
        answered.recv().ok()
    }

    /// Stops it. What is on the way is lost.
    ///
    /// # Errors
    /// When it had failed before.
    pub fn stop(mut self) -> io::Result<Statistics> {
        self.end().unwrap_or_else(|| Err(io::Error::other("the relay has been stopped before")))
    }

    fn end(&mut self) -> Option<io::Result<Statistics>> {
        let thread = self.thread.take()?;
        // It may have ended already.
        let _ = self.requests.send(Request::Stop);
        self.waker.wake();
        Some(thread.join().unwrap_or_else(|_| Err(io::Error::other("the relay's thread panicked"))))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end();
    }
}

/// A datagram on the link, and whose it is.
struct Parcel {
    client: SocketAddr,
    bytes: Vec<u8>,
}

/// What the thread has.
struct Work {
    clock: Clock,
    poller: Poller,
    inbox: Receiver<Request>,
    listen: UdpSocket,
    server: SocketAddr,
    clients: Clients,
    link: EmulatedLink<Parcel>,
    clients_send: Way,
    /// Packets whose client had been forgotten when they left the link.
    orphaned: u64,
}

impl Work {
    fn run(mut self) -> io::Result<Statistics> {
        let mut tick = self.clock.now() + TICK;
        loop {
            let until = self.link.next_event().min(tick);
            let mut sources: Vec<&dyn Source> = vec![&self.listen];
            sources.extend(self.clients.iter().map(|client| &client.upstream as &dyn Source));
            let woken = self.poller.wait(until, &sources)?;
            drop(sources);
            // What is due goes first: a hop is offered a packet when everything before it has left.
            self.release(woken.now);
            self.answers(woken.now, &woken.ready);
            if woken.is_ready(0) {
                self.questions(woken.now);
            }
            // And what a link without delay passes on at once.
            self.release(woken.now);
            if woken.now >= tick {
                self.clients.forget(woken.now);
                self.link.flush(woken.now);
                tick = woken.now + TICK;
            }
            if woken.called && self.serve() {
                self.link.flush(self.clock.now());
                return Ok(self.statistics());
            }
        }
    }

    /// From the clients.
    fn questions(&mut self, now: Time) {
        let Work { listen, clients, link, clients_send, .. } = self;
        listen.receive(|datagram| {
            if clients.on_datagram(now, datagram.from, datagram.to.ip()) {
                let parcel = Parcel { client: datagram.from, bytes: datagram.bytes.to_vec() };
                link.offer(*clients_send, now, size(datagram.from.ip(), datagram.bytes), parcel);
            }
        });
    }

    /// From the server. Clients are in the order in which they were waited for.
    fn answers(&mut self, now: Time, ready: &[usize]) {
        let Work { clients, link, clients_send, .. } = self;
        for (index, (address, client)) in clients.iter_mut().enumerate() {
            if ready.binary_search(&(index + 1)).is_ok() {
                client.upstream.receive(|datagram| {
                    let parcel = Parcel { client: *address, bytes: datagram.bytes.to_vec() };
                    link.offer(clients_send.back(), now, size(address.ip(), datagram.bytes), parcel);
                });
            }
        }
    }

    fn release(&mut self, now: Time) {
        let Work { clock, listen, server, clients, link, clients_send, orphaned, .. } = self;
        link.release(now, |way, parcel| {
            match clients.get_mut(&parcel.client) {
                None => *orphaned += 1,
                // Whether the socket took it is in its counts.
                Some(client) if way == *clients_send => {
                    client.upstream.send(*server, &parcel.bytes);
                }
                Some(client) => {
                    listen.send_from(client.reached, parcel.client, &parcel.bytes);
                }
            }
            clock.now()
        });
    }

    /// Answers requests; whether to stop.
    fn serve(&mut self) -> bool {
        while let Ok(request) = self.inbox.try_recv() {
            match request {
                Request::Stop => return true,
                Request::Statistics(answer) => {
                    // The requester may have gone.
                    let _ = answer.send(self.statistics());
                }
            }
        }
        false
    }

    fn statistics(&self) -> Statistics {
        let (ours, theirs) = (self.listen.counts(), self.clients.counts());
        Statistics {
            clients: self.clients.len(),
            clients_ever: self.clients.ever,
            refused: self.clients.refused,
            orphaned: self.orphaned,
            unsent: ours.failed + ours.overflowed + theirs.failed + theirs.overflowed,
            missed: ours.missed + theirs.missed,
            unreachable: theirs.unreachable,
            ..self.link.statistics(self.clock.now())
        }
    }
}

/// The size of the IP packet that carries `payload` to or from `client`.
fn size(client: IpAddr, payload: &[u8]) -> Bytes {
    let header = if client.is_ipv4() { IPV4 } else { IPV6 };
    header + UDP + Bytes::new(payload.len() as u64)
}
