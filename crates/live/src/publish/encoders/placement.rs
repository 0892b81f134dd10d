//! Who shares which encoder: viewers are placed on the ladder, each rung of which is an encoder that runs.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_codecs::EncodeError;
use thalweg_session::Encoded;
use thalweg_units::{Rate, Size, Span, Time};

use super::coder::{Encoding, KeyframeSource};
use super::ladder::{Ladder, Place};
use super::pool::Pool;
use super::upstream::Upstream;
use crate::publish::messages::{Key, Outbox, RungId};
use crate::publish::sources::camera::Taken;

/// How often viewers are placed anew.
const INTERVAL: Span = Span::from_millis(250);

/// A viewer's demand of the encoders.
pub(crate) struct Demand {
    pub(crate) viewer: Key,
    /// True if it is connected, and its sender can do with frames of a shared encoder.
    pub(crate) may_share: bool,
    /// The rate and the size that its sender last asked an encoder for.
    pub(crate) target: Option<Rate>,
    pub(crate) size: Option<Size>,
    /// The shared encoder that its frames come from now.
    pub(crate) rung: Option<RungId>,
}

/// The encoders that viewers share, and the sender of frames that are passed on.
pub(crate) struct Encoders {
    /// The parameters that all encoders have in common.
    pub(crate) encoding: Encoding,
    /// The interval between pictures.
    pub(crate) interval: Span,
    outbox: Outbox,
    /// The places of viewers; `None` where each has an encoder of its own.
    ladder: Option<Ladder>,
    /// When viewers were last placed.
    placed: Time,
    pub(crate) pool: Pool,
    pub(crate) upstream: Upstream,
}

impl Encoders {
    /// At most `most` encoders for those who may share; `None` for one each.
    pub(crate) fn new(
        encoding: Encoding,
        interval: Span,
        most: Option<usize>,
        begin: Time,
        outbox: Outbox,
    ) -> Encoders {
        Encoders {
            encoding,
            interval,
            outbox,
            ladder: most.map(Ladder::new),
            placed: begin,
            pool: Pool::default(),
            upstream: Upstream::default(),
        }
    }

    /// Returns true if viewers are to be placed now: several times a second, and at once when some came or went.
    pub(crate) fn must_place(&self, now: Time, audience_changed: bool) -> bool {
        self.ladder.is_some() && (audience_changed || now - self.placed >= INTERVAL)
    }

    /// Places viewers on the ladder, and starts and ends encoders.
    pub(crate) fn place(&mut self, now: Time, demands: &[Demand]) {
        let Some(ladder) = &mut self.ladder else { return };
        self.placed = now;
        let sharing = demands.iter().filter(|demand| demand.may_share);
        let targets: Vec<(Key, Option<Rate>)> = sharing.map(|demand| (demand.viewer, demand.target)).collect();
        ladder.update(now, &targets);
        let rungs: Vec<(RungId, Rate)> = ladder.rungs().collect();
        for (id, rate) in &rungs {
            if let Err(error) = self.pool.set(*id, (*rate, self.interval), &self.encoding, &self.outbox) {
                tracing::error!(error, "no shared encoder");
            }
        }
        // The size that most of its viewers' senders ask for.
        let mut sizes: BTreeMap<RungId, BTreeMap<Size, usize>> = BTreeMap::new();
        let mut followed: BTreeSet<RungId> = rungs.iter().map(|(id, _)| *id).collect();
        for demand in demands {
            followed.extend(demand.rung);
            if let (Place::Rung(id), Some(size)) = (ladder.place(demand.viewer), demand.size) {
                *sizes.entry(id).or_default().entry(size).or_default() += 1;
            }
        }
        for (id, sizes) in sizes {
            let most = sizes.into_iter().max_by_key(|(size, count)| (*count, size.pixels()));
            most.into_iter().for_each(|(size, _)| self.pool.set_size(id, size));
        }
        self.pool.keep(&followed);
    }

    /// Where this viewer's frames should come from.
    pub(crate) fn place_of(&self, viewer: Key) -> Place {
        self.ladder.as_ref().map_or(Place::Own, |ladder| ladder.place(viewer))
    }

    /// A picture, or a frame to pass on, has come.
    pub(crate) fn on_picture(&mut self, now: Time, taken: &Taken) {
        self.upstream.on_picture(now, &taken.seen);
        self.pool.on_picture(now, taken);
    }

    /// A viewer needs a keyframe.
    pub(crate) fn need_keyframe(&mut self, now: Time, source: KeyframeSource, viewer: Key) {
        match source {
            KeyframeSource::Rung(id) => self.pool.ask_for_keyframe(now, id, viewer),
            KeyframeSource::Upstream => self.upstream.need_keyframe(now, viewer),
        }
    }

    /// A shared encoder made frames; one that failed has ended.
    pub(crate) fn on_made(
        &mut self,
        now: Time,
        id: RungId,
        made: Result<Vec<Encoded>, EncodeError>,
    ) -> Result<(), EncodeError> {
        match made {
            Ok(made) => self.pool.on_made(now, id, made),
            Err(error) => {
                self.pool.remove(id);
                return Err(error);
            }
        }
        Ok(())
    }
}
