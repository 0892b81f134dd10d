//! Recovery from the states that a receiver keeps (Salsify section 3.2; sprout_ewma_salsify.md A4).

use alloc::collections::VecDeque;

use thalweg_units::{ConfigError, Span, Time};

use super::RECOVERY_TIME;
use crate::feedback::DecoderReport;
use crate::frames::plan::{Basis, EncodedFrame, StateHash};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long after a loss frames are coded from acknowledged states only.
    pub recovery_time: Span,
    /// The most states kept, at least 2. The paper's sender keeps all since the last one acknowledged, without a bound; a receiver
    /// that acknowledges nothing must not fill the memory.
    pub most_states: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { recovery_time: RECOVERY_TIME, most_states: 64 }
    }
}

impl Config {
    /// The bookkeeping before the first frame.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<KeptStates, ConfigError> {
        if self.recovery_time < Span::ZERO {
            return Err(ConfigError::out_of_range(
                "kept_states.recovery_time",
                self.recovery_time,
                "0 or more, such as 5s",
            ));
        }
        if self.most_states < 2 {
            return Err(ConfigError::out_of_range(
                "kept_states.most_states",
                self.most_states,
                "2 or more, such as 64",
            ));
        }
        Ok(KeptStates {
            config: self,
            states: VecDeque::new(),
            acknowledged: None,
            latest: None,
            initial: None,
            heard: None,
            recovering_until: Time::ZERO,
            forgotten: VecDeque::new(),
        })
    }
}

/// A state that frames may be coded from, on both sides of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    frame: u64,
    hash: StateHash,
}

/// The states a sender keeps and what it knows of the receiver's.
#[derive(Debug, Clone)]
pub struct KeptStates {
    config: Config,
    /// In order of sending.
    states: VecDeque<Kept>,
    /// The newest that the receiver says it can go back to.
    acknowledged: Option<u64>,
    /// The newest frame sent, whose state is assumed outside recovery.
    latest: Option<u64>,
    /// The state that keyframes lead from: where every decoder begins.
    initial: Option<StateHash>,
    /// The newest packet the receiver answered: frame and fragment.
    heard: Option<(u64, u16)>,
    recovering_until: Time,
    forgotten: VecDeque<u64>,
}

impl KeptStates {
    /// What the next frame is to be coded from; `None` for a keyframe.
    pub fn basis(&self, now: Time) -> Option<Basis> {
        let latest = self.latest?;
        let source = if self.is_recovering(now) { self.acknowledged? } else { latest };
        Some(Basis::After(source))
    }

    /// Whether a loss was seen not long ago.
    pub fn is_recovering(&self, now: Time) -> bool {
        now < self.recovering_until
    }

    /// A frame was queued.
    pub fn on_queued(&mut self, frame: u64, encoded: &EncodedFrame) {
        let Some(transition) = encoded.transition else { return };
        self.latest = Some(frame);
        if encoded.keyframe {
            self.initial = Some(transition.source);
        }
        self.states.push_back(Kept { frame, hash: transition.target });
        while self.states.len() > self.config.most_states {
            // What is acknowledged and what is assumed must stay: the oldest between them goes.
            let oldest = self.states.iter().position(|kept| Some(kept.frame) != self.acknowledged);
            let Some(kept) = oldest.and_then(|index| self.states.remove(index)) else { return };
            self.forgotten.push_back(kept.frame);
        }
    }

    /// The receiver said what its decoder's state is, and which it can go back to. A report about a packet before one already
    /// answered is out of date, and one about a frame never sent is nonsense.
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        let position = (report.frame, report.fragment);
        if Some(position) < self.heard || self.latest.is_none_or(|latest| report.frame > latest) {
            return;
        }
        self.heard = Some(position);
        // Hashes of frames that were sent and kept: all others say nothing.
        let newest = self.states.iter().rev().find(|kept| report.complete.contains(&kept.hash)).map(|kept| kept.frame);
        self.acknowledged = self.acknowledged.max(newest);
        let known = self.initial == Some(report.current) || self.states.iter().any(|kept| kept.hash == report.current);
        if !known {
            self.on_loss(now);
        }
        self.forget_before_acknowledged();
    }

    /// Something was lost.
    pub fn on_loss(&mut self, now: Time) {
        self.recovering_until = now + self.config.recovery_time;
    }

    fn forget_before_acknowledged(&mut self) {
        let Some(acknowledged) = self.acknowledged else { return };
        while let Some(kept) = self.states.front().copied().filter(|kept| kept.frame < acknowledged) {
            self.states.pop_front();
            self.forgotten.push_back(kept.frame);
        }
    }

    /// The next frame whose state will not be asked for again.
    pub fn poll_forgotten(&mut self) -> Option<u64> {
        self.forgotten.pop_front()
    }
}
