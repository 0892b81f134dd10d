//! Tuning: a search for the parameters of a scheme that best meet an objective over the links of one set, judged in
//! the end over those of another, which the search never sees.
//!
//! A [`Plan`] is what a file says. [`search()`] proposes candidates and is given their scores; an [`Objective`] makes a
//! score of the runs of a candidate and of the reference. Nothing here plays anything.

mod objective;
mod parameter;
mod plan;
mod search;
mod trace;

pub use objective::{Bar, Bound, Compared, Judgement, LinkJudgement, Links, Objective, On, Run};
pub use parameter::{Parameter, Scale};
pub use plan::{Base, Plan, Set, recording};
pub use search::{Starts, search};
pub use trace::{Evaluation, Header};

/// Error in a file: its value, the accepted values, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);
