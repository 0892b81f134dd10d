//! One file for each command.

mod address;
mod authorities;
pub(crate) mod bench;
pub(crate) mod codec;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod duel;
pub(crate) mod emulate;
mod emulated;
pub(crate) mod explain;
mod live;
mod pictures;
pub(crate) mod publish;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schemes;
mod sending;
pub(crate) mod shell;
pub(crate) mod trace;
pub(crate) mod watch;
