//! The network thread: the sockets, the viewers, and when each viewer needs service.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use thalweg_sender::{Registry, SenderFactory};
use thalweg_transport::sdp::Video;
use thalweg_transport::{Identity, Received, ufrag_of};
use thalweg_units::{Seed, Span, Time};
use thalweg_video::source::Format;

use super::config::{ChannelConfig, Codecs};
use super::messages::{Key, Message, Outbox, State, reply};
use super::overload::Tally;
use super::records::Records;
use super::viewer::{FrameCache, Offered, Viewer};
use super::{PublishError, is_stateful};
use crate::clock::Clock;
use crate::emulate::LinkHandle;
use crate::reactor::{Poller, Source, UdpSocket};
use crate::web::{About, LinkChange, Refused, RefusedKind};

/// An offer of ours is given up when there is no answer after this time, the same as for a connection that is not
/// established ([`thalweg_transport::Config::connect`]).
const UNANSWERED: Span = Span::from_secs(30);
/// Maximum interval between removals of expired entries.
const TICK: Span = Span::from_secs(1);
/// Addresses remembered for one viewer: enough for a phone with interfaces in three networks. The oldest is removed.
const MAX_ADDRESSES: usize = 16;

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

/// The state of the network thread.
pub(super) struct Network {
    pub(super) clock: Clock,
    pub(super) poller: Poller,
    pub(super) inbox: Receiver<Message>,
    pub(super) outbox: Outbox,
    pub(super) identity: Identity,
    pub(super) registry: Registry,
    pub(super) channels: Vec<Channel>,
    pub(super) codecs: Codecs,
    pub(super) format: Format,
    pub(super) audio: bool,
    pub(super) max_viewers: usize,
    pub(super) about: About,
    pub(super) seed: Seed,
    pub(super) viewers: BTreeMap<Key, Viewer>,
    /// Offers of ours that have not been answered.
    pub(super) offered: BTreeMap<Key, Offered>,
    pub(super) by_ufrag: BTreeMap<String, Key>,
    pub(super) by_address: BTreeMap<(usize, SocketAddr), Key>,
    pub(super) frame_cache: FrameCache,
    pub(super) next_key: Key,
    /// The number of the next picture, and how many pictures the camera skipped.
    pub(super) next_picture: u64,
    pub(super) missed: u64,
    /// The same over the last seconds.
    pub(super) camera: Tally,
    /// When picture 0 is captured.
    pub(super) begin: Time,
    /// When it was last judged whether this machine keeps up.
    pub(super) judged: Time,
    /// Datagrams from unknown sources.
    pub(super) from_unknown_sources: u64,
    pub(super) records: Records,
    /// The result, once the thread is to end.
    pub(super) ended: Option<Result<(), PublishError>>,
}

/// Whether the peer can follow a scheme: a scheme for stateful receivers is sent only to peers that negotiated state
/// changes, as this project's own receiver does and browsers do not.
pub(super) fn follows(scheme: &dyn SenderFactory, video: &Video) -> Result<(), Refused> {
    if !is_stateful(scheme) || video.extensions.states.is_some() && video.extensions.grace.is_some() {
        return Ok(());
    }
    let message = format!(
        "{} needs a stateful receiver, which a browser is not: choose salsify:standard-decoder or \
         thalweg:standard-decoder, or watch with `thalweg watch`",
        scheme.name()
    );
    Err(Refused::new(RefusedKind::UnknownScheme, message))
}

/// Assigns an address to a viewer.
fn know(by_address: &mut BTreeMap<(usize, SocketAddr), Key>, viewer: &mut Viewer, address: SocketAddr) {
    by_address.insert((viewer.channel, address), viewer.key);
    viewer.addresses.push_back(address);
    if viewer.addresses.len() > MAX_ADDRESSES
        && let Some(oldest) = viewer.addresses.pop_front()
    {
        forget(by_address, viewer, oldest);
    }
}

/// Removes an address from a viewer, unless it is another's by now: a phone's port is reused.
fn forget(by_address: &mut BTreeMap<(usize, SocketAddr), Key>, viewer: &Viewer, address: SocketAddr) {
    let place = (viewer.channel, address);
    if by_address.get(&place) == Some(&viewer.key) {
        by_address.remove(&place);
    }
}

impl Network {
    /// Runs until stopped, or until there are no more pictures.
    pub(super) fn run(mut self) -> Result<(), PublishError> {
        loop {
            let until = self.viewers.values().map(Viewer::wake).min().unwrap_or(Time::NEVER);
            let sources: Vec<&dyn Source> =
                self.channels.iter().map(|channel| &channel.socket as &dyn Source).collect();
            let woken = self.poller.wait(until.min(self.clock.now() + TICK), &sources)?;
            while let Ok(message) = self.inbox.try_recv() {
                self.on_message(message);
            }
            for channel in woken.ready {
                self.receive(channel);
            }
            self.work();
            if let Some(ended) = self.ended.take() {
                self.say_goodbye();
                return ended;
            }
        }
    }

    /// Does what is due, and removes viewers that are gone.
    pub(super) fn work(&mut self) {
        self.pump();
        self.forget_gone();
        let now = self.clock.now();
        if now - self.judged >= TICK {
            self.judged = now;
            self.judge(now);
        }
    }

    pub(super) fn on_message(&mut self, message: Message) {
        let now = self.clock.now();
        match message {
            Message::Picture(taken) => {
                let number = taken.number;
                let missed = number.saturating_sub(self.next_picture);
                self.missed += missed;
                self.camera.add(now, missed, missed + 1);
                self.next_picture = number + 1;
                self.frame_cache.put(taken);
                self.viewers.values_mut().for_each(|viewer| viewer.on_picture(now, number));
            }
            Message::CameraEnded(ended) => {
                if ended.is_ok() {
                    tracing::info!("the video has ended");
                }
                self.ended = Some(ended.map_err(PublishError::Video));
            }
            Message::Audio(audio) => {
                self.viewers.values_mut().for_each(|viewer| viewer.on_audio(now, audio.clone()));
            }
            Message::AudioEnded(ended) => match ended {
                Ok(()) => tracing::info!("the audio has ended"),
                Err(error) => tracing::error!(%error, "the audio failed; the video goes on"),
            },
            Message::Encoded { viewer, encoder, made } => {
                let Some(found) = self.viewers.get_mut(&viewer) else { return };
                match made {
                    Ok(made) => found.on_encoded(now, encoder, made, self.format.interval()),
                    Err(error) => {
                        tracing::error!(viewer, %error, "the encoder failed");
                        found.close(now);
                    }
                }
            }
            Message::Join(join, to) => {
                let joined = self.join(now, &join);
                reply(&to, joined);
            }
            Message::Patch { id, fragment, condition, reply: to } => {
                reply(&to, self.patch(now, &id, &fragment, &condition))
            }
            Message::Offer(states, to) => {
                let offer = self.offer(now, states);
                reply(&to, offer);
            }
            Message::Accept(key, answer, to) => {
                let accepted = self.accept(now, key, &answer);
                reply(&to, accepted);
            }
            Message::Restart(key, to) => {
                let fragment = self.restart(now, key);
                reply(&to, fragment);
            }
            Message::Restarted(key, fragment, to) => {
                let restarted = self.restarted(now, key, &fragment);
                reply(&to, restarted);
            }
            Message::Drop(key) => {
                self.offered.remove(&key);
                if let Some(viewer) = self.viewers.get_mut(&key) {
                    viewer.close(now);
                    self.pump();
                    self.remove(key);
                }
            }
            Message::Leave(id, to) => self.leave(now, &id, &to),
            Message::Switch { id, scheme, reply: to } => {
                let done = self.switch(now, &id, &scheme);
                reply(&to, done);
            }
            Message::ChangeLink { id, change, reply: to } => {
                let done = self.change_link(&id, &change);
                reply(&to, done);
            }
            Message::Snapshot(id, to) => {
                let snapshot = self.viewers.values().find(|viewer| viewer.id == id);
                reply(&to, snapshot.map(|viewer| self.snapshot(now, viewer)));
            }
            Message::About(to) => reply(&to, self.about.clone()),
            Message::Metrics(to) => reply(&to, self.metrics(now)),
            Message::Stop => self.ended = Some(Ok(())),
        }
    }

    fn receive(&mut self, channel: usize) {
        let Network { channels, viewers, by_address, by_ufrag, clock, from_unknown_sources, .. } = self;
        channels[channel].socket.receive(|datagram| {
            let place = (channel, datagram.from);
            let known = by_address.get(&place).copied();
            // A connectivity check names its receiver, so a viewer may send from a new address.
            let named = ufrag_of(datagram.bytes).and_then(|ufrag| by_ufrag.get(ufrag).copied());
            let Some(viewer) = named.or(known).and_then(|key| viewers.get_mut(&key)) else {
                *from_unknown_sources += 1;
                return;
            };
            // The ufrag in a check is no proof, its integrity is: otherwise an observer of the path could assign the
            // datagrams of others to this viewer, and push out its own address.
            let received = viewer.on_datagram(clock.now(), datagram.from, datagram.to, datagram.bytes);
            if received == Received::Stun && known != Some(viewer.key) && viewer.channel == channel {
                know(by_address, viewer, datagram.from);
            }
        });
    }

    /// An ICE-lite peer sends no checks that would name the viewer: it is recognised by the addresses in its
    /// signalling.
    pub(super) fn know_by_candidates(&mut self, key: Key) {
        let Network { viewers, by_address, .. } = self;
        let is_lite = |viewer: &&mut Viewer| viewer.remote.lite;
        let Some(viewer) = viewers.get_mut(&key).filter(is_lite) else { return };
        let named: Vec<SocketAddr> = viewer.outgoing.connection().remote_candidates().take(MAX_ADDRESSES).collect();
        for address in named {
            // An address already assigned to another viewer stays with it: signalling is no proof of ownership.
            if !by_address.contains_key(&(viewer.channel, address)) {
                know(by_address, viewer, address);
            }
        }
    }

    fn pump(&mut self) {
        let Network { channels, viewers, clock, frame_cache, records, .. } = self;
        for viewer in viewers.values_mut() {
            let socket = &mut channels[viewer.channel].socket;
            viewer.pump(clock, frame_cache, records, |datagram| {
                // What does not fit into the socket's buffer is lost, as anywhere on the path; the socket counts it.
                let _ = socket.send_from(datagram.from.ip(), datagram.to, &datagram.bytes);
            });
        }
    }

    fn forget_gone(&mut self) {
        let now = self.clock.now();
        let gone = self.viewers.values().filter(|viewer| viewer.state == State::Closed);
        let keys: Vec<Key> = gone.map(|viewer| viewer.key).collect();
        for key in keys {
            self.remove(key);
        }
        self.offered.retain(|_, offered| now - offered.at <= UNANSWERED);
    }

    fn remove(&mut self, key: Key) {
        if let Some(viewer) = self.viewers.remove(&key) {
            viewer.addresses.iter().for_each(|address| forget(&mut self.by_address, &viewer, *address));
            self.by_ufrag.retain(|_, other| *other != key);
            self.records.left(key);
        }
    }

    fn say_goodbye(mut self) {
        let now = self.clock.now();
        for viewer in self.viewers.values_mut() {
            viewer.close(now);
        }
        self.pump();
        self.channels.iter_mut().for_each(|channel| channel.socket.flush());
        self.records.finish();
    }

    pub(super) fn channel(&self, name: &str) -> Result<usize, Refused> {
        self.channels.iter().position(|channel| channel.config.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.channels.iter().map(|channel| channel.config.name.as_str()).collect();
            Refused::new(RefusedKind::NoSuchChannel, format!("no channel {name:?}: there is {}", names.join(", ")))
        })
    }

    /// A scheme by its name.
    pub(super) fn scheme(&self, name: &str) -> Result<Arc<dyn SenderFactory>, Refused> {
        let unknown = |message: String| Refused::new(RefusedKind::UnknownScheme, message);
        let scheme = self.registry.find(name).map_err(|error| unknown(error.to_string()))?;
        if is_stateful(&*scheme) || self.about.schemes.iter().any(|known| known.name == name) {
            Ok(scheme)
        } else {
            let names: Vec<&str> = self.about.schemes.iter().map(|known| known.name.as_str()).collect();
            Err(unknown(format!("{name} cannot be sent here: choose from {}", names.join(", "))))
        }
    }

    pub(super) fn switch(&mut self, now: Time, id: &str, name: &str) -> Result<(), Refused> {
        let scheme = self.scheme(name)?;
        let outbox = self.outbox.clone();
        let viewer = self.find(id)?;
        follows(&*scheme, viewer.outgoing.video())?;
        viewer.switch(now, scheme, &outbox).map_err(|error| Refused::new(RefusedKind::Unavailable, error))?;
        tracing::info!(viewer = viewer.key, scheme = name, "switched");
        Ok(())
    }

    /// Changes the links of all channels, which stay the same for all.
    pub(super) fn change_link(&mut self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        let viewer = self.find(id)?.key;
        let changes = change.changes()?;
        let links = || self.channels.iter().filter_map(|channel| channel.link.as_ref());
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

    pub(super) fn find(&mut self, id: &str) -> Result<&mut Viewer, Refused> {
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "no such viewer: it has left or was given up");
        self.viewers.values_mut().find(|viewer| viewer.id == id).ok_or_else(gone)
    }

    fn leave(&mut self, now: Time, id: &str, to: &SyncSender<bool>) {
        let found = self.find(id).map(|viewer| {
            // The goodbye must be sent first.
            viewer.close(now);
            viewer.key
        });
        if let Ok(key) = found {
            self.pump();
            self.remove(key);
        }
        reply(to, found.is_ok());
    }
}
