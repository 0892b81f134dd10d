//! Bandwidth estimators of other projects, in this laboratory and in virtual time.
//!
//! An [`Estimator`] takes reports on packets and says a rate; a [`Contestant`] is one inside our sender: a scheme that
//! is like `gcc` in everything but the estimate. [`protocol`] is the same over lines of text, for an estimator in
//! another process and any language.

mod controller;
mod estimator;
mod factory;
pub mod protocol;

pub use estimator::{Estimator, Limits};
pub use factory::Contestant;
