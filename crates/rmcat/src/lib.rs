//! The bench by which bandwidth estimators are judged: cases of RFC 8867, RFC 8869 and libwebrtc, a verdict per bound,
//! the same bytes for the same seeds.
//!
//! ```
//! use thalweg_rmcat::{Bench, Options, Verdict, find};
//! use thalweg_sender::Scheme;
//!
//! let gcc: Scheme = "gcc".parse()?;
//! let bench = Bench {
//!     cases: find("5.1")?,
//!     contestants: vec![&gcc],
//!     seeds: vec![1],
//!     options: Options::default(),
//! };
//! let outcomes = bench.run(1, &|_, _| true)?.expect("nothing stopped it");
//! assert!(outcomes[0].verdict() < Some(Verdict::Fail));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Case`]: what is played and asked, made of a [`Network`](network::Network) and [`Bar`]s;
//! * [`Contestant`]: who plays it, a scheme of ours or another project's estimator;
//! * [`Bench`] plays, measures ([`Figure`](measure::Figure)) and judges ([`Judged`]); an [`Outcome`] has everything
//!   that is shown.
//!
//! Cases and sources of their numbers: specs/rmcat.md.
#![forbid(unsafe_code)]

pub mod attainable;
mod bar;
mod bench;
mod case;
mod cases;
mod contestant;
mod expect;
pub mod figures;
mod job;
mod json;
mod junit;
pub mod log;
pub mod measure;
pub mod network;
mod outcome;
pub mod page;
mod range;
mod run;

pub use bar::{Bar, Judged, Source, Verdict, judge};
pub use bench::{Bench, BenchError, Progress};
pub use case::{Case, Options, Reference, Setting, on_the_wire, rfc_limits};
pub use cases::{NOT_MODELLED, UnknownCase, all, find};
pub use contestant::Contestant;
pub use expect::{ExpectationError, Expectations, Unexpected};
pub use job::{Job, JobError};
pub use json::json;
pub use junit::junit;
pub use outcome::{Figures, Outcome, Trajectory};
pub use range::{Range, range};
pub use run::{BenchErrorCause, Others, Played};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
