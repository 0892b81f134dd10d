//! Learned controllers: what a policy sees ([`Observation`]), what it may do ([`Action`]) and what it is paid for
//! ([`Reward`]), computed from what a sender has: the packets that it sent and the reports on them.
//!
//! Training and use share this code. An environment drives an [`External`] controller, whose rate is set from outside;
//! a trained policy plays inside a [`Learned`] controller. Both see the same observation at the same time, and an action
//! takes effect at the same time, so what was trained is what is played.
#![forbid(unsafe_code)]

mod action;
mod bounds;
mod external;
mod interval;
mod learned;
mod named;
mod observation;
pub mod onnx;
mod reward;
mod times;
mod watched;

pub use action::{Action, RATES, Setting, WINDOWS};
pub use external::{External, Outside};
pub use interval::{Collector, Interval};
pub use learned::{Deadline, Learned, LearnedSender, Policy, Terms};
pub use observation::{Observation, Observer};
pub use reward::{QoeWeights, Reward, Viewed};
pub use watched::Watched;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
