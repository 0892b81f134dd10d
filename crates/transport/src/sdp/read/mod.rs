//! Parses the peer's SDP.

mod document;
mod extended_reports;
mod extensions;
mod formats;
mod streams;
mod transport;

pub(super) use document::{Document, Section};
pub(super) use extended_reports::has_extended_reports;
pub(super) use extensions::{Mapped, extensions};
pub(super) use formats::{Format, formats};
pub(super) use streams::streams;
pub(super) use transport::{credentials, dtls_role, remote};
