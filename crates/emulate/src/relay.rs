//! A UDP relay with a link in it.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use thalweg_netsim::{MarkReason, Packet, Trace, flow_of};
use thalweg_units::{Bytes, ConfigError, Ecn, Span, Time, above, check};
use thalweg_wire::overhead::{IPV4, IPV6, UDP};

use super::clients::Clients;
use super::handle::{LinkHandle, LinkState, Request};
use super::passing::head;
use super::{EmulateError, EmulatedLink, LinkConfig, Passing, Place, Statistics, Way};
use crate::clock::Clock;
use crate::reactor::{Poller, PollerConfig, Source, Transmit, UdpConfig, UdpSocket, Waker};
use crate::thread::spawn;

/// Each client has a descriptor, and each wake-up checks all of them.
const MAX_CLIENTS: usize = 1000;
/// Interval at which silent clients are removed and logs are written.
const TICK: Span = Span::from_secs(1);

/// The configuration of a relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The address that clients send to. Port 0 takes a free port, see [`Relay::address`].
    pub listen: SocketAddr,
    /// The server. Datagrams from other sources on that side are ignored.
    pub server: SocketAddr,
    /// The link between clients and server, shared by all clients. A packet's size is that of the IP packet that the
    /// client sent or receives.
    pub link: LinkConfig,
    /// The direction of the link for what clients send: [`Way::Up`], unless the link is described from the server's
    /// side as the sender.
    pub clients_send: Way,
    /// The clock it runs by.
    pub clock: Clock,
    /// The maximum number of clients at a time, 1 to 1000; datagrams from further ones are dropped and counted. 64 by
    /// default.
    pub max_clients: usize,
    /// Timeout after which a silent client is removed. 60 s by default.
    pub idle: Span,
    /// How its thread waits.
    pub poller: PollerConfig,
    /// Options of its sockets.
    pub udp: UdpConfig,
    /// Where each packet is reported.
    pub observer: Option<Sender<Passing>>,
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
            observer: None,
        }
    }
}

/// A relay that runs in its own thread; dropping it stops it.
///
/// Each client address gets its own socket towards the server, so that the server sees as many addresses as there are
/// clients; what the server sends to that socket goes to that client alone. Only addresses that have sent something
/// receive anything, and never more than the server sent.
pub struct Relay {
    address: SocketAddr,
    requests: Sender<Request>,
    waker: Waker,
    state: Arc<Mutex<LinkState>>,
    thread: Option<JoinHandle<io::Result<Statistics>>>,
}

impl Relay {
    /// Starts relaying. `find` returns a trace by its name.
    ///
    /// # Errors
    /// When a trace cannot be found, a parameter is out of range, the relay cannot listen at the address, or the log
    /// cannot be written.
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
        let link = config.link.build(config.clock.now(), find)?;
        let state = Arc::new(Mutex::new(link.state()));
        let work = Work {
            clock: config.clock,
            poller,
            inbox,
            listen,
            server: config.server,
            clients: Clients::new(config.server, config.max_clients, config.idle, config.udp),
            begun: link.begun(),
            link,
            state: state.clone(),
            clients_send: config.clients_send,
            observer: Observer { to: config.observer.clone(), packets: 0 },
            orphaned: 0,
        };
        let thread = spawn("relay", move || work.run())?;
        Ok(Relay { address, requests, waker, state, thread: Some(thread) })
    }

    /// The address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle of its link.
    pub fn link(&self) -> LinkHandle {
        LinkHandle { state: self.state.clone(), requests: self.requests.clone(), waker: self.waker.clone() }
    }

    /// Statistics so far; `None` when the relay has failed, [`Relay::stop`] then returns the error.
    pub fn statistics(&self) -> Option<Statistics> {
        let (answer, answered) = channel();
        self.requests.send(Request::Statistics(answer)).ok()?;
        self.waker.wake();
        answered.recv().ok()
    }

    /// Stops it. Packets on the link are lost.
    ///
    /// # Errors
    /// When it had failed before.
    pub fn stop(mut self) -> io::Result<Statistics> {
        self.end().unwrap_or_else(|| Err(io::Error::other("the relay has been stopped before")))
    }

    fn end(&mut self) -> Option<io::Result<Statistics>> {
        let thread = self.thread.take()?;
        // The thread may have ended already.
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

/// A datagram on the link, and its client.
struct Parcel {
    client: SocketAddr,
    number: u64,
    bytes: Vec<u8>,
    ecn: Ecn,
    marked: Option<MarkReason>,
}

impl Packet for Parcel {
    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn flow(&self) -> u64 {
        let port = self.client.port().to_be_bytes();
        match self.client.ip() {
            IpAddr::V4(address) => flow_of(address.octets().into_iter().chain(port)),
            IpAddr::V6(address) => flow_of(address.octets().into_iter().chain(port)),
        }
    }

    fn marked(&self) -> Option<MarkReason> {
        self.marked
    }

    fn mark(&mut self, why: MarkReason) {
        (self.ecn, self.marked) = (Ecn::Ce, Some(why));
    }

    fn bleach(&mut self) {
        self.ecn = Ecn::NotCapable;
    }
}

/// Numbers packets, and reports them if there is an observer.
struct Observer {
    to: Option<Sender<Passing>>,
    packets: u64,
}

impl Observer {
    /// A packet arrived; returns its number.
    fn arrived(&mut self, at: Time, way: Way, size: Bytes, datagram: &[u8]) -> u64 {
        let number = self.packets;
        self.packets += 1;
        self.report(number, way, at, || Place::Before { size, head: head(datagram), length: datagram.len() });
        number
    }

    fn report(&self, number: u64, way: Way, at: Time, place: impl FnOnce() -> Place) {
        if let Some(to) = &self.to {
            // The observer may have gone.
            let _ = to.send(Passing { number, way, at, place: place() });
        }
    }
}

/// The state of the relay's thread.
struct Work {
    clock: Clock,
    poller: Poller,
    inbox: Receiver<Request>,
    listen: UdpSocket,
    server: SocketAddr,
    clients: Clients,
    link: EmulatedLink<Parcel>,
    /// True if the link's time had begun when it was last shown.
    begun: bool,
    state: Arc<Mutex<LinkState>>,
    clients_send: Way,
    observer: Observer,
    /// Packets whose client had been removed before they left the link.
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
            // Packets that are due go first: a hop is offered a packet only after everything before it has left.
            self.release(woken.now);
            self.answers(woken.now, &woken.ready);
            if woken.is_ready(0) {
                self.questions(woken.now);
            }
            // Then those that a link without delay forwards at once.
            self.release(woken.now);
            if woken.now >= tick {
                self.clients.forget(woken.now);
                self.link.flush(woken.now);
                tick = woken.now + TICK;
            }
            if !self.begun && self.link.begun() {
                self.begun = true;
                self.show();
            }
            if woken.called && self.serve(woken.now) {
                self.link.flush(self.clock.now());
                return Ok(self.statistics());
            }
        }
    }

    /// Datagrams from the clients.
    fn questions(&mut self, now: Time) {
        let Work { listen, clients, link, clients_send, observer, .. } = self;
        listen.receive(|datagram| {
            if clients.on_datagram(now, datagram.from, datagram.to.ip()) {
                let size = size(datagram.from.ip(), datagram.bytes);
                let number = observer.arrived(now, *clients_send, size, datagram.bytes);
                let (client, ecn, bytes) = (datagram.from, datagram.ecn, datagram.bytes.to_vec());
                let parcel = Parcel { client, number, bytes, ecn, marked: None };
                link.offer(*clients_send, now, size, parcel);
            }
        });
    }

    /// Datagrams from the server. Clients are in the order in which the poller waited for them.
    fn answers(&mut self, now: Time, ready: &[usize]) {
        let Work { clients, link, clients_send, observer, .. } = self;
        for (index, (address, client)) in clients.iter_mut().enumerate() {
            if ready.binary_search(&(index + 1)).is_ok() {
                client.upstream.receive(|datagram| {
                    let size = size(address.ip(), datagram.bytes);
                    let number = observer.arrived(now, clients_send.back(), size, datagram.bytes);
                    let (client, ecn, bytes) = (*address, datagram.ecn, datagram.bytes.to_vec());
                    let parcel = Parcel { client, number, bytes, ecn, marked: None };
                    link.offer(clients_send.back(), now, size, parcel);
                });
            }
        }
    }

    fn release(&mut self, now: Time) {
        let Work { clock, listen, server, clients, link, clients_send, observer, orphaned, .. } = self;
        link.release(now, |way, parcel| {
            let Parcel { client: address, number, bytes, ecn, .. } = parcel;
            match clients.get_mut(&address) {
                None => *orphaned += 1,
                // The socket's own counts show whether it was sent.
                Some(client) if way == *clients_send => {
                    client.upstream.transmit(Transmit { from: None, to: *server, ecn, bytes });
                }
                Some(client) => {
                    listen.transmit(Transmit { from: Some(client.reached), to: address, ecn, bytes });
                }
            }
            let at = clock.now();
            observer.report(number, way, at, || Place::Behind);
            at
        });
    }

    /// Answers requests; returns whether to stop.
    fn serve(&mut self, now: Time) -> bool {
        while let Ok(request) = self.inbox.try_recv() {
            match request {
                Request::Stop => return true,
                Request::Change(change) => {
                    self.link.change(now, &change);
                    self.show();
                }
                Request::Statistics(answer) => {
                    // The requester may no longer wait.
                    let _ = answer.send(self.statistics());
                }
            }
        }
        false
    }

    /// Shows the link as it is now to its handles.
    fn show(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = self.link.state();
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
