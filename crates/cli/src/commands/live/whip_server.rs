//! A WHIP server that is sent to: shared by `publish` and `relay`.

use std::path::PathBuf;

use thalweg_live::publish::{Publisher, WhipSession, WhipState};
use thalweg_live::whip::{Endpoint, Token, WhipError};

use super::authorities::{authorities, refused};
use super::sending::Ended;

#[derive(clap::Args)]
pub(super) struct WhipServer {
    /// Send to a WHIP server too (RFC 9725), for as long as this runs
    #[arg(long, value_name = "URL", help_heading = "WHIP server")]
    whip: Option<String>,
    /// The bearer token for the WHIP server
    #[arg(long, requires = "whip", help_heading = "WHIP server", env = "THALWEG_WHIP_TOKEN", hide_env_values = true)]
    whip_token: Option<String>,
    /// Accept only this certificate (PEM) of the WHIP server, instead of the authorities that the web trusts
    ///
    /// The certificate may be the server's own, or its signer's.
    #[arg(long, requires = "whip", value_name = "FILE", help_heading = "WHIP server")]
    certificate_authority: Option<PathBuf>,
}

impl WhipServer {
    /// Its endpoint, if one is named.
    pub(super) fn endpoint(&self) -> anyhow::Result<Option<Endpoint>> {
        let Some(url) = &self.whip else { return Ok(None) };
        let token = self.whip_token.as_deref().map(str::parse::<Token>).transpose()?;
        let endpoint = Endpoint::new(url, token)?;
        let endpoint = match &self.certificate_authority {
            Some(path) => endpoint.known_by(authorities(path)?),
            None => endpoint,
        };
        if endpoint.shows_token() {
            eprintln!("warning: the token goes to another machine by http, where others may read it; use https");
        }
        Ok(Some(endpoint))
    }
}

/// Sending to it, and whether that succeeds.
pub(super) struct Reached {
    session: Option<WhipSession>,
    was_reached: bool,
    last: Option<anyhow::Error>,
}

impl Reached {
    /// Sends to the endpoint, if there is one.
    pub(super) fn start(endpoint: Option<Endpoint>, publisher: &Publisher) -> anyhow::Result<Reached> {
        let session = endpoint.map(|endpoint| publisher.whip_session(endpoint)).transpose()?;
        Ok(Reached { session, was_reached: false, last: None })
    }

    /// Looks how it is; an error if it will not be reached any more.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        let Some(session) = &self.session else { return Ok(()) };
        let why = |error: &WhipError| refused(error).context("WHIP");
        let (state, error) = (session.state(), session.error());
        self.was_reached |= state == WhipState::Connected;
        if state == WhipState::Failed {
            return Err(error.map_or_else(|| anyhow::anyhow!("WHIP: it stopped"), |error| why(&error)));
        }
        self.last = error.map(|error| why(&error));
        Ok(())
    }

    /// Says goodbye, before the publisher ends. An error if it was never reached until the end of the video or of the time.
    pub(super) fn finish(self, ended: Ended) -> anyhow::Result<()> {
        let Reached { session, was_reached, last } = self;
        match (session, last) {
            (None, _) => Ok(()),
            _ if was_reached || ended == Ended::BySignal => Ok(()),
            (Some(_), Some(why)) => Err(why),
            (Some(_), None) => anyhow::bail!("WHIP: the server was not reached in this time"),
        }
    }
}
