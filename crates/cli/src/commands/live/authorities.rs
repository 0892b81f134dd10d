//! Certificate authorities for servers reached by https.

use std::path::Path;

use anyhow::{Context, anyhow};
use thalweg_live::whip::{Authorities, WhipError};

/// Reads a file of certificates.
pub(super) fn authorities(path: &Path) -> anyhow::Result<Authorities> {
    let file = || path.display().to_string();
    let pem = std::fs::read(path).with_context(file)?;
    Authorities::read(&pem).with_context(file)
}

/// A server's refusal, with the option that may help.
pub(super) fn refused(error: &WhipError) -> anyhow::Error {
    match error {
        WhipError::Untrusted { .. } => anyhow!("{error}: --certificate-authority FILE"),
        _ => anyhow!("{error}"),
    }
}
