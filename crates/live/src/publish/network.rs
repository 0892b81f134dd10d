//! The network thread: the sockets, the viewers, and when each viewer needs service.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use thalweg_sender::{Registry, SenderFactory};
use thalweg_session::AudioFrame;
use thalweg_transport::sdp::Video;
use thalweg_transport::{Identity, Received};
use thalweg_units::{Rate, Seed, Span, Time};
use thalweg_video::source::Format;

use super::camera::Taken;
use super::coder::KeyframeSource;
use super::config::{ChannelConfig, Codecs};
use super::ladder::Ladder;
use super::messages::{Key, Message, Outbox, State, reply};
use super::overload::Tally;
use super::played::Played;
use super::records::Records;
use super::shared::Shared;
use super::upstream::Upstream;
use super::viewer::{FrameCache, Offered, Viewer};
use super::viewers::Viewers;
use super::{PublishError, is_stateful};
use crate::peers::{MAX_ADDRESSES, Peers};
use crate::web::{About, LinkChange, Refused, RefusedKind};
use thalweg_emulate::LinkHandle;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, Source, Transmit, UdpSocket};

/// An offer of ours is given up when there is no answer after this time, the same as for a connection that is not
/// established ([`thalweg_transport::Config::connect`]).
const UNANSWERED: Span = Span::from_secs(30);
/// Maximum interval between removals of expired entries.
const TICK: Span = Span::from_secs(1);
/// Viewers that are served, or that learn of something, before what they send leaves and packets of others that are due go
/// first: 0.3 ms of a busy publisher.
const AT_ONCE: usize = 16;

/// News for all viewers, sent to a few at a time.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// A picture with this number was taken.
    Picture(u64),
    /// An audio packet was made.
    Audio(AudioFrame),
    /// The shared encoder of the viewer has made a frame.
    Encoded,
}

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
    /// The most that one viewer, and all together, may be sent.
    pub(super) max_rate: Option<Rate>,
    pub(super) max_total_rate: Option<Rate>,
    /// When that was last shared out.
    pub(super) shared_out: Time,
    /// Viewers ended because they acknowledged what was never sent.
    pub(super) false_acknowledgements: u64,
    pub(super) about: About,
    pub(super) seed: Seed,
    pub(super) viewers: Viewers,
    /// Who has yet to learn what.
    pub(super) news: VecDeque<(Key, News)>,
    /// True if viewers came, went, connected or disconnected since rates and encoders were shared out.
    pub(super) audience_changed: bool,
    /// Offers of ours that have not been answered.
    pub(super) offered: BTreeMap<Key, Offered>,
    pub(super) peers: Peers,
    pub(super) frame_cache: FrameCache,
    /// Who shares which encoder, where encoders are shared.
    pub(super) ladder: Option<Ladder>,
    pub(super) shared: Shared,
    /// Where frames come from that are passed on.
    pub(super) upstream: Upstream,
    /// When viewers were last placed on the ladder.
    pub(super) placed: Time,
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

/// Checks that the peer can follow a scheme: a scheme for stateful receivers is sent only to peers that negotiated
/// state changes, as this project's own receiver does and browsers do not.
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

impl Network {
    /// Runs until stopped, or until there are no more pictures.
    pub(super) fn run(mut self) -> Result<(), PublishError> {
        loop {
            let until = if self.news.is_empty() { self.viewers.wake() } else { Time::ZERO };
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
        self.inform();
        self.pump();
        let now = self.clock.now();
        self.offered.retain(|_, offered| now - offered.at <= UNANSWERED);
        let audience_changed = std::mem::take(&mut self.audience_changed);
        self.share_out(now, audience_changed);
        self.climb(now, audience_changed);
        if now - self.judged >= TICK {
            self.judged = now;
            self.judge(now);
            self.judge_reports(now);
        }
    }

    pub(super) fn on_message(&mut self, message: Message) {
        let now = self.clock.now();
        match message {
            Message::Picture(taken) => {
                let missed = taken.number.saturating_sub(self.next_picture);
                self.missed += missed;
                self.camera.add(now, missed, missed + 1);
                self.on_picture(now, taken);
            }
            Message::Given(seen) => self.on_picture(now, Taken { number: self.next_picture, seen }),
            Message::Upstream(ask) => self.upstream.ask_by(ask),
            Message::CameraEnded(ended) => {
                if ended.is_ok() {
                    tracing::info!("the video has ended");
                }
                self.ended = Some(ended.map_err(PublishError::Video));
            }
            Message::Audio(audio) => self.announce(&News::Audio(audio)),
            Message::AudioEnded(ended) => match ended {
                Ok(()) => tracing::info!("the audio has ended"),
                Err(error) => tracing::error!(%error, "the audio failed; the video goes on"),
            },
            Message::Encoded { viewer, encoder, made } => {
                let Some(found) = self.viewers.get_mut(viewer) else { return };
                match made {
                    Ok(made) => found.on_encoded(now, encoder, made, self.format.interval()),
                    Err(error) => {
                        tracing::error!(viewer, %error, "the encoder failed");
                        found.close(now);
                    }
                }
            }
            Message::Shared { rung, made } => self.on_shared(now, rung, made),
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
                if let Some(viewer) = self.viewers.get_mut(key) {
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

    pub(super) fn receive(&mut self, channel: usize) {
        let Network { channels, viewers, peers, clock, from_unknown_sources, .. } = self;
        channels[channel].socket.receive(|datagram| {
            let place = (channel, datagram.from);
            let found = peers.find(place, datagram.bytes);
            let Some(viewer) = found.and_then(|key| viewers.get_mut(key)) else {
                *from_unknown_sources += 1;
                return;
            };
            let received = viewer.on_datagram(clock.now(), &datagram);
            if received == Received::Stun && viewer.channel == channel {
                peers.know(viewer.key, place);
            }
        });
    }

    /// An ICE-lite peer sends no checks that would name the viewer: it is recognised by the addresses in its
    /// signalling.
    pub(super) fn know_by_candidates(&mut self, key: Key) {
        let Network { viewers, peers, .. } = self;
        let is_lite = |viewer: &&mut Viewer| viewer.remote.lite;
        let Some(viewer) = viewers.get_mut(key).filter(is_lite) else { return };
        let named: Vec<SocketAddr> = viewer.outgoing.connection().remote_candidates().take(MAX_ADDRESSES).collect();
        for address in named {
            // An address already assigned to another viewer stays with it: signalling is no proof of ownership.
            if !peers.is_known((viewer.channel, address)) {
                peers.know(key, (viewer.channel, address));
            }
        }
    }

    /// A picture or an encoded frame has come.
    fn on_picture(&mut self, now: Time, taken: Taken) {
        let number = taken.number;
        self.next_picture = number + 1;
        self.upstream.on_picture(now, &taken.seen);
        self.shared.on_picture(now, &taken);
        self.frame_cache.put(taken);
        self.announce(&News::Picture(number));
    }

    fn announce(&mut self, news: &News) {
        self.news.extend(self.viewers.keys().map(|key| (key, news.clone())));
    }

    /// Hands the next few viewers their news.
    fn inform(&mut self) {
        let now = self.clock.now();
        for (key, news) in self.news.drain(..AT_ONCE.min(self.news.len())) {
            let Some(viewer) = self.viewers.get_mut(key) else { continue };
            match news {
                News::Picture(number) => viewer.on_picture(now, number),
                News::Audio(audio) => viewer.on_audio(now, audio),
                News::Encoded => viewer.on_shared(now, &self.shared, self.format.interval()),
            }
        }
    }

    /// Serves the viewers that need it, ends those that lie, and removes those that are gone.
    fn pump(&mut self) {
        let Network { channels, viewers, clock, frame_cache, shared, records, audience_changed, .. } = self;
        let (mut served, mut liars, mut gone, mut keyframes) = (0, 0, Vec::new(), Vec::new());
        viewers.serve(clock.now(), |viewer| {
            if viewer.has_lied() {
                viewer.close(clock.now());
                liars += 1;
            }
            let (state, socket) = (viewer.state, &mut channels[viewer.channel].socket);
            viewer.pump(clock, (frame_cache, shared), records, |datagram| {
                // What does not fit into the socket's buffer is lost, as anywhere on the path; the socket counts it.
                socket.push(Transmit::from_known(datagram.from, datagram.to, datagram.ecn, datagram.bytes));
            });
            *audience_changed |= viewer.state != state;
            keyframes.extend(viewer.take_keyframe_request().map(|source| (source, viewer.key)));
            if viewer.state == State::Closed {
                gone.push(viewer.key);
            }
            served += 1;
            if served % AT_ONCE == 0 {
                channels.iter_mut().for_each(|channel| channel.socket.flush());
            }
        });
        channels.iter_mut().for_each(|channel| channel.socket.flush());
        self.false_acknowledgements += liars;
        let now = self.clock.now();
        for (source, viewer) in keyframes {
            match source {
                KeyframeSource::Rung(id) => self.shared.ask_for_keyframe(now, id, viewer),
                KeyframeSource::Upstream => self.upstream.need_keyframe(now, viewer),
            }
        }
        gone.into_iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: Key) {
        if self.viewers.remove(key).is_some() {
            self.audience_changed = true;
            self.peers.forget(key);
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
            Err(unknown(format!("{name} cannot be sent here: expected one of {}", names.join(", "))))
        }
    }

    pub(super) fn switch(&mut self, now: Time, id: &str, name: &str) -> Result<(), Refused> {
        let (scheme, size) = (self.scheme(name)?, self.format.size);
        let viewer = self.find(id)?;
        let played = Played::choose(scheme, viewer.reports, size);
        follows(&*played.scheme, viewer.outgoing.video())?;
        viewer.switch(now, played).map_err(|error| Refused::new(RefusedKind::Unavailable, error))
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
        let key = self.viewers.values().find(|viewer| viewer.id == id).map(|viewer| viewer.key);
        key.and_then(|key| self.viewers.get_mut(key)).ok_or_else(gone)
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
