//! Recovery from the states that a stateful receiver keeps (Salsify section 3.2; specs/salsify.md 4).

use alloc::collections::VecDeque;

use thalweg_types::feedback::DecoderReport;
use thalweg_types::{Basis, EncodedFrame, StateHash};
use thalweg_units::{ConfigError, Span, Time, check};

use super::RECOVERY_TIME;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long after a loss frames are encoded from acknowledged states only; longer than 0.
    pub recovery_time: Span,
    /// The max number of states kept, at least 2. The paper's sender keeps all since the last one acknowledged, without
    /// a bound; a receiver that acknowledges nothing must not fill the memory.
    pub max_states: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { recovery_time: RECOVERY_TIME, max_states: 64 }
    }
}

impl Config {
    /// The initial state, before the first frame.
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

/// How many hashes are remembered, to tell a receiver that is far behind from one that lost something: a minute of
/// video without feedback. States are large, hashes are small.
const REMEMBERED: usize = 4096;

/// A frame: the state it is decoded from and the state it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    frame: u64,
    /// The state it is decoded from; `None` for a keyframe, which is decoded from any state.
    source: Option<StateHash>,
    target: StateHash,
}

/// The states a sender keeps and what it knows about the receiver's.
#[derive(Debug, Clone)]
pub struct Stateful {
    config: Config,
    /// Frames whose states are kept, in sending order.
    states: VecDeque<Step>,
    /// Frames whose states the receiver may reach, in sending order.
    sent: VecDeque<Step>,
    /// The frame whose state the receiver reaches if nothing is lost; frames outside recovery are encoded from it.
    latest: Option<u64>,
    /// The newest frame ever queued.
    queued: Option<u64>,
    /// The newest frame that has left completely.
    left: Option<u64>,
    /// The newest frame whose state the receiver reports it can go back to.
    acknowledged: Option<u64>,
    /// The newest packet that a report answered: frame and fragment.
    newest_reported: Option<(u64, u16)>,
    recovering_until: Time,
    forgotten: VecDeque<u64>,
}

impl Stateful {
    /// The basis of the next frame; `None` for a keyframe.
    pub fn basis(&self, now: Time) -> Option<Basis> {
        let source = if self.is_recovering(now) { self.acknowledged } else { self.latest };
        source.map(Basis::After)
    }

    /// Returns true if a loss was detected less than the recovery time ago.
    pub fn is_recovering(&self, now: Time) -> bool {
        now < self.recovering_until
    }

    /// A frame was queued.
    pub fn on_queued(&mut self, frame: u64, encoded: &EncodedFrame) {
        self.queued = Some(frame);
        let Some(transition) = encoded.transition else {
            // Its packets carry no hashes of its states, so no report can name them.
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
            // The acknowledged and the assumed state must stay. Of those between them the receiver most likely has the
            // oldest: after so long without feedback, the packets sent last were lost or are held up in a long queue.
            let before_latest = self.states.len() - 2;
            self.forgotten.extend(self.states.remove(before_latest).map(|step| step.frame));
        }
    }

    /// A frame's last packet left.
    pub fn on_frame_sent(&mut self, frame: u64) {
        self.left = self.left.max(Some(frame));
    }

    /// The receiver reported its decoder's state and the states it can go back to. A report about a packet older than
    /// one already reported is out of date, and one about a frame never sent is invalid.
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        let position = Some((report.frame, report.fragment));
        if position < self.newest_reported || Some(report.frame) > self.queued {
            return;
        }
        // Only hashes of frames that were sent and kept count; the others are ignored.
        let has = |step: &&Step| report.complete.contains(&step.target);
        let newest = self.states.iter().rev().find(has).map(|step| step.frame);
        if position == self.newest_reported && newest < self.acknowledged {
            // Of two reports about one packet the one that names less is the older.
            return;
        }
        self.newest_reported = position;
        // The receiver no longer has what it no longer names.
        self.acknowledged = newest;
        if self.reports_a_loss(report) || (self.is_recovering(now) && !self.is_known(report.current)) {
            self.recovering_until = now + self.config.recovery_time;
        }
        // A receiver that decodes a frame gives up older states, so of these it has only the ones it names; the paper's
        // sender forgets only what is older than the acknowledged state. Neither side goes back beyond that.
        let before = newest.unwrap_or(0).max(report.frame);
        let stay = [self.latest, newest];
        self.forget(|frame| frame < before && !stay.contains(&Some(frame)));
    }

    /// Returns true if the receiver cannot decode the frame of which it reports a packet.
    ///
    /// The paper's sender counts any unknown state as a loss, and so does this one while it recovers. But a receiver
    /// that has what the arriving frame needs gets over what it missed, as after frames that were thrown away, or
    /// reports it before its first frame; and a receiver that reports the state it is stuck in has lost something
    /// although that state is known.
    fn reports_a_loss(&self, report: &DecoderReport) -> bool {
        let has = |state: StateHash| state == report.current || report.complete.contains(&state);
        // For a frame that was thrown away in part, the report on the next frame decides.
        let step = self.sent.iter().rev().find(|step| step.frame == report.frame);
        step.is_some_and(|step| step.source.is_some_and(|source| !has(source)) && !has(step.target))
    }

    fn is_known(&self, state: StateHash) -> bool {
        self.sent.iter().any(|step| step.target == state)
    }

    /// Frames that had not completely left were thrown away. That is no loss at the receiver: the next frame does not
    /// need them.
    ///
    /// Going back to the acknowledged state would be worse, for the receiver forgets it as soon as it has decoded what
    /// is still in flight.
    pub fn on_flushed(&mut self) {
        let left = self.left;
        self.forget(|frame| Some(frame) > left);
        self.latest = self.states.back().map(|step| step.frame);
        // Only a lying receiver reports what never left.
        self.acknowledged = self.acknowledged.filter(|acknowledged| Some(*acknowledged) <= left);
    }

    fn forget(&mut self, goes: impl Fn(u64) -> bool) {
        self.sent.retain(|step| !goes(step.frame));
        let forgotten = self.states.iter().map(|step| step.frame).filter(|frame| goes(*frame));
        self.forgotten.extend(forgotten);
        self.states.retain(|step| !goes(step.frame));
    }

    /// The next frame whose state will not be needed again.
    pub fn poll_forgotten(&mut self) -> Option<u64> {
        self.forgotten.pop_front()
    }
}

#[cfg(test)]
mod tests;
