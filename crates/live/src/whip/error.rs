//! Why a server could not be sent to.

use thalweg_units::{Bytes, Span};

/// Why an exchange with a server failed. Addresses are in it, tokens are not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhipError {
    /// An address that cannot be gone to.
    #[error("the address {address:?} cannot be used: {why}")]
    Address {
        /// The address, or its beginning.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// A token with characters that no header takes.
    #[error("the token is empty or has characters other than letters, digits and -._~+/=: copy it again")]
    Token,
    /// What was named to know servers by is no certificate.
    #[error(
        "the certificate authority cannot be used ({why}): name a file of PEM, with -----BEGIN CERTIFICATE----- in it"
    )]
    Authorities {
        /// What is wrong with it.
        why: String,
    },
    /// The server shows a certificate that does not make it the one it is taken for.
    #[error(
        "{method} {address}: the server's certificate is not accepted ({why}): its name, its dates and its authority must be right; where the \
         authority is your own, its certificate must be given"
    )]
    Untrusted {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server could not be reached, or did not go through with the exchange.
    #[error("{method} {address} failed: {why}")]
    Unreachable {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// What happened.
        why: String,
    },
    /// The exchange took too long.
    #[error("{method} {address} took more than {limit}: the server is slow or not there")]
    TimedOut {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// How long it may take.
        limit: Span,
    },
    /// The server says no.
    #[error("{method} {address}: the server answers {status}{}", detail(.text))]
    Refused {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// The status (RFC 9110).
        status: u16,
        /// What it wrote, at most 300 characters.
        text: String,
        /// How long it asks to be left alone (`Retry-After`).
        retry_after: Option<Span>,
    },
    /// The server says yes, and not what a WHIP server says.
    #[error("{method} {address}: the server answers {found}, needed is {needed}")]
    Unexpected {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// What it answers.
        found: String,
        /// What was needed.
        needed: &'static str,
    },
    /// The answer is too long.
    #[error("{method} {address}: the server's answer has more than {max}, which is all that is read")]
    TooLong {
        /// The method.
        method: &'static str,
        /// Where to.
        address: String,
        /// Most that is read.
        max: Bytes,
    },
    /// One address leads to the next without end.
    #[error("{address} is the end of {max} redirections, which is all that are followed: name the last address")]
    Redirected {
        /// The address it stopped at.
        address: String,
        /// Most that are followed.
        max: usize,
    },
}

impl WhipError {
    /// Another attempt may go better: the server was not there, was slow, was busy, or failed itself. What it refuses for
    /// good is wrong with the request, and asking again will not help.
    pub fn may_pass(&self) -> bool {
        match self {
            WhipError::Unreachable { .. } | WhipError::TimedOut { .. } => true,
            // Besides errors of the server's: request timeout, conflict (with a session of ours that it has not given up yet), too early, too
            // many requests.
            WhipError::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            _ => false,
        }
    }

    /// How long the server asks to be left alone, if it does.
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

/// As much of a server's text as an error repeats, on one line and without what would move a terminal's cursor.
pub(super) fn excerpt(text: &str) -> String {
    const MAX: usize = 300;
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let out: String = printable.take(MAX + 1).collect();
    match out.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &out[..end]),
        None => out.trim().to_owned(),
    }
}
