//! Structured logs of the live commands, on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Begins logging: what `RUST_LOG` asks for, or what a person should know.
pub(crate) fn begin(json: bool) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,thalweg=info,thalweg_live=info"));
    let colour = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    // A second call, as in tests, changes nothing.
    let _ = if json { logs.json().try_init() } else { logs.with_target(false).try_init() };
}
