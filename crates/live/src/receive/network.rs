//! The network thread: the socket, the senders, and when each needs service.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::thread::JoinHandle;

use serde_json::json;
use thalweg_netsim::{FindTrace, Trace};
use thalweg_transport::{Identity, Received};
use thalweg_units::{Span, Time};

use super::config::ReceiveConfig;
use super::error::ReceiveError;
use super::messages::{Message, reply};
use super::observed::Observed;
use super::sender::Sender;
use crate::measure::Forward;
use crate::peers::{Key, Peers, State};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, Transmit, UdpSocket};
use thalweg_emulate::thread::spawn;
use thalweg_emulate::{EmulateError, LinkConfig, Passing, Relay, RelayConfig};

/// Maximum interval between removals of senders that have gone.
const TICK: Span = Span::from_secs(1);

/// The link that each sender gets, with its traces.
pub(super) struct Link {
    config: LinkConfig,
    traces: BTreeMap<String, Arc<Trace>>,
    clock: Clock,
    /// Where media comes to behind it.
    server: SocketAddr,
}

impl Link {
    /// Finds the traces, and checks that the link can be built.
    pub(super) fn new(
        config: LinkConfig,
        clock: Clock,
        server: SocketAddr,
        find: &mut FindTrace<'_>,
    ) -> Result<Link, EmulateError> {
        let mut traces = BTreeMap::new();
        let unlogged = LinkConfig { log: None, ..config.clone() };
        unlogged.build::<(), String>(clock.now(), &mut |name| {
            let trace = find(name)?;
            traces.insert(name.to_owned(), trace.clone());
            Ok(trace)
        })?;
        Ok(Link { config, traces, clock, server })
    }

    /// One for the sender of this name, whose packets may be observed.
    pub(super) fn start(&self, name: &str, observed: bool) -> Result<(Relay, Option<Receiver<Passing>>), EmulateError> {
        let (observer, passing) = channel();
        let log = self.config.log.as_ref().map(|log| format!("{}.{name}", log.display()).into());
        let relay = RelayConfig {
            link: LinkConfig { log, ..self.config.clone() },
            clock: self.clock,
            observer: observed.then_some(observer),
            ..RelayConfig::new(SocketAddr::new(self.server.ip(), 0), self.server)
        };
        let mut find = |name: &str| self.traces.get(name).cloned().ok_or_else(|| format!("no trace '{name}'"));
        Ok((Relay::start(&relay, &mut find)?, observed.then_some(passing)))
    }
}

/// The state of the network thread.
pub(super) struct Network {
    pub(super) clock: Clock,
    pub(super) poller: Poller,
    pub(super) socket: UdpSocket,
    /// Addresses at which the socket is reached.
    pub(super) candidates: Vec<SocketAddr>,
    pub(super) identity: Identity,
    pub(super) config: ReceiveConfig,
    /// Where media goes besides being measured.
    pub(super) forward: Option<Arc<dyn Forward>>,
    pub(super) link: Option<Link>,
    pub(super) inbox: Receiver<Message>,
    pub(super) finished: Channel<Observed>,
    pub(super) senders: BTreeMap<Key, Sender>,
    /// Threads that wait for what senders left behind.
    pub(super) ending: Vec<JoinHandle<()>>,
    pub(super) peers: Peers,
    pub(super) next_key: Key,
    /// Datagrams from unknown sources.
    pub(super) from_unknown_sources: u64,
}

impl Network {
    /// Runs until stopped.
    pub(super) fn run(mut self) -> Result<(), ReceiveError> {
        loop {
            let until = self.senders.values().map(Sender::wake).min().unwrap_or(Time::NEVER);
            let woken = self.poller.wait(until.min(self.clock.now() + TICK), &[&self.socket])?;
            let mut is_over = false;
            while let Ok(message) = self.inbox.try_recv() {
                is_over |= self.on_message(message);
            }
            if woken.is_ready(0) {
                self.receive();
            }
            self.pump();
            if is_over {
                self.say_goodbye();
                return Ok(());
            }
            self.forget_gone();
        }
    }

    /// Returns whether to end.
    fn on_message(&mut self, message: Message) -> bool {
        let now = self.clock.now();
        match message {
            Message::Join(join, to) => {
                let joined = self.join(now, &join);
                reply(&to, joined);
            }
            Message::Patch { id, fragment, condition, reply: to } => {
                reply(&to, self.patch(now, &id, &fragment, &condition));
            }
            Message::Leave(id, to) => {
                let found = self.senders.values_mut().find(|sender| sender.id == id);
                let key = found.map(|sender| {
                    // The goodbye must be sent first.
                    sender.close(now);
                    sender.key
                });
                if let Some(key) = key {
                    self.pump();
                    self.remove(key);
                }
                reply(&to, key.is_some());
            }
            Message::Keyframe => self.senders.values_mut().for_each(|sender| sender.request_keyframe(now)),
            Message::Sender(id, to) => {
                let found = self.senders.values().find(|sender| sender.id == id);
                reply(&to, found.map(|sender| sender.report(now)));
            }
            Message::Senders(to) => reply(&to, self.senders.values().map(|sender| sender.report(now)).collect()),
            Message::About(to) => reply(&to, self.about()),
            Message::Metrics(to) => reply(&to, self.metrics(now)),
            Message::Stop => return true,
        }
        false
    }

    fn about(&self) -> String {
        let codecs: Vec<&str> = self.config.codecs.iter().map(|codec| codec.name()).collect();
        json!({ "version": env!("CARGO_PKG_VERSION"), "link": self.config.link_text, "codecs": codecs }).to_string()
    }

    fn receive(&mut self) {
        let Network { socket, senders, peers, clock, from_unknown_sources, .. } = self;
        socket.receive(|datagram| {
            let place = (0, datagram.from);
            let found = peers.find(place, datagram.bytes);
            let Some(sender) = found.and_then(|key| senders.get_mut(&key)) else {
                *from_unknown_sources += 1;
                return;
            };
            let received = sender.on_datagram(clock.now(), &datagram);
            if received == Received::Stun {
                peers.know(sender.key, place);
            }
        });
    }

    fn pump(&mut self) {
        let Network { socket, senders, clock, .. } = self;
        for sender in senders.values_mut() {
            sender.pump(clock, |datagram| {
                // What does not fit into the socket's buffer is lost, as anywhere on the path; the socket counts it.
                socket.transmit(Transmit::from_known(datagram.from, datagram.to, datagram.ecn, datagram.bytes));
            });
        }
    }

    fn forget_gone(&mut self) {
        let gone = self.senders.values().filter(|sender| sender.state == State::Closed);
        let keys: Vec<Key> = gone.map(|sender| sender.key).collect();
        keys.into_iter().for_each(|key| self.remove(key));
        self.ending.retain(|thread| !thread.is_finished());
    }

    /// Removes a sender. Its decoder may still be at work, which this thread does not wait for.
    fn remove(&mut self, key: Key) {
        self.peers.forget(key);
        let Some(sender) = self.senders.remove(&key) else { return };
        let (clock, finished) = (self.clock, self.finished.clone());
        let ended = spawn("ending", move || {
            if let Some(observed) = sender.end(&clock) {
                // Nobody may want it any more.
                let _ = finished.send(observed);
            }
        });
        match ended {
            Ok(thread) => self.ending.push(thread),
            Err(error) => tracing::error!(%error, "a sender's figures are lost: no thread for its end"),
        }
    }

    fn say_goodbye(mut self) {
        let now = self.clock.now();
        self.senders.values_mut().for_each(|sender| sender.close(now));
        self.pump();
        self.socket.flush();
        let keys: Vec<Key> = self.senders.keys().copied().collect();
        keys.into_iter().for_each(|key| self.remove(key));
        self.ending.into_iter().for_each(|thread| drop(thread.join()));
    }
}
