//! Links from files: traces, logs of throughput and packet captures, recognised by their content.
//!
//! [`read`] makes a [`Trace`] of a file's bytes, without a file system. Each format is a file of this crate with one
//! entry in the table of readers: how to recognise it, which options it takes, and how to read it.
#![forbid(unsafe_code)]

mod capture;
mod columns;
mod csv;
mod error;
mod foreign;
mod format;
mod hold;
mod mahimahi;
mod options;
mod read;
mod reader;
mod rows;
mod seconds;
mod steps;
mod unit;

pub use self::csv::to_csv;
pub use error::ReadError;
pub use format::Format;
pub use hold::{Gaps, Hold};
pub use options::ReadOptions;
pub use read::read;
pub use reader::Reading;
pub use seconds::to_seconds;
pub use thalweg_netsim::Trace;
pub use unit::{RateUnit, TimeUnit};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
