//! Frames chosen after they were encoded (Salsify section 3): several candidates of a picture are encoded, and as late
//! as possible the one that fits the room on the path is chosen, or none.

mod candidates;
mod conventional;

use alloc::vec;
use alloc::vec::Vec;

use thalweg_control::Feedback;
use thalweg_types::feedback::DecoderReport;
use thalweg_types::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

use super::cap::Cap;
use super::policy::{FramePlan, FramePolicy, FrameSent, QueueVerdict, QueueView, RepairSent, View};
use super::rate_targeted::EncoderBounds;
use super::recovery::{self, Recovery};
use super::safeguards::{self, Safeguards};
use crate::event::Why;
use candidates::Aim;
pub use candidates::{Around, Candidates, Fitting};
pub use conventional::EachSecond;

/// The parts.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How large a frame may be.
    pub room: Room,
    /// The max rate of the encoder, the same as where it has a target ([`EncoderBounds::max`]): no frame is larger than
    /// what this rate has left ([`CAP_DEPTH`](super::CAP_DEPTH)). `None` for none, as in the paper.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_rate: Option<Rate>,
    /// Which candidates are encoded of a picture.
    pub candidates: Candidates,
    /// Which of the candidates that fit is sent.
    pub choice: Choice,
    /// After this many unsent pictures in a row the smallest candidate is sent whether it fits or not (section 3.2: 4;
    /// the authors' code: 3).
    pub max_skips: u32,
    /// While nothing arrives, at most one frame that does not fit is sent per this time, with a target size of one
    /// packet; while something arrives, none until the outcome of the last one is known, and none behind
    /// [`LONG_QUEUE`], for its purpose is new feedback (section 3.1) and one brings that. `None` for the paper's
    /// behaviour: its encoder took 50 ms a picture and so sent four such frames a second. At 60 fps it would be twelve,
    /// more than a link in a poor spell carries.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unheard: Option<Span>,
    /// How many candidates are encoded in parallel.
    pub cores: u8,
    /// How the sender recovers from a loss.
    pub recovery: recovery::Config,
    /// When the queue is thrown away. No pause is needed, since only frames that fit are queued.
    pub safeguards: safeguards::Config,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            room: Room::default(),
            max_rate: Some(EncoderBounds::default().max),
            candidates: Candidates::default(),
            choice: Choice::default(),
            max_skips: 4,
            unheard: Some(Span::from_millis(150)),
            cores: 2,
            recovery: recovery::Config::Stateful(recovery::stateful::Config::default()),
            safeguards: safeguards::Config::NONE,
        }
    }
}

/// How large a frame may be.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Room {
    /// The controller's limit for a frame, less what waits in the queue: Salsify's max_frame_size. With a controller
    /// that has a window instead: the part of the window that is not in flight.
    #[default]
    Controller,
    /// Bytes that the pacer sends in this time, minus the queue: for a flow whose padding keeps the window full.
    Within(Span),
}

impl Room {
    fn of(self, view: &View) -> Bytes {
        match self {
            Room::Controller => view.room(),
            Room::Within(time) => {
                let wire = view.pacing.over(time).saturating_sub(view.queue.bytes);
                wire.scale(view.payload_share)
            }
        }
    }
}

/// Which of the candidates that fit is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Choice {
    /// The largest, as in the authors' code.
    #[default]
    Largest,
    /// The first in the order they were asked for, which is the best, as in the paper: the same as the largest, unless
    /// the better candidate came out smaller.
    First,
    /// The first, whether it fits or not: a codec that cannot go back to an earlier state has to send it.
    WhateverWasMade,
}

impl Config {
    /// The policy before the first picture.
    ///
    /// # Errors
    /// When a part's parameter is out of range.
    pub fn build(&self) -> Result<LateChoice, ConfigError> {
        if let Room::Within(time) = self.room {
            check("late_choice.room.within", time).within(above(Span::ZERO), "33ms")?;
        }
        check("late_choice.max_rate", self.max_rate.unwrap_or(Rate::MAX))
            .within(above(Rate::ZERO), "12Mbps, or absent")?;
        check("late_choice.cores", self.cores).within(above(0), "2")?;
        Ok(LateChoice {
            room: self.room,
            cap: Cap::new(self.max_rate),
            aim: self.candidates.build()?,
            choice: self.choice,
            max_skips: self.max_skips,
            unheard: self.unheard,
            may_force_at: Time::ZERO,
            forcing: false,
            forced: None,
            last_feedback: None,
            cores: self.cores,
            recovery: self.recovery.build()?,
            safeguards: self.safeguards.build()?,
            skips: 0,
            last_room: Bytes::ZERO,
        })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct LateChoice {
    room: Room,
    cap: Cap,
    aim: Aim,
    choice: Choice,
    max_skips: u32,
    unheard: Option<Span>,
    /// When the next frame that does not fit may be sent, if nothing arrives before.
    may_force_at: Time,
    /// True if the frame just chosen does not fit.
    forcing: bool,
    /// The last frame sent although it did not fit, as long as its outcome is unknown, and when it was.
    forced: Option<(u64, Time)>,
    cores: u8,
    /// The time of the last feedback that reported an arrival.
    last_feedback: Option<Time>,
    recovery: Recovery,
    safeguards: Safeguards,
    /// Unsent pictures in a row.
    skips: u32,
    last_room: Bytes,
}

impl LateChoice {
    /// How large a frame may be, by the path and by the cap.
    fn room(&self, view: &View) -> Bytes {
        self.room.of(view).min(self.cap.room(view.now))
    }

    /// Returns true if nothing has arrived for longer than a reply takes, so that frames may be going into a dead link.
    fn lacks_feedback(&self, view: &View) -> bool {
        let timeout = (view.srtt * 2).max(Span::from_millis(100));
        let waits = self.unheard.is_some() && self.choice != Choice::WhateverWasMade && self.skips >= self.max_skips;
        waits && self.last_feedback.is_some_and(|last| view.now - last > timeout)
    }

    /// Returns true if this picture stays unsent too when no candidate fits, rather than a frame being sent that does
    /// not fit.
    fn skips(&mut self, view: &View) -> bool {
        let now = view.now;
        // Behind a queue that frame would have to wait as well.
        let pointless = now < self.may_force_at || view.queue.packets > 0 || self.would_add_to_a_queue(view);
        let skips = self.skips < self.max_skips || pointless;
        if skips {
            self.skips += 1;
        } else if let Some(unheard) = self.unheard {
            self.may_force_at = now + unheard;
            self.forcing = true;
        }
        skips
    }

    /// Returns true if a further frame that does not fit would only lengthen a queue on a path that is alive.
    fn would_add_to_a_queue(&self, view: &View) -> bool {
        let answered = |(_, at): (u64, Time)| self.last_feedback.is_some_and(|heard| heard > at);
        self.unheard.is_some()
            && (self.forced.is_some_and(answered) || view.limits.capacity.time_for(view.in_flight) > LONG_QUEUE)
    }
}

/// Delay on the path beyond which a packet is too late to be useful: five times the delay that Salsify aims at
/// (Algorithm 1: d = 100 ms). A shorter bound costs frames on fast links: P95 350 ms for 200 ms, 324 for 500.
pub const LONG_QUEUE: Span = Span::from_millis(500);
/// The target size of a frame sent while nothing arrives: one packet.
const PROBE: Bytes = Bytes::new(1000);

impl FramePolicy for LateChoice {
    fn wants_candidates(&self) -> bool {
        true
    }

    fn asks_for_quantizers(&self) -> bool {
        matches!(self.aim, Aim::Around { .. } | Aim::EachSecond(_))
    }

    fn names_references(&self) -> bool {
        self.recovery.names_references()
    }

    fn refer_to_the_last(&mut self) {
        self.recovery.refer_to_the_last();
    }

    fn expect_overtaking(&mut self) {
        self.recovery.expect_overtaking();
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        // The picture before, if it was forced, may have been dropped by the encoder or lost its reference.
        self.forcing = false;
        let room = self.room(view);
        self.last_room = room;
        // A codec that encodes once must know beforehand whether there is any room.
        if self.choice == Choice::WhateverWasMade
            && room == Bytes::ZERO
            && (self.aim.depends_on_room() || self.cap.room(view.now) == Bytes::ZERO)
            && self.skips(view)
        {
            return FramePlan::Skip(Why::NoCandidateFits);
        }
        let lacks_feedback = self.lacks_feedback(view);
        if lacks_feedback && view.now < self.may_force_at {
            self.skips += 1;
            return FramePlan::Skip(Why::NoCandidateFits);
        }
        let targets = if lacks_feedback { vec![Target::Size(PROBE)] } else { self.aim.targets(view, room) };
        let mut plan = EncodePlan::new(targets, view.source, view.interval).with(|plan| plan.cores = self.cores);
        self.recovery.plan(view.now, view.next_frame, lacks_feedback, &mut plan);
        FramePlan::Encode(plan)
    }

    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        let room = self.room(view);
        self.last_room = room;
        let sizes: Vec<Bytes> = candidates.iter().map(|candidate| candidate.size).collect();
        // Among equally large ones the better, which was asked for first.
        let fitting = (0..sizes.len()).rev().filter(|index| sizes[*index] <= room);
        let chosen = match self.choice {
            Choice::WhateverWasMade => (!sizes.is_empty()).then_some(0),
            Choice::First => fitting.min(),
            Choice::Largest => fitting.max_by_key(|index| sizes[*index]),
        };
        if chosen.is_some() || candidates.is_empty() || self.skips(view) {
            return chosen;
        }
        (0..sizes.len()).min_by_key(|index| sizes[*index])
    }

    fn on_queued(&mut self, now: Time, frame: u64, encoded: &EncodedFrame, packets: u16) {
        self.skips = 0;
        self.cap.on_queued(now, encoded.size);
        if core::mem::take(&mut self.forcing) {
            self.forced = Some((frame, now));
        }
        self.aim.on_queued(encoded);
        self.recovery.on_queued(frame, encoded, packets);
    }

    fn on_frame_sent(&mut self, sent: &FrameSent) {
        self.recovery.on_frame_sent(sent.frame);
    }

    fn on_repair_sent(&mut self, sent: &RepairSent) {
        self.recovery.on_repair_sent(sent);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.has_arrivals() {
            self.may_force_at = Time::ZERO;
            self.last_feedback = Some(feedback.now);
        }
        let newest = feedback.reports.iter().rev().find_map(|report| report.packet.place);
        self.forced = self.forced.filter(|(frame, _)| newest.is_none_or(|place| place.frame < *frame));
        self.recovery.on_feedback(feedback);
    }

    fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        self.recovery.on_decoder(now, report);
    }

    fn on_flushed(&mut self, now: Time) -> bool {
        // Its outcome may never become known.
        self.forced = None;
        self.recovery.on_flushed(now)
    }

    fn is_recovering(&self, now: Time) -> bool {
        self.recovery.is_recovering(now)
    }

    fn poll_forgotten(&mut self) -> Option<u64> {
        self.recovery.poll_forgotten()
    }

    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        self.safeguards.on_queue(now, queue)
    }

    fn next_timeout(&self, queue: &QueueView) -> Time {
        self.safeguards.next_timeout(queue)
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        // Before the first arrival the room is unlimited.
        if self.last_room < Bytes::new(1 << 32) {
            see("room kB", self.last_room.as_f64() / 1000.0);
        }
        see("skips", f64::from(self.skips));
    }
}

#[cfg(test)]
mod tests;
