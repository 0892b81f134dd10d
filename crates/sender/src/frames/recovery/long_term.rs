//! Recovery that an unmodified decoder can follow: from pictures in its long-term buffers.
//!
//! One of two long-term buffers (VP8's golden and altref) holds a picture that the receiver is known to have. A frame in
//! flight is kept in the other; once it is known to have arrived, the two swap roles. After a loss, frames
//! refer only to the acknowledged picture, until [`RECOVERY_TIME`] has passed without another loss; so no frame depends
//! on what was lost. A keyframe, which fills every buffer, is assumed to arrive until part of it is lost. The sender
//! needs nothing but reports of arrivals.

use thalweg_control::{Fate, Feedback, Report};
use thalweg_types::{Basis, Buffers, LongTerm};
use thalweg_units::{ConfigError, Span, Time};

use super::super::policy::RepairSent;
use super::RECOVERY_TIME;
use super::deliveries::Deliveries;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long after a loss frames refer to acknowledged pictures only; longer than 0.
    pub recovery_time: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { recovery_time: RECOVERY_TIME }
    }
}

impl Config {
    /// The initial state, before the first frame.
    ///
    /// # Errors
    /// When the time is not above zero.
    pub fn build(self) -> Result<LongTermBuffers, ConfigError> {
        super::check_time("long_term.recovery_time", self.recovery_time)?;
        Ok(LongTermBuffers {
            config: self,
            deliveries: Deliveries::default(),
            latest: None,
            acknowledged: None,
            candidate: None,
            planned: None,
            recovering_until: Time::ZERO,
            alone_until: Time::ZERO,
            alone: Span::ZERO,
            independent_until: Time::ZERO,
            expects_overtaking: false,
        })
    }
}

/// The contents of the decoder's buffers, as far as the sender knows.
#[derive(Debug, Clone)]
pub struct LongTermBuffers {
    config: Config,
    deliveries: Deliveries,
    /// The last frame sent.
    latest: Option<u64>,
    /// A buffer and the frame in it that the receiver is known to have.
    acknowledged: Option<(LongTerm, u64)>,
    /// A buffer and the frame in flight that will fill it; a keyframe if nothing is acknowledged.
    candidate: Option<(LongTerm, u64)>,
    planned: Option<Buffers>,
    recovering_until: Time,
    /// Until when frames of a recovery refer to the acknowledged picture alone, where some may be overtaken.
    alone_until: Time,
    /// How long they did so last.
    alone: Span,
    /// Until when frames of a recovery do without one that is on its way, since hardly one arrives.
    independent_until: Time,
    expects_overtaking: bool,
}

/// A receiver takes a frame to its decoder after no longer than this: libvpx decodes 720p in 1.5 ms (specs/measured.md 5),
/// but a browser's page may stand still for tens of milliseconds before. The former where frames do without one on its way: the
/// next, 33 ms later, would else leave every frame undecided.
const DECODING: (Span, Span) = (Span::from_millis(15), Span::from_millis(100));

/// How long frames refer to the acknowledged picture alone after one that was to be kept was lost, with the two or three of a
/// round trip that need it: eight at 30 fps at first, then twice as long after each further loss, and half as long after one
/// that arrived. After the second such loss in a row hardly one arrives.
const ALONE: (Span, Span) = (Span::from_millis(250), Span::from_millis(500));

/// How long frames then do without one on its way, of which each may be kept: the next is seldom complete while one waits for
/// the decoder, and changes since a picture of half a second ago take more packets, which are lost. With 10 % lost and no FEC
/// 50 to 59 % of frames are decoded in Chromium, 40 to 46 % without this.
const INDEPENDENT: Span = Span::from_secs(10);

/// A frame is never known to be decoded if this many were sent since: the report on it was lost. 1.6 s at 40 fps, more than
/// a round trip.
const UNDECIDED: u64 = 64;

/// The buffers used.
const FIRST: LongTerm = LongTerm(0);
const SECOND: LongTerm = LongTerm(1);

fn other(buffer: LongTerm) -> LongTerm {
    if buffer == FIRST { SECOND } else { FIRST }
}

impl LongTermBuffers {
    /// The receiver may leave out a frame that waits for its decoder when a later one that does not need it is complete. So
    /// while frames recover they need the one on its way that is to be kept: none can overtake that one. Where it is lost, so
    /// are they; so it is tried again ever later.
    pub fn expect_overtaking(&mut self) {
        self.expects_overtaking = true;
    }

    /// Returns true if frames would refer to the acknowledged picture alone, and the receiver may leave out the one that is
    /// to be kept.
    fn may_be_overtaken(&self, now: Time) -> bool {
        let recovers = self.is_recovering(now) && self.acknowledged.is_some();
        self.expects_overtaking && recovers && now >= self.independent_until
    }

    /// The basis of the next frame; `None` for a keyframe.
    pub fn basis(&mut self, now: Time, in_doubt: bool) -> Option<Basis> {
        let sent_since = |kept: u64| self.latest.map_or(0, |latest| latest.saturating_sub(kept));
        if self.candidate.is_some_and(|(_, kept)| sent_since(kept) >= UNDECIDED) {
            // Nor will those that refer to it ever be known to be decoded.
            self.on_loss(now);
            self.candidate = None;
        }
        let may_be_overtaken = self.may_be_overtaken(now);
        let keeps = self.candidate.is_none() && !(may_be_overtaken && now < self.alone_until);
        let free = self.acknowledged.filter(|_| keeps);
        let on_its_way = self.candidate.filter(|_| may_be_overtaken && !in_doubt);
        // With none, not even the last keyframe arrived.
        let long_term = on_its_way.or(self.acknowledged).or(self.candidate);
        self.planned = long_term.map(|_| Buffers {
            last: !(self.is_recovering(now) || in_doubt && self.acknowledged.is_some()),
            long_term,
            kept_in: free.map(|(buffer, _)| other(buffer)),
            becomes_last: true,
            sendable: true,
        });
        self.planned.map(Basis::Buffers)
    }

    /// Returns true if a loss was detected less than the recovery time ago.
    pub fn is_recovering(&self, now: Time) -> bool {
        now < self.recovering_until
    }

    /// The queue was thrown away.
    pub fn on_flushed(&mut self, now: Time) {
        self.on_loss(now);
        self.candidate = None;
    }

    fn on_loss(&mut self, now: Time) {
        self.recovering_until = now + self.config.recovery_time;
    }

    /// A frame was queued, on the planned basis or as a keyframe.
    pub fn on_queued(&mut self, frame: u64, keyframe: bool, packets: u16) {
        let planned = self.planned.take().filter(|_| !keyframe);
        match planned {
            Some(Buffers { kept_in, .. }) => self.candidate = kept_in.map(|buffer| (buffer, frame)).or(self.candidate),
            None => {
                // A keyframe fills every buffer once it arrives.
                self.acknowledged = None;
                self.candidate = Some((FIRST, frame));
            }
        }
        let needs = planned
            .and_then(|planned| if planned.last { self.latest } else { planned.long_term.map(|(_, frame)| frame) });
        self.deliveries.on_queued(frame, needs, packets);
        self.latest = Some(frame);
    }

    /// The frame that was to be kept, and those that need it, are taken for lost.
    fn give_up(&mut self, now: Time) {
        self.candidate = None;
        let longer = (self.alone * 2).max(ALONE.0);
        self.do_without(now, longer.min(ALONE.1));
        if longer > ALONE.1 && now >= self.independent_until {
            self.independent_until = now + INDEPENDENT;
        }
    }

    /// The frame that was to be kept was decoded.
    fn keep(&mut self, now: Time, kept: (LongTerm, u64)) {
        self.acknowledged = Some(kept);
        self.candidate = None;
        self.do_without(now, self.alone / 2);
    }

    /// Frames refer to the acknowledged picture alone for this long, unless they do without one on its way anyway.
    fn do_without(&mut self, now: Time, alone: Span) {
        if now >= self.independent_until {
            self.alone = alone;
            self.alone_until = now + alone;
        }
    }

    /// How much later than a frame one that does not need it must be complete for the former to be decoded for certain.
    fn decoding(&self, now: Time) -> Span {
        match self.expects_overtaking {
            false => Span::ZERO,
            true if now < self.independent_until => DECODING.0,
            true => DECODING.1,
        }
    }

    /// Returns true if `frame` is not to be referred to once `lost` was lost.
    fn is_lost_with(&self, frame: u64, lost: u64) -> bool {
        frame == lost || self.expects_overtaking && self.deliveries.needs(frame, lost)
    }

    /// A packet left that may stand for another.
    pub fn on_repair_sent(&mut self, sent: &RepairSent) {
        self.deliveries.on_repair_sent(sent);
    }

    /// Feedback on sent packets arrived.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let lost = |report: &Report| report.packet.place.filter(|_| report.fate == Fate::Lost);
        for place in feedback.reports.iter().filter_map(lost) {
            self.on_loss(feedback.now);
            // If it arrives late after all, the frame kept next in this buffer overwrites it.
            if self.candidate.is_some_and(|(_, frame)| self.is_lost_with(frame, place.frame)) {
                self.give_up(feedback.now);
            }
        }
        self.deliveries.on_feedback(feedback, self.decoding(feedback.now));
        if let Some((buffer, frame)) = self.candidate {
            match self.deliveries.verdict(frame) {
                Some(true) => self.keep(feedback.now, (buffer, frame)),
                Some(false) => self.candidate = None,
                // What is said of later frames and not of this one will not be said any more.
                None if self.may_be_overtaken(feedback.now) && self.deliveries.is_passed_over(frame) => {
                    self.give_up(feedback.now);
                }
                None => {}
            }
        }
        self.deliveries.forget_others(self.acknowledged.map(|(_, frame)| frame));
    }
}

#[cfg(test)]
mod tests;
