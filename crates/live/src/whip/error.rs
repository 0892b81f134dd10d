//! Errors of requests to a server.

use thalweg_units::{Bytes, Span};

/// Why a request to a server failed. It contains addresses, but no tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhipError {
    /// The address is invalid.
    #[error("the address {address:?} cannot be used: {why}")]
    Address {
        /// The address, or its beginning.
        address: String,
        /// The problem.
        why: String,
    },
    /// The token has characters that are not allowed in a header.
    #[error("the token is empty or has characters other than letters, digits and -._~+/=: copy it again")]
    Token,
    /// The certificate authorities cannot be read.
    #[error(
        "the certificate authority cannot be used ({why}): name a file of PEM, with -----BEGIN CERTIFICATE----- in it"
    )]
    Authorities {
        /// The problem.
        why: String,
    },
    /// The server's certificate does not authenticate it.
    #[error(
        "{method} {address}: the server's certificate is not accepted ({why}): its name, its dates and its authority must be right; where the \
         authority is your own, its certificate must be given"
    )]
    Untrusted {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The problem.
        why: String,
    },
    /// The server could not be reached, or the exchange failed.
    #[error("{method} {address} failed: {why}")]
    Unreachable {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The reason.
        why: String,
    },
    /// The request timed out.
    #[error("{method} {address} took more than {limit}: the server is slow or not there")]
    TimedOut {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The timeout.
        limit: Span,
    },
    /// The server refused the request.
    #[error("{method} {address}: the server answers {status}{}", detail(.text))]
    Refused {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The status (RFC 9110).
        status: u16,
        /// The text of its answer, at most 300 characters.
        text: String,
        /// The delay that it requests (`Retry-After`).
        retry_after: Option<Span>,
    },
    /// The server accepted the request, but its answer is not a WHIP server's.
    #[error("{method} {address}: the server answers {found}, needed is {needed}")]
    Unexpected {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The answer.
        found: String,
        /// The expected answer.
        needed: &'static str,
    },
    /// The answer is too long.
    #[error("{method} {address}: the server's answer has more than {max}, which is all that is read")]
    TooLong {
        /// The HTTP method.
        method: &'static str,
        /// The address.
        address: String,
        /// The maximum size.
        max: Bytes,
    },
    /// Too many redirections.
    #[error("{address} is the end of {max} redirections, which is all that are followed: name the last address")]
    Redirected {
        /// The address of the last one.
        address: String,
        /// The maximum number of redirections.
        max: usize,
    },
}

impl WhipError {
    /// Returns true if another attempt may succeed: the server was unreachable, slow or busy, or had an internal error.
    /// A permanent refusal means that the request is wrong, and repeating it will not help.
    pub fn may_pass(&self) -> bool {
        match self {
            WhipError::Unreachable { .. } | WhipError::TimedOut { .. } => true,
            // Apart from server errors: request timeout, conflict (with a session of ours that the server has not given
            // up yet), too early, too many requests.
            WhipError::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            _ => false,
        }
    }

    /// The delay that the server requests, if any.
    pub fn retry_after(&self) -> Option<Span> {
        match self {
            WhipError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn detail(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// The part of a server's text that an error quotes, on one line and without control characters for terminals.
pub(super) fn excerpt(text: &str) -> String {
    const MAX: usize = 300;
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let out: String = printable.take(MAX + 1).collect();
    match out.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &out[..end]),
        None => out.trim().to_owned(),
    }
}
