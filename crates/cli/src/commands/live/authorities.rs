//! Whom servers by https are known by.

use std::path::Path;

use anyhow::Context;
use thalweg_live::whip::Authorities;

/// What is in a file of certificates.
pub(super) fn authorities(path: &Path) -> anyhow::Result<Authorities> {
    let file = || path.display().to_string();
    let pem = std::fs::read(path).with_context(file)?;
    Authorities::read(&pem).with_context(file)
}
