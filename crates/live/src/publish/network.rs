//! The network thread: it waits for datagrams, messages and times, and passes each to the part that it concerns.
//!
//! [`Channels`] are the sockets, [`Pictures`] the input that has come, [`Encoders`] decide where a viewer's frames come from,
//! the [`Audience`] are the viewers, [`Ceilings`] share out what may be sent, and the [`Catalog`] is what viewers may choose.

use std::sync::mpsc::Receiver;

use thalweg_netsim::FindTrace;
use thalweg_transport::Identity;
use thalweg_units::{Span, Time};
use thalweg_video::source::Format;

use super::PublishError;
use super::catalog::Catalog;
use super::channels::Channels;
use super::config::{Codecs, PublishConfig};
use super::encoders::coder::Encoding;
use super::encoders::placement::{Demand, Encoders};
use super::messages::{Key, Message, Outbox, State, reply};
use super::records::Records;
use super::sources::camera::Taken;
use super::sources::pictures::Pictures;
use super::status::keeping_up;
use super::status::metrics::Metrics;
use super::status::snapshot::snapshot;
use super::viewers::audience::{AT_ONCE, Audience, News};
use super::viewers::ceilings::{Ceilings, usable};
use super::viewers::played::Played;
use super::viewers::viewer::Viewer;
use crate::web::{LinkChange, Refused, RefusedKind, Snapshot};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig};
use thalweg_emulate::{LinkHandle, Relay};

/// Maximum interval between removals of expired entries.
const TICK: Span = Span::from_secs(1);

/// The state of the network thread.
pub(super) struct Network {
    pub(super) clock: Clock,
    poller: Poller,
    pub(super) inbox: Receiver<Message>,
    pub(super) outbox: Outbox,
    pub(super) identity: Identity,
    pub(super) catalog: Catalog,
    pub(super) channels: Channels,
    pub(super) pictures: Pictures,
    pub(super) encoders: Encoders,
    pub(super) audience: Audience,
    pub(super) ceilings: Ceilings,
    pub(super) records: Records,
    /// When it was last judged whether this machine keeps up.
    judged: Time,
    /// The result, once the thread is to end.
    ended: Option<Result<(), PublishError>>,
}

impl Network {
    /// Opens what `config` says, whose video is this and begins then; returns the emulated links in front of it too.
    pub(super) fn open(
        config: &PublishConfig,
        clock: Clock,
        (codecs, format, begin): (Codecs, Format, Time),
        find: &mut FindTrace<'_>,
    ) -> Result<(Network, Vec<Relay>), PublishError> {
        let poller = Poller::new(clock, PollerConfig::default())?;
        let (outbox, inbox) = Outbox::new(poller.waker());
        let records = Records::open(config.pcap.as_ref(), config.qlog.as_ref(), clock)?;
        let (channels, relays) = Channels::open(&config.channels, clock, find)?;
        let catalog = Catalog::new(config, &clock, begin, (codecs.offered, format));
        let encoding = Encoding { codec: codecs.codec, relayed: codecs.relayed, size: format.size, seed: config.seed };
        let encoders = Encoders::new(encoding, format.interval(), config.encoders, begin, outbox.clone());
        // An emulated link is there to be filled.
        let is_open = config.channels.iter().all(|channel| channel.link.is_none());
        let usable = is_open.then(|| usable(format));
        let (of_encoder, before_media) = if config.codec.is_some() { (usable, None) } else { (None, usable) };
        let max_rate = config.max_rate.or_else(|| {
            let usable = of_encoder?;
            tracing::info!(max_rate = %usable, "each viewer is sent at most what an encoder can use at {}", format.size);
            Some(usable)
        });
        let network = Network {
            clock,
            poller,
            inbox,
            outbox,
            identity: Identity::generate()?,
            catalog,
            channels,
            pictures: Pictures::new(format, begin),
            encoders,
            audience: Audience::new(config.max_viewers),
            ceilings: Ceilings::new(max_rate, config.max_total_rate, begin).following_media(before_media),
            records,
            judged: begin,
            ended: None,
        };
        Ok((network, relays))
    }

    /// Runs until stopped, or until there are no more pictures.
    pub(super) fn run(mut self) -> Result<(), PublishError> {
        loop {
            let until = self.audience.wake().min(self.clock.now() + TICK);
            let woken = self.poller.wait(until, &self.channels.sources())?;
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
        self.audience.inform(self.clock.now(), &self.encoders);
        self.pump();
        let now = self.clock.now();
        self.audience.give_up_offers(now);
        let audience_changed = std::mem::take(&mut self.audience.has_changed);
        self.ceilings.share_out(now, audience_changed, &mut self.audience.viewers);
        if self.encoders.must_place(now, audience_changed) {
            self.place(now);
        }
        if now - self.judged >= TICK {
            self.judged = now;
            keeping_up::judge(now, &self.pictures, &mut self.audience.viewers);
            self.watch_source(now);
            self.audience.judge_reports(now, self.pictures.format.size);
        }
    }

    /// Tells viewers and the log when no more pictures come.
    fn watch_source(&mut self, now: Time) {
        match self.pictures.turned_silent(now) {
            Some(true) => {
                let why = self.pictures.awaited(now).unwrap_or_default();
                tracing::warn!("no pictures come: {why}; viewers wait, and are sent no padding");
                for viewer in self.audience.viewers.values_mut() {
                    viewer.outgoing.on_source_silent(now);
                    viewer.due(now);
                }
            }
            Some(false) => tracing::info!("pictures come again"),
            None => {}
        }
    }

    /// Passes on a message from another thread.
    pub(super) fn on_message(&mut self, message: Message) {
        let now = self.clock.now();
        match message {
            Message::Picture(taken) => {
                self.pictures.on_taken(now, &taken);
                self.on_picture(now, taken);
            }
            Message::Given(seen) => {
                let taken = self.pictures.given(now, seen);
                self.on_picture(now, taken);
            }
            Message::Upstream(ask) => self.encoders.upstream.ask_by(ask),
            Message::CameraEnded(ended) => {
                if ended.is_ok() {
                    tracing::info!("the video has ended");
                }
                self.ended = Some(ended.map_err(PublishError::Video));
            }
            Message::Audio(audio) => self.audience.announce(&News::Audio(audio), |_| true),
            Message::AudioEnded(ended) => match ended {
                Ok(()) => tracing::info!("the audio has ended"),
                Err(error) => tracing::error!(%error, "the audio failed; the video goes on"),
            },
            Message::Encoded { viewer, encoder, made } => {
                let Some(found) = self.audience.viewers.get_mut(viewer) else { return };
                match made {
                    Ok(made) => found.on_encoded(now, encoder, made, self.encoders.interval),
                    Err(error) => {
                        tracing::error!(viewer, %error, "the encoder failed");
                        found.close(now);
                    }
                }
            }
            Message::Shared { rung, made } => match self.encoders.on_made(now, rung, made) {
                Ok(()) => {
                    self.audience.announce(&News::Encoded, |viewer| viewer.rung() == Some(rung) && viewer.waits())
                }
                Err(error) => {
                    tracing::error!(%error, "a shared encoder failed");
                    self.audience.close(now, |viewer| viewer.rung() == Some(rung));
                }
            },
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
                self.audience.offered.remove(&key);
                self.end(now, key);
            }
            Message::Leave(id, to) => {
                let found = self.audience.find(&id).map(|viewer| viewer.key);
                if let Ok(key) = found {
                    self.end(now, key);
                }
                reply(&to, found.is_ok());
            }
            Message::Switch { id, scheme, reply: to } => {
                let done = self.switch(now, &id, &scheme);
                reply(&to, done);
            }
            Message::ChangeLink { id, change, reply: to } => {
                let done = self.change_link(&id, &change);
                reply(&to, done);
            }
            Message::Snapshot(id, to) => reply(&to, self.snapshot(now, &id)),
            Message::About(to) => reply(&to, self.catalog.about.clone()),
            Message::Metrics(to) => reply(&to, self.metrics(now)),
            Message::Stop => self.ended = Some(Ok(())),
        }
    }

    /// Takes what has come to a channel's socket.
    pub(super) fn receive(&mut self, channel: usize) {
        let Network { channels, audience, clock, .. } = self;
        channels.receive(channel, |datagram| audience.on_datagram(clock.now(), channel, &datagram));
    }

    /// A picture or an encoded frame has come.
    fn on_picture(&mut self, now: Time, taken: Taken) {
        let (number, captured) = (taken.number, taken.captured);
        self.encoders.on_picture(now, &taken);
        self.pictures.put(now, taken);
        self.audience.announce(&News::Picture(number, captured), |_| true);
    }

    /// Places viewers among the encoders anew.
    fn place(&mut self, now: Time) {
        let viewers = &mut self.audience.viewers;
        let demands: Vec<Demand> = viewers.values().map(Viewer::demand).collect();
        self.encoders.place(now, &demands);
        for viewer in viewers.values_mut_untouched() {
            viewer.place = self.encoders.place_of(viewer.key);
        }
    }

    /// Serves the viewers that need it, ends those that lie, and removes those that are gone.
    fn pump(&mut self) {
        let Network { channels, audience, clock, pictures, encoders, records, .. } = self;
        let (mut served, mut liars, mut gone, mut keyframes) = (0, 0, Vec::new(), Vec::new());
        let mut has_changed = false;
        audience.viewers.serve(clock.now(), |viewer| {
            if viewer.has_lied() {
                viewer.close(clock.now());
                liars += 1;
            }
            let (state, channel) = (viewer.state, viewer.channel);
            viewer.pump(clock, (pictures, &encoders.pool), records, |datagram| channels.push(channel, datagram));
            has_changed |= viewer.state != state;
            keyframes.extend(viewer.take_keyframe_request().map(|source| (source, viewer.key)));
            if viewer.state == State::Closed {
                gone.push(viewer.key);
            }
            served += 1;
            if served % AT_ONCE == 0 {
                channels.flush();
            }
        });
        channels.flush();
        audience.has_changed |= has_changed;
        audience.false_acknowledgements += liars;
        let now = clock.now();
        for (source, viewer) in keyframes {
            encoders.need_keyframe(now, source, viewer);
        }
        gone.into_iter().for_each(|key| self.remove(key));
    }

    /// Ends a viewer, whose goodbye is sent first.
    fn end(&mut self, now: Time, key: Key) {
        if let Some(viewer) = self.audience.viewers.get_mut(key) {
            viewer.close(now);
            self.pump();
            self.remove(key);
        }
    }

    fn remove(&mut self, key: Key) {
        if self.audience.remove(key) {
            self.records.left(key);
        }
    }

    fn say_goodbye(mut self) {
        self.audience.close(self.clock.now(), |_| true);
        self.pump();
        self.records.finish();
    }

    /// Sends to a viewer with another scheme.
    pub(super) fn switch(&mut self, now: Time, id: &str, name: &str) -> Result<(), Refused> {
        let (scheme, size) = (self.catalog.scheme(name)?, self.pictures.format.size);
        let viewer = self.audience.find(id)?;
        let scheme = self.catalog.followed(scheme, viewer.outgoing.video())?;
        let played = Played::choose(scheme, viewer.reports, size);
        viewer.switch(now, played).map_err(|error| Refused::new(RefusedKind::Unavailable, error))
    }

    /// Changes the emulated links, as a viewer asks.
    pub(super) fn change_link(&mut self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        let viewer = self.audience.find(id)?.key;
        self.channels.change_links(viewer, change)
    }

    /// The statistics of one viewer.
    pub(super) fn snapshot(&self, now: Time, id: &str) -> Option<Snapshot> {
        let viewer = self.audience.viewers.values().find(|viewer| viewer.id == id)?;
        let link = self.channels[viewer.channel].link.as_ref().map(LinkHandle::state);
        Some(snapshot(now, viewer, link, &self.pictures))
    }

    /// All metrics, as text for Prometheus.
    pub(super) fn metrics(&self, now: Time) -> String {
        let Network { audience, channels, encoders, pictures, .. } = self;
        Metrics { now, audience, channels, encoders, pictures }.text()
    }
}
