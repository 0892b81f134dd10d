//! Physical quantities as types.
//!
//! In Thalweg, no bare number with a unit in its name crosses a function boundary. An instant is a [`Time`], a duration
//! (of either sign) a [`Span`], a bit rate a [`Rate`], an amount of data [`Bytes`], and the root of every random choice
//! a [`Seed`]. All are integers underneath, so the same run gives the same bytes on every machine.
//!
//! ```
//! use thalweg_units::{Bytes, Rate, Span, Time};
//!
//! let window = Bytes::new(60_000);
//! let rate = window.per(Span::from_millis(80));
//! assert_eq!(rate, Rate::from_kbps(6_000));
//! assert_eq!(rate.time_for(Bytes::new(1200)), Span::from_micros(1600));
//! assert_eq!("1.5Mbps".parse(), Ok(Rate::from_kbps(1500)));
//! assert_eq!(Time::ZERO + Span::from_millis(20), Time::from_millis(20));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod check;
mod config_error;
mod ecn;
mod frame_rate;
mod nearest;
mod parse;
mod percentile;
mod rate;
mod seed;
mod size;
mod time;

pub use bytes::Bytes;
pub use check::{Check, above, above_to, between, check};
pub use config_error::ConfigError;
pub use ecn::Ecn;
pub use frame_rate::{FrameRate, ParseFrameRateError};
pub use nearest::{did_you_mean, with_nearest};
pub use parse::ParseQuantityError;
pub use percentile::percentile;
pub use rate::Rate;
pub use seed::{Random, Seed};
pub use size::{ParseSizeError, Size};
pub use time::{Span, Time};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
