//! One file for each command.

pub(crate) mod bench;
pub(crate) mod codec;
pub(crate) mod compare;
pub(crate) mod conditions;
pub(crate) mod data;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod hunt;
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) mod live;
#[cfg(not(all(feature = "live", target_os = "linux")))]
#[path = "without_live.rs"]
pub(crate) mod live;
mod pictures;
mod playing;
mod quality;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod results;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod schemes;
mod seeds;
mod setting;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod tune;
pub(crate) mod values;
