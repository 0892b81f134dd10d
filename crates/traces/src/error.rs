//! The error of reading a file.

use thalweg_netsim::TraceError;

/// A file that is no link, or leaves open which; the message has the line, the value and the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No opportunities, or an invalid line.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A choice that the content leaves open, or content that no format has; the message says how to go on.
    #[error("{0}")]
    Unclear(String),
}

impl ReadError {
    pub(crate) fn line(number: usize, text: &str, rule: impl Into<String>) -> ReadError {
        ReadError::Trace(TraceError::line(number, text, rule))
    }

    pub(crate) fn unclear(message: impl Into<String>) -> ReadError {
        ReadError::Unclear(message.into())
    }
}
