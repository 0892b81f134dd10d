//! The audience: who watches or is about to, whose datagrams are whose, and what each has yet to learn.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use thalweg_session::AudioFrame;
use thalweg_transport::Received;
use thalweg_units::{Size, Span, Time};

use super::played::Played;
use super::schedule::Viewers;
use super::viewer::{Offered, Viewer};
use crate::peers::{MAX_ADDRESSES, Peers};
use crate::publish::encoders::placement::Encoders;
use crate::publish::messages::{Key, State};
use crate::web::{Refused, RefusedKind};
use thalweg_emulate::reactor;

/// An offer of ours is given up when there is no answer after this time, the same as for a connection that is not
/// established ([`thalweg_transport::Config::connect`]).
const UNANSWERED: Span = Span::from_secs(30);
/// Viewers that are served, or that learn of something, before what they send leaves and packets of others that are due go
/// first: 0.3 ms of a busy publisher.
pub(crate) const AT_ONCE: usize = 16;

/// News for all viewers, sent to a few at a time.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// A picture with this number was taken then.
    Picture(u64, Time),
    /// An audio packet was made.
    Audio(AudioFrame),
    /// The shared encoder of the viewer has made a frame.
    Encoded,
}

/// Viewers, and offers of ours that have not been answered.
pub(crate) struct Audience {
    pub(crate) viewers: Viewers,
    pub(crate) offered: BTreeMap<Key, Offered>,
    pub(crate) peers: Peers,
    /// The most of them.
    max: usize,
    next_key: Key,
    /// Who has yet to learn what.
    news: VecDeque<(Key, News)>,
    /// True if viewers came, went, connected or disconnected since rates and encoders were shared out.
    pub(crate) has_changed: bool,
    /// Datagrams from unknown sources.
    pub(crate) from_unknown_sources: u64,
    /// Viewers ended because they acknowledged what was never sent.
    pub(crate) false_acknowledgements: u64,
}

impl Audience {
    pub(crate) fn new(max: usize) -> Audience {
        Audience {
            viewers: Viewers::default(),
            offered: BTreeMap::new(),
            peers: Peers::default(),
            max,
            next_key: 0,
            news: VecDeque::new(),
            has_changed: false,
            from_unknown_sources: 0,
            false_acknowledgements: 0,
        }
    }

    /// When the next viewer needs service, or learns of something.
    pub(crate) fn wake(&self) -> Time {
        if self.news.is_empty() { self.viewers.wake() } else { Time::ZERO }
    }

    /// The viewer of this session, which is served next.
    pub(crate) fn find(&mut self, id: &str) -> Result<&mut Viewer, Refused> {
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "no such viewer: it has left or was given up");
        let key = self.viewers.values().find(|viewer| viewer.id == id).map(|viewer| viewer.key);
        key.and_then(|key| self.viewers.get_mut(key)).ok_or_else(gone)
    }

    /// Refuses one more viewer from an address whose unconnected ones take half of the places: they keep others out, for
    /// 30 s each.
    pub(crate) fn check_unconnected(&self, from: Option<IpAddr>) -> Result<(), Refused> {
        let Some(from) = from else { return Ok(()) };
        let unconnected = |viewer: &&Viewer| viewer.state == State::Connecting && viewer.from == Some(from);
        let (here, max) = (self.viewers.values().filter(unconnected).count(), (self.max / 2).max(1));
        if here < max {
            return Ok(());
        }
        let message = format!("{here} viewers joined from your address and have not connected; try again later");
        Err(Refused::new(RefusedKind::Full, message))
    }

    /// How many are here, of whom one more may come.
    pub(crate) fn check_room(&self) -> Result<usize, Refused> {
        let here = self.viewers.len() + self.offered.len();
        if here < self.max {
            return Ok(here);
        }
        let message = format!("{here} viewers are here, which is the most allowed; try again later");
        Err(Refused::new(RefusedKind::Full, message))
    }

    /// The key of the next viewer.
    pub(crate) fn next_key(&mut self) -> Key {
        self.next_key += 1;
        self.next_key - 1
    }

    /// A viewer has joined, whose checks name us by this ufrag.
    pub(crate) fn add(&mut self, viewer: Viewer, ufrag: &str) {
        let key = viewer.key;
        self.peers.name(key, ufrag);
        self.viewers.insert(viewer);
        self.has_changed = true;
        self.know_by_candidates(key);
    }

    /// Forgets a viewer; returns whether it was here.
    pub(crate) fn remove(&mut self, key: Key) -> bool {
        let was_here = self.viewers.remove(key).is_some();
        if was_here {
            self.has_changed = true;
            self.peers.forget(key);
        }
        was_here
    }

    /// Gives up offers that nobody has answered.
    pub(crate) fn give_up_offers(&mut self, now: Time) {
        self.offered.retain(|_, offered| now - offered.at <= UNANSWERED);
    }

    /// A datagram came to the socket of a channel.
    pub(crate) fn on_datagram(&mut self, now: Time, channel: usize, datagram: &reactor::Received<'_>) {
        let place = (channel, datagram.from);
        let found = self.peers.find(place, datagram.bytes);
        let Some(viewer) = found.and_then(|key| self.viewers.get_mut(key)) else {
            self.from_unknown_sources += 1;
            return;
        };
        let received = viewer.on_datagram(now, datagram);
        if received == Received::Stun && viewer.channel == channel {
            self.peers.know(viewer.key, place);
        }
    }

    /// An ICE-lite peer sends no checks that would name the viewer: it is recognised by the addresses in its
    /// signalling.
    pub(crate) fn know_by_candidates(&mut self, key: Key) {
        let is_lite = |viewer: &&mut Viewer| viewer.remote.lite;
        let Some(viewer) = self.viewers.get_mut(key).filter(is_lite) else { return };
        let named: Vec<SocketAddr> = viewer.outgoing.connection().remote_candidates().take(MAX_ADDRESSES).collect();
        for address in named {
            // An address already assigned to another viewer stays with it: signalling is no proof of ownership.
            if !self.peers.is_known((viewer.channel, address)) {
                self.peers.know(key, (viewer.channel, address));
            }
        }
    }

    /// These viewers learn of something when it is their turn.
    pub(crate) fn announce(&mut self, news: &News, to: impl Fn(&Viewer) -> bool) {
        let keys = self.viewers.values().filter(|viewer| to(viewer)).map(|viewer| viewer.key);
        self.news.extend(keys.map(|key| (key, news.clone())));
    }

    /// Hands the next few viewers their news.
    pub(crate) fn inform(&mut self, now: Time, encoders: &Encoders) {
        for (key, news) in self.news.drain(..AT_ONCE.min(self.news.len())) {
            let Some(viewer) = self.viewers.get_mut(key) else { continue };
            match news {
                News::Picture(number, captured) => viewer.on_picture(now, captured, number),
                News::Audio(audio) => viewer.on_audio(now, audio),
                News::Encoded => viewer.on_shared(now, &encoders.pool, encoders.interval),
            }
        }
    }

    /// Says goodbye to these viewers.
    pub(crate) fn close(&mut self, now: Time, whom: impl Fn(&Viewer) -> bool) {
        let keys: Vec<Key> = self.viewers.values().filter(|viewer| whom(viewer)).map(|viewer| viewer.key).collect();
        for key in keys {
            self.viewers.get_mut(key).into_iter().for_each(|viewer| viewer.close(now));
        }
    }

    /// Gives those whose reports turn out to be too seldom for their scheme another one.
    pub(crate) fn judge_reports(&mut self, now: Time, size: Size) {
        let connected = self.viewers.values_mut_untouched().filter(|viewer| viewer.state == State::Connected);
        let seldom: Vec<Key> =
            connected.filter_map(|viewer| viewer.reports_are_seldom(now).then_some(viewer.key)).collect();
        for key in seldom {
            let Some(viewer) = self.viewers.get_mut(key) else { continue };
            let played = Played::choose(viewer.outgoing.scheme().clone(), viewer.reports, size);
            if played.asked.is_none() {
                continue;
            }
            if let Err(error) = viewer.switch(now, played) {
                tracing::warn!(viewer = key, error, "the viewer reports seldom, and its scheme stays");
            }
        }
    }
}
