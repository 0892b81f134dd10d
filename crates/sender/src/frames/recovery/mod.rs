//! References of a frame when earlier frames may be lost.
//!
//! A conventional sender sends a keyframe once the receiver requests one. Salsify goes back to what the receiver is
//! known to have, which a frame can name in two ways: as a state that the receiver keeps under its hash ([`stateful`]),
//! or as a picture in a standard decoder's long-term buffer ([`long_term`]).

mod deliveries;
pub mod long_term;
pub mod stateful;

use thalweg_control::Feedback;
use thalweg_types::feedback::DecoderReport;
use thalweg_types::{Basis, EncodePlan, EncodedFrame};
use thalweg_units::{ConfigError, Span, Time, above, check};

use super::policy::RepairSent;
pub use long_term::LongTermBuffers;
pub use stateful::Stateful;

/// How a sender recovers from a loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// By a keyframe, when the receiver requests one.
    #[default]
    Keyframe,
    /// From the newest state that the receiver reports to have.
    Stateful(stateful::Config),
    /// From a picture in a long-term buffer that is known to have arrived.
    LongTerm(long_term::Config),
}

impl Config {
    /// The initial state, before the first frame.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Recovery, ConfigError> {
        Ok(match self {
            Config::Keyframe => Recovery::Keyframe,
            Config::Stateful(config) => Recovery::Stateful(config.build()?),
            Config::LongTerm(config) => Recovery::LongTerm(config.build()?),
        })
    }
}

/// How long after a loss a sender encodes only from what was acknowledged (Salsify section 3.2 and its code: 5 s,
/// restarted by each further loss).
pub const RECOVERY_TIME: Span = Span::from_secs(5);

fn check_time(parameter: &'static str, time: Span) -> Result<(), ConfigError> {
    check(parameter, time).within(above(Span::ZERO), "5s")?;
    Ok(())
}

/// Tracks what the receiver has.
#[derive(Debug, Clone)]
pub enum Recovery {
    /// See [`Config::Keyframe`].
    Keyframe,
    /// See [`Config::Stateful`].
    Stateful(Stateful),
    /// See [`Config::LongTerm`].
    LongTerm(LongTermBuffers),
}

impl Recovery {
    /// Returns true if frames refer to a picture in a long-term buffer, of which only the sender knows which it is.
    pub fn names_references(&self) -> bool {
        matches!(self, Recovery::LongTerm(_))
    }

    /// From now on no frame refers to a long-term buffer; nothing changes where none did.
    pub fn refer_to_the_last(&mut self) {
        if self.names_references() {
            *self = Recovery::Keyframe;
        }
    }

    /// The receiver may leave out a frame that a later one overtakes on its way to the decoder: such a frame is not taken
    /// for decoded.
    pub fn expect_overtaking(&mut self) {
        if let Recovery::LongTerm(buffers) = self {
            buffers.expect_overtaking();
        }
    }

    /// Sets in `plan` what the frame may refer to; the frame will have number `frame` if it is sent. With `in_doubt`,
    /// packets in flight may never arrive, so the frame does not depend on them where that costs nothing if they do
    /// arrive: only with long-term buffers, once a picture is acknowledged, because it stays in its buffer, whereas a
    /// receiver that has decoded newer frames forgets an older state.
    pub fn plan(&mut self, now: Time, frame: u64, in_doubt: bool, plan: &mut EncodePlan) {
        let basis = match self {
            Recovery::Keyframe => Some(Basis::Latest),
            Recovery::Stateful(kept) => {
                plan.keep = Some(frame);
                kept.basis(now)
            }
            Recovery::LongTerm(buffers) => buffers.basis(now, in_doubt),
        };
        plan.keyframe |= basis.is_none();
        plan.basis = basis.unwrap_or_default();
    }

    /// Frame `frame` was queued in this many packets, on the basis of the last plan.
    pub fn on_queued(&mut self, frame: u64, encoded: &EncodedFrame, packets: u16) {
        match self {
            Recovery::Keyframe => {}
            Recovery::Stateful(kept) => kept.on_queued(frame, encoded),
            Recovery::LongTerm(buffers) => buffers.on_queued(frame, encoded.keyframe, packets),
        }
    }

    /// The receiver reported its decoder's state.
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        if let Recovery::Stateful(kept) = self {
            kept.on_decoder(now, report);
        }
    }

    /// Feedback on sent packets arrived.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Recovery::LongTerm(buffers) = self {
            buffers.on_feedback(feedback);
        }
    }

    /// A frame's last packet left.
    pub fn on_frame_sent(&mut self, frame: u64) {
        if let Recovery::Stateful(kept) = self {
            kept.on_frame_sent(frame);
        }
    }

    /// A packet left that may stand for another.
    pub fn on_repair_sent(&mut self, sent: &RepairSent) {
        if let Recovery::LongTerm(buffers) = self {
            buffers.on_repair_sent(sent);
        }
    }

    /// Frames were thrown away unsent. Returns whether the next frame can be encoded without them and without being a
    /// keyframe.
    pub fn on_flushed(&mut self, now: Time) -> bool {
        match self {
            Recovery::Keyframe => return false,
            Recovery::Stateful(kept) => kept.on_flushed(),
            Recovery::LongTerm(buffers) => buffers.on_flushed(now),
        }
        true
    }

    /// The next frame whose state will not be needed again.
    pub fn poll_forgotten(&mut self) -> Option<u64> {
        match self {
            Recovery::Stateful(kept) => kept.poll_forgotten(),
            Recovery::Keyframe | Recovery::LongTerm(_) => None,
        }
    }

    /// Returns true if frames refer only to what was acknowledged.
    pub fn is_recovering(&self, now: Time) -> bool {
        match self {
            Recovery::Keyframe => false,
            Recovery::Stateful(kept) => kept.is_recovering(now),
            Recovery::LongTerm(buffers) => buffers.is_recovering(now),
        }
    }
}
