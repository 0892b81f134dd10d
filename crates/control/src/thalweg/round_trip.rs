//! The round trip of the empty path, seen again and again.
//!
//! A budget on top of the round trip needs a round trip without the queue that the budget makes. Frames of a camera
//! leave pauses in which the path runs empty. Where none does, because a source never pauses or because another flow
//! keeps the path full, less is sent for a moment before the min is forgotten, as in BBR's ProbeRTT (specs/bbr.md 4).

use thalweg_units::{Bytes, Span, Time};

use super::JITTER;
use crate::estimate::WindowedMin;
use crate::feedback::Feedback;

/// The window of the min round trip.
const MEMORY: Span = Span::from_secs(10);
/// The path must be seen empty twice in that time.
const DRAIN_AFTER: Span = Span::from_secs(5);
/// The max in flight while the path drains, as a share of its capacity in a round trip. The min is still known, so that
/// no more than the queue has to go.
const DRAINED: f64 = 0.9;
/// Packets under way where that does not show an empty path, because the path was taken for faster than it is (BBR's
/// PROBE_RTT, specs/bbr.md 4). What still waits behind so few does not wait for us.
pub(super) const FEW: u64 = 4;
/// A queue that becomes shorter than this share of itself in a round trip is taken for one that drains.
const FALLS: f64 = 0.9;
/// So many round trips in a row in which it falls no further say that it does not drain.
const STOOD: u32 = 2;
/// Before the first was measured, as in the engine (specs/vidaptive.md C3).
pub(super) const ASSUMED: Span = Span::from_millis(100);
/// The weight of a report in the time that reports are held back: an eighth, as of the round trip (RFC 6298).
const HOLD_GAIN: i64 = 8;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundTrip {
    min: WindowedMin<Span>,
    /// How long reports are held back, smoothed.
    held: Span,
    /// When a round trip close to the min was last measured, or looked for in vain.
    empty_at: Option<Time>,
    drain: Option<Drain>,
    /// Since when draining has not emptied the path: the queue is another flow's.
    contended: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
struct Drain {
    began: Time,
    /// Down to [`FEW`] packets.
    to_few: bool,
    /// When no more than allowed was under way.
    drained: Option<Time>,
    /// Another flow is suspected.
    suspected: Option<Suspected>,
}

/// A queue that another flow may fill.
#[derive(Debug, Clone, Copy)]
struct Suspected {
    /// The max in flight while it is looked whether it drains.
    most: Bytes,
    /// How long so much waits for itself.
    own: Span,
    /// A queue that became shorter than this is no other flow's: a quarter of what it was.
    short: Span,
    /// The least queue so far, and in this round trip.
    least: Option<Span>,
    now: Option<Span>,
    /// Round trips in which it fell no further.
    stood: u32,
}

/// Course of a queue once little is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Falls,
    /// It is not empty, but much shorter than it was.
    Fell,
    Stays,
}

impl Suspected {
    /// A round trip is over: a flow that fills the queue takes what we leave, any other does not.
    fn on_round(&mut self) -> Seen {
        let queue = self.now.take().unwrap_or_default();
        let falls = self.least.is_none_or(|least| queue < least.scale(FALLS));
        self.least = Some(self.least.map_or(queue, |least| least.min(queue)));
        self.stood = if falls { 0 } else { self.stood + 1 };
        match self.stood {
            STOOD.. if self.least < Some(self.short) => Seen::Fell,
            STOOD.. => Seen::Stays,
            _ => Seen::Falls,
        }
    }
}

impl RoundTrip {
    /// The time from sending a packet on an empty path to the report on it.
    pub(super) fn get(&self) -> Span {
        self.min.get().unwrap_or(ASSUMED) + self.held
    }

    /// How long reports are held back.
    pub(super) fn held(&self) -> Span {
        self.held
    }

    /// The max in flight while the path drains, given its capacity in a round trip, `carries`.
    pub(super) fn draining(&self, carries: Bytes, packet: Bytes) -> Option<Bytes> {
        self.drain.map(|drain| match drain.suspected {
            Some(suspected) => suspected.most,
            None if drain.to_few => packet * FEW,
            None => carries.scale(DRAINED).max(packet),
        })
    }

    /// How long another flow has kept the path full.
    pub(super) fn contended_for(&self, now: Time) -> Span {
        self.contended.map_or(Span::ZERO, |since| now - since)
    }

    /// When the path was last seen empty, or looked for in vain.
    pub(super) fn empty_at(&self) -> Option<Time> {
        self.empty_at
    }

    /// Keeps what is known of the empty path while it cannot be seen.
    pub(super) fn keep(&mut self, now: Time) {
        if let Some(min) = self.min.get() {
            self.min.add(now, min, MEMORY);
        }
    }

    /// Another flow's queue is competed for, and no further one looked for.
    pub(super) fn forget(&mut self, now: Time) {
        (self.empty_at, self.drain, self.contended) = (Some(now), None, None);
    }

    /// Returns true while it looks whether the path drains.
    pub(super) fn is_looking(&self) -> bool {
        self.drain.is_some()
    }

    /// The time by which the path has become longer if `least` is its least round trip now.
    pub(super) fn risen(&self, least: Span, jitter: Span) -> Option<Span> {
        let by = least - self.min.get()?;
        (by > JITTER + jitter).then_some(by)
    }

    /// Looks at once, with no more than `most` under way, which waits for itself for `own`, whether the path drains.
    pub(super) fn look(&mut self, now: Time, most: Bytes, own: Span, queue: Span) {
        let suspected = Suspected { most, own, short: queue / 4, least: None, now: None, stood: 0 };
        self.drain.get_or_insert(Drain { began: now, to_few: true, drained: None, suspected: Some(suspected) });
    }

    /// The path has become longer by so much.
    pub(super) fn on_risen(&mut self, now: Time, by: Span) {
        if let Some(min) = self.min.get() {
            self.min.clear();
            self.min.add(now, min + by, MEMORY);
        }
        (self.empty_at, self.drain, self.contended) = (Some(now), None, None);
    }

    /// Takes feedback; `has_drained` says whether no more is under way than may be while the path drains, [`FEW`]
    /// packets wait for each other for up to `own`, and an empty path delays by up to `jitter` more than the least.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, has_drained: bool, own: Span, jitter: Span) {
        let now = feedback.now;
        if let Some(held) = feedback.mean_held() {
            self.held = self.held + (held - self.held) / HOLD_GAIN;
        }
        let samples =
            feedback.reports.iter().filter_map(|report| Some((feedback.rtt_sample(report)?, report.packet.at)));
        let Some((least, _)) = samples.clone().min() else { return };
        self.min.add(now, least, MEMORY);
        let looked = *self.empty_at.get_or_insert(now);
        let own = match self.drain {
            Some(Drain { suspected: Some(suspected), .. }) => suspected.own,
            Some(Drain { to_few: true, .. }) => own,
            _ => Span::ZERO,
        };
        if self.min.get().is_some_and(|min| least <= min + JITTER + jitter + own) {
            (self.empty_at, self.drain, self.contended) = (Some(now), None, None);
            return;
        }
        match &mut self.drain {
            None if now - looked > DRAIN_AFTER => {
                self.drain = Some(Drain { began: now, to_few: false, drained: None, suspected: None });
            }
            None => {}
            Some(drain) => {
                if let Some(suspected) = drain.suspected.as_mut().filter(|_| drain.drained.is_some()) {
                    let queue = least - self.min.get().unwrap_or_default();
                    suspected.now = Some(suspected.now.map_or(queue, |least| least.min(queue)));
                }
                let newest = samples.map(|(_, sent)| sent).max();
                if drain.drained.is_none_or(|drained| newest < Some(drained)) {
                    if has_drained {
                        drain.drained.get_or_insert(now);
                    }
                } else if let Some(seen) = drain.suspected.as_mut().map(Suspected::on_round) {
                    match seen {
                        Seen::Falls => drain.drained = Some(now),
                        Seen::Fell => (self.drain, self.empty_at, self.contended) = (None, Some(now), None),
                        Seen::Stays => {
                            self.contended.get_or_insert(drain.began);
                            (self.drain, self.empty_at) = (None, Some(now));
                        }
                    }
                } else if drain.to_few {
                    self.contended.get_or_insert(drain.began);
                    (self.drain, self.empty_at) = (None, Some(now));
                } else {
                    (drain.to_few, drain.drained) = (true, None);
                }
            }
        }
    }
}
