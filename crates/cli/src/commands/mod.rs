//! One file for each command.

pub(crate) mod compare;
pub(crate) mod schemes;
pub(crate) mod trace;
