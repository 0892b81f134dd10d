//! Sweeps: one grid of runs, on one machine or many, and one table of their figures.
//!
//! A [`Grid`] is what a file says: a scenario and axes. [`Grid::expand`] makes a [`Sweep`] of it, whose [`Job`]s are
//! numbered in the order of the axes. A job is text and plays anywhere ([`Job::play`]); what it returns is a [`Row`], which
//! has nothing of the machine, the time or the order. [`write_results`] makes the same bytes of the same rows, wherever and
//! in whichever order they were made. [`Parts`] keeps rows while a sweep is played, [`Part`] those of a shard;
//! [`Known`] is what need not be played again.

mod expand;
mod files;
mod folder;
mod glob;
mod grid;
mod job;
mod key;
mod known;
mod row;
mod shard;
#[cfg(feature = "parquet")]
mod table;
#[cfg(test)]
mod tests;

pub use expand::Sweep;
pub use files::Files;
pub use folder::{MergeError, Part, Parts, merge, read_results, write_results};
pub use glob::matching;
pub use grid::{Axis, Grid, GridError, Skip};
pub use job::{Job, JobError};
pub use key::Key;
pub use known::{Changed, Known};
pub use row::{Cell, Figures, Row, Status, axes};
pub use shard::Shard;
