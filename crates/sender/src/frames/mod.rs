//! Which frames to encode, and how large.
//!
//! [`FramePolicy`] is the interface. [`EveryFrame`] is its simplest implementation.
//! [`RateTargeted`](rate_targeted::RateTargeted) steers a conventional encoder and is made of parts that ablations leave
//! out: [`target_forecast`], [`safeguards`], [`headroom`], [`resolution`]. [`LateChoice`](late_choice::LateChoice) has a
//! functional codec make several frames of a picture and sends the one that fits, if any does;
//! [`Budgeted`](budgeted::Budgeted) does so with shares of what is free. [`Selection`](selection::Selection) sends those
//! frames of a group that are worth most. [`recovery`] says what frames may refer to, and [`thalweg_types::layers`] is
//! the pattern of frames of which a sender or a relay may drop some.

pub mod budgeted;
mod cap;
mod every_frame;
pub mod headroom;
pub mod late_choice;
mod policy;
mod pushback;
pub mod rate_targeted;
pub mod recovery;
pub mod resolution;
pub mod safeguards;
pub mod selection;
mod share;
pub mod target_forecast;

pub use cap::CAP_DEPTH;
pub use every_frame::EveryFrame;
pub use policy::{FramePlan, FramePolicy, FrameSent, Occasion, QueueVerdict, QueueView, RepairSent, View};
pub use share::Share;
pub use thalweg_types::{Basis, Buffers, EncodePlan, EncodedFrame, Layer, LongTerm, StateHash, Target, Transition};
