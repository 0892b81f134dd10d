//! Who may use a page's server, and how it is reached: shared by `publish`, `duel` and `receive`.

use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use thalweg_emulate::clock::Clock;
use thalweg_live::web::{Tls, Token, WebConfig};

/// The options of a command for it.
pub(super) struct Access<'a> {
    pub(super) token: Option<&'a Token>,
    pub(super) open: bool,
    pub(super) tls: Option<Tls>,
}

impl Access<'_> {
    /// A server's configuration. `risk` is what who reads the token may do.
    pub(super) fn serving(self, listen: SocketAddr, clock: Clock, risk: &str) -> anyhow::Result<WebConfig> {
        let mut web = WebConfig { clock, tls: self.tls, ..WebConfig::new(listen)? };
        match (self.token, self.open) {
            (Some(token), _) => web.token = Some(token.clone()),
            (None, true) => web.token = None,
            (None, false) => {}
        }
        if let Some(why) = web.tls.as_ref().and_then(|tls| tls.outdated(clock.wall(clock.now()))) {
            eprintln!(
                "warning: {why}; browsers refuse to open the page: renew the certificate, or set this machine's clock"
            );
        }
        if web.tls.is_none() && !listen.ip().is_loopback() {
            eprintln!(
                "warning: page and signalling go by http, where anyone on the path may read the token and {risk}; give \
                 --tls-certificate and --tls-key, or put a proxy with TLS in front"
            );
        }
        Ok(web)
    }
}

/// A page's link as it is printed. A token that the command was given stays out of what is no terminal, such as a service's
/// log; one that the command made itself is known from there alone.
pub(super) fn printed(link: String, given: Option<&Token>) -> String {
    match link.split_once("#token=") {
        Some((page, _)) if given.is_some() && !stdout().is_terminal() => format!("{page} (with #token= and the token)"),
        _ => link,
    }
}

/// The certificate and the key of these files.
pub(super) fn tls(files: Option<(&PathBuf, &PathBuf)>) -> anyhow::Result<Option<Tls>> {
    let Some((certificate, key)) = files else { return Ok(None) };
    let read = |path: &PathBuf| std::fs::read(path).with_context(|| path.display().to_string());
    let both = || format!("{} and {}", certificate.display(), key.display());
    Ok(Some(Tls::read(&read(certificate)?, &read(key)?).with_context(both)?))
}
