//! What a frame may refer to when frames before it may not have come.
//!
//! A conventional sender asks for a keyframe once the receiver has. Salsify goes back to what the receiver is known to
//! have, and there are two ways to say so: a state that the receiver keeps under its hash ([`stateful`]), or a
//! picture that a standard decoder has in a long-term buffer ([`long_term`]).

mod deliveries;
pub mod long_term;
pub mod stateful;

use thalweg_control::Feedback;
use thalweg_media::feedback::DecoderReport;
use thalweg_media::{Basis, EncodePlan, EncodedFrame};
use thalweg_units::{ConfigError, Span, Time, above, check};

pub use long_term::LongTermBuffers;
pub use stateful::Stateful;

/// How a sender recovers from a loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Config {
    /// By a keyframe, when the receiver asks for one.
    #[default]
    Keyframe,
    /// From the newest state that the receiver says it has.
    Stateful(stateful::Config),
    /// From a long-term buffer whose picture is known to have come.
    LongTerm(long_term::Config),
}

impl Config {
    /// The bookkeeping before the first frame.
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

/// How long a sender encodes from what was acknowledged after a loss (Salsify section 3.2 and its code: 5 s, begun anew
/// at each).
pub const RECOVERY_TIME: Span = Span::from_secs(5);

fn check_time(parameter: &'static str, time: Span) -> Result<(), ConfigError> {
    check(parameter, time).within(above(Span::ZERO), "5s")?;
    Ok(())
}

/// Bookkeeping of what the receiver has.
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
    /// Says in a plan what the frame, which will have number `frame` if it is sent, may refer to. In doubt whether what is under way
    /// comes at all it had better not count on it, where that costs nothing if it does: a picture in a long-term buffer stays
    /// there, a state is forgotten by a receiver that has got over it.
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

    /// Frame `frame` was queued, in so many packets, on the basis of the last plan.
    pub fn on_queued(&mut self, frame: u64, encoded: &EncodedFrame, packets: u16) {
        match self {
            Recovery::Keyframe => {}
            Recovery::Stateful(kept) => kept.on_queued(frame, encoded),
            Recovery::LongTerm(buffers) => buffers.on_queued(frame, encoded.keyframe, packets),
        }
    }

    /// The receiver said what state its decoder is in.
    pub fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        if let Recovery::Stateful(kept) = self {
            kept.on_decoder(now, report);
        }
    }

    /// It became known what packets arrived.
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

    /// Frames were thrown away unsent. Says whether the next can be coded without them and without being a keyframe.
    pub fn on_flushed(&mut self, now: Time) -> bool {
        match self {
            Recovery::Keyframe => return false,
            Recovery::Stateful(kept) => kept.on_flushed(),
            Recovery::LongTerm(buffers) => buffers.on_flushed(now),
        }
        true
    }

    /// The next frame whose state will not be asked for again.
    pub fn poll_forgotten(&mut self) -> Option<u64> {
        match self {
            Recovery::Stateful(kept) => kept.poll_forgotten(),
            Recovery::Keyframe | Recovery::LongTerm(_) => None,
        }
    }

    /// Whether frames refer only to what was acknowledged.
    pub fn is_recovering(&self, now: Time) -> bool {
        match self {
            Recovery::Keyframe => false,
            Recovery::Stateful(kept) => kept.is_recovering(now),
            Recovery::LongTerm(buffers) => buffers.is_recovering(now),
        }
    }
}
