//! Recovery from the states that a receiver keeps (Salsify section 3.2; specs/salsify.md 4).

use alloc::collections::VecDeque;

use thalweg_media::feedback::DecoderReport;
use thalweg_media::{Basis, EncodedFrame, StateHash};
use thalweg_units::{ConfigError, Span, Time, check};

use super::RECOVERY_TIME;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long after a loss frames are coded from acknowledged states only; longer than 0.
    pub recovery_time: Span,
    /// The most states kept, at least 2. The paper's sender keeps all since the last one acknowledged, without a bound;
    /// a receiver that acknowledges nothing must not fill the memory.
    pub max_states: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { recovery_time: RECOVERY_TIME, max_states: 64 }
    }
}

impl Config {
    /// The bookkeeping before the first frame.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Stateful, ConfigError> {
        super::check_time("stateful.recovery_time", self.recovery_time)?;
        check("stateful.max_states", self.max_states).within(2.., "64")?;
        Ok(Stateful {
            config: self,
            states: VecDeque::new(),
            sent: VecDeque::new(),
            latest: None,
            queued: None,
            left: None,
            acknowledged: None,
            newest_reported: None,
            recovering_until: Time::ZERO,
            forgotten: VecDeque::new(),
        })
    }
}

/// How many hashes are remembered, to tell a receiver that is far behind from one that missed something: a minute of
/// video without feedback. States are dear, hashes are not.
const REMEMBERED: usize = 4096;

/// A frame and where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    frame: u64,
    /// The state it is decoded from; `None` of a keyframe, which is decoded from any.
    source: Option<StateHash>,
    target: StateHash,
}

/// The states a sender keeps and what it knows of the receiver's.
#[derive(Debug, Clone)]
pub struct Stateful {
    config: Config,
    /// Frames whose states are kept, in order of sending.
    states: VecDeque<Step>,
    /// All that the receiver may come to, in order of sending.
    sent: VecDeque<Step>,
    /// The newest that the receiver can be in, if nothing was lost: assumed outside recovery.
    latest: Option<u64>,
    /// The newest frame ever queued.
    queued: Option<u64>,
    /// The newest frame that wholly left.
    left: Option<u64>,
    /// The newest that the receiver says it can go back to.
    acknowledged: Option<u64>,
    /// The newest packet the receiver answered: frame and fragment.
    newest_reported: Option<(u64, u16)>,
    recovering_until: Time,
    forgotten: VecDeque<u64>,
}

impl Stateful {
    /// What the next frame is to be coded from; `None` for a keyframe.
    pub fn basis(&self, now: Time) -> Option<Basis> {
        let source = if self.is_recovering(now) { self.acknowledged } else { self.latest };
        source.map(Basis::After)
    }

    /// Whether a loss was seen not long ago.
    pub fn is_recovering(&self, now: Time) -> bool {
        now < self.recovering_until
    }

    /// A frame was queued.
    pub fn on_queued(&mut self, frame: u64, encoded: &EncodedFrame) {
        self.queued = Some(frame);
        let Some(transition) = encoded.transition else {
            // No packet can say where it leads from or to, so no report can either.
            self.forgotten.push_back(frame);
            return;
        };
        self.latest = Some(frame);
        let source = (!encoded.keyframe).then_some(transition.source);
        let step = Step { frame, source, target: transition.target };
        self.states.push_back(step);
        self.sent.push_back(step);
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
        if self.states.len() > self.config.max_states {
            // What is acknowledged and what is assumed must stay. Of those between them the oldest are the likeliest to
            // be at the receiver: when no feedback arrived for so long, what was sent last did not come, or waits behind
            // much.
            let before_latest = self.states.len() - 2;
            self.forgotten.extend(self.states.remove(before_latest).map(|step| step.frame));
        }
    }

    /// A frame's last packet left.
    pub fn on_frame_sent(&mut self, frame: u64) {
        self.left = self.left.max(Some(frame));
    }

    /// The receiver said what its decoder's state is, and which it can go back to. A report about a packet before one
    /// already answered is out of date, and one about a frame never sent is nonsense.
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        let position = Some((report.frame, report.fragment));
        if position < self.newest_reported || Some(report.frame) > self.queued {
            return;
        }
        // Hashes of frames that were sent and kept: all others say nothing.
        let has = |step: &&Step| report.complete.contains(&step.target);
        let newest = self.states.iter().rev().find(has).map(|step| step.frame);
        if position == self.newest_reported && newest < self.acknowledged {
            // Of two reports about one packet the one that knows less is the older.
            return;
        }
        self.newest_reported = position;
        // What the receiver no longer names it no longer has.
        self.acknowledged = newest;
        if self.reports_a_loss(report) || (self.is_recovering(now) && !self.is_known(report.current)) {
            self.recovering_until = now + self.config.recovery_time;
        }
        // A receiver that goes on to a frame gives up those before it, so of them it has what it names; the paper's
        // sender forgets only what is before the acknowledged. Nobody goes back behind that.
        let before = newest.unwrap_or(0).max(report.frame);
        let stay = [self.latest, newest];
        self.forget(|frame| frame < before && !stay.contains(&Some(frame)));
    }

    /// Whether the receiver cannot decode the frame that it had a packet of.
    ///
    /// The paper's sender takes any state it does not know for a loss, and so does this one while it recovers. But a
    /// receiver that has what it needs for the frame that is coming in gets over what it missed, as after frames that
    /// were thrown away, or says so before its first frame; and one that says which state it is stuck in has lost
    /// something although that state is known.
    fn reports_a_loss(&self, report: &DecoderReport) -> bool {
        let has = |state: StateHash| state == report.current || report.complete.contains(&state);
        // Of a frame that was thrown away in part the next will tell more.
        let step = self.sent.iter().rev().find(|step| step.frame == report.frame);
        step.is_some_and(|step| step.source.is_some_and(|source| !has(source)) && !has(step.target))
    }

    fn is_known(&self, state: StateHash) -> bool {
        self.sent.iter().any(|step| step.target == state)
    }

    /// Frames that had not wholly left were thrown away. That is no loss of the receiver's: the next frame does without
    /// them.
    ///
    /// To go back to what is acknowledged would be worse, for the receiver forgets that as soon as it has decoded what
    /// is still on its way.
    pub fn on_flushed(&mut self) {
        let left = self.left;
        self.forget(|frame| Some(frame) > left);
        self.latest = self.states.back().map(|step| step.frame);
        // Only a receiver that makes things up has what never left.
        self.acknowledged = self.acknowledged.filter(|acknowledged| Some(*acknowledged) <= left);
    }

    fn forget(&mut self, goes: impl Fn(u64) -> bool) {
        self.sent.retain(|step| !goes(step.frame));
        let forgotten = self.states.iter().map(|step| step.frame).filter(|frame| goes(*frame));
        self.forgotten.extend(forgotten);
        self.states.retain(|step| !goes(step.frame));
    }

    /// The next frame whose state will not be asked for again.
    pub fn poll_forgotten(&mut self) -> Option<u64> {
        self.forgotten.pop_front()
    }
}

#[cfg(test)]
mod tests;
