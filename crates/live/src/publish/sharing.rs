//! Who shares which encoder: viewers are placed on the ladder, and given frames.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_codecs::EncodeError;
use thalweg_session::Encoded;
use thalweg_units::{Rate, Size, Span, Time};

use super::coder::Encoding;
use super::ladder::Place;
use super::messages::{Key, RungId, State};
use super::network::{Network, News};
use super::viewer::Viewer;

/// How often viewers are placed anew.
const INTERVAL: Span = Span::from_millis(250);

impl Network {
    /// Places viewers on the ladder, at once when some came or went, and starts and ends encoders.
    pub(super) fn climb(&mut self, now: Time, audience_changed: bool) {
        if self.ladder.is_none() || !audience_changed && now - self.placed < INTERVAL {
            return;
        }
        self.placed = now;
        let encoding = self.encoding();
        let Some(ladder) = &mut self.ladder else { return };
        let is_here = |viewer: &&Viewer| matches!(viewer.state, State::Connected | State::Disconnected);
        let sharing = self.viewers.values().filter(is_here).filter(|viewer| viewer.can_share);
        let targets: Vec<(Key, Option<Rate>)> = sharing.map(|viewer| (viewer.key, viewer.gauges.target)).collect();
        ladder.update(now, &targets);
        let rungs: Vec<(RungId, Rate)> = ladder.rungs().collect();
        for (id, rate) in &rungs {
            if let Err(error) = self.shared.set(*id, (*rate, self.format.interval()), &encoding, &self.outbox) {
                tracing::error!(error, "no shared encoder");
            }
        }
        // The size that most of its viewers' senders ask for.
        let mut sizes: BTreeMap<RungId, BTreeMap<Size, usize>> = BTreeMap::new();
        let mut followed: BTreeSet<RungId> = rungs.iter().map(|(id, _)| *id).collect();
        for viewer in self.viewers.values_mut_untouched() {
            viewer.place = ladder.place(viewer.key);
            followed.extend(viewer.rung());
            if let (Place::Rung(id), Some(size)) = (viewer.place, viewer.gauges.size) {
                *sizes.entry(id).or_default().entry(size).or_default() += 1;
            }
        }
        for (id, sizes) in sizes {
            let most = sizes.into_iter().max_by_key(|(size, count)| (*count, size.pixels()));
            most.into_iter().for_each(|(size, _)| self.shared.set_size(id, size));
        }
        self.shared.keep(&followed);
    }

    /// Encoding parameters common to the viewers' encoders.
    pub(super) fn encoding(&self) -> Encoding {
        let (codecs, size, seed) = (&self.codecs, self.format.size, self.seed);
        Encoding { codec: codecs.codec.clone(), relayed: codecs.relayed, size, seed }
    }

    /// A shared encoder made frames, for its viewers, or failed, which ends them.
    pub(super) fn on_shared(&mut self, now: Time, id: RungId, made: Result<Vec<Encoded>, EncodeError>) {
        match made {
            Ok(made) => self.shared.on_made(now, id, made),
            Err(error) => {
                tracing::error!(%error, "a shared encoder failed");
                self.shared.remove(id);
                let on_it: Vec<Key> =
                    self.viewers.values().filter(|viewer| viewer.rung() == Some(id)).map(|viewer| viewer.key).collect();
                for key in on_it {
                    self.viewers.get_mut(key).into_iter().for_each(|viewer| viewer.close(now));
                }
                return;
            }
        }
        let waiting = self.viewers.values().filter(|viewer| viewer.rung() == Some(id) && viewer.waits());
        self.news.extend(waiting.map(|viewer| (viewer.key, News::Encoded)));
    }
}
