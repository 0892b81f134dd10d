//! Structured logs of the live commands, on standard error.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

/// Starts logging: at the level of `RUST_LOG`, or at a default for interactive use.
pub(crate) fn begin(json: bool) -> anyhow::Result<()> {
    let asked = std::env::var("RUST_LOG").unwrap_or_default();
    let wanted = if asked.is_empty() { "warn,thalweg=info,thalweg_live=info" } else { &asked };
    let filter = EnvFilter::try_new(wanted)
        .with_context(|| format!("RUST_LOG is '{wanted}', must be such as warn, or thalweg_live=debug,info"))?;
    let colour = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    // A second call, as in tests, changes nothing.
    let _ = if json { logs.json().try_init() } else { logs.with_target(false).try_init() };
    Ok(())
}
