//! A session on a server.

use thalweg_transport::sdp::fragment;
use ureq::http::header::{ETAG, LINK, LOCATION};

use super::client::{Ask, Client, Reply};
use super::endpoint::Endpoint;
use super::error::WhipError;
use super::ice_servers::{IceServer, ice_servers};

/// The media type of offers and answers.
const SDP: &str = "application/sdp";

/// A session on a server, which receives changes and finally the end. Dropping it sends nothing; the server then ends
/// the session after its own timeout.
#[derive(Debug, Clone)]
pub struct Resource {
    client: Client,
    endpoint: Endpoint,
    etag: Option<String>,
    ice_servers: Vec<IceServer>,
}

/// The server's answer to a PATCH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patched {
    /// Accepted, without content.
    Taken,
    /// The server restarted ICE too: its fragment ([`thalweg_transport::sdp::fragment`]).
    Restarted(String),
    /// Not supported by the server (405, 422 or 501, all of which RFC 9725 section 4.3 allows): instead of a restart a
    /// new session is needed.
    Unsupported,
}

impl Client {
    /// Sends an offer; returns the resource of the session on the server, and the answer.
    ///
    /// Redirections that keep the method and the body are followed (307 and 308; RFC 9725 section 4.5), and the token is
    /// sent to the origin of `endpoint` only.
    ///
    /// # Errors
    /// [`WhipError`]. A session that the server started incorrectly is ended again.
    pub fn open(&self, endpoint: &Endpoint, offer: &str) -> Result<(Resource, String), WhipError> {
        const METHOD: &str = "POST";
        let reply = self.ask(endpoint, &Ask { method: METHOD, body: Some((SDP, offer)), condition: None })?;
        match reply.status {
            201 => {}
            200..=299 => return Err(reply.unexpected(METHOD, reply.status.to_string(), "201 Created with the answer")),
            _ => return Err(reply.refused(METHOD)),
        }
        let needed = "a Location header, the address of the session";
        let location =
            reply.header(LOCATION).ok_or_else(|| reply.unexpected(METHOD, "201 without one".to_owned(), needed))?;
        let resource = Resource {
            client: self.clone(),
            endpoint: reply.from.follow(location)?,
            etag: etag(&reply),
            ice_servers: ice_servers(reply.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok())),
        };
        let kind = reply.media_type();
        if kind != SDP {
            let error =
                reply.unexpected(METHOD, format!("201 with a body of type {kind:?}"), "the answer, application/sdp");
            // The session is unusable; if it cannot be ended either, the first error is the one to return.
            let _ = resource.close();
            return Err(error);
        }
        Ok((resource, reply.body))
    }
}

impl Resource {
    /// Its address.
    pub fn address(&self) -> &str {
        self.endpoint.url.as_str()
    }

    /// STUN and TURN servers from the answer; not used.
    pub fn ice_servers(&self) -> &[IceServer] {
        &self.ice_servers
    }

    /// Reports candidates found since the offer: a fragment with the present credentials.
    ///
    /// # Errors
    /// [`WhipError`]: the session may have ended (404), or the server restarted ICE meanwhile (412).
    pub fn trickle(&mut self, fragment: &str) -> Result<Patched, WhipError> {
        let etag = self.etag.clone();
        self.patch(fragment, etag.as_deref())
    }

    /// Requests an ICE restart: a fragment with new credentials.
    ///
    /// # Errors
    /// [`WhipError`]: the session may have ended (404).
    pub fn restart(&mut self, fragment: &str) -> Result<Patched, WhipError> {
        // Valid in any state of the session (RFC 9725 section 4.3.3).
        self.patch(fragment, Some("*"))
    }

    fn patch(&mut self, fragment: &str, condition: Option<&str>) -> Result<Patched, WhipError> {
        const METHOD: &str = "PATCH";
        let ask = Ask { method: METHOD, body: Some((fragment::MEDIA_TYPE, fragment)), condition };
        let reply = self.client.ask(&self.endpoint, &ask)?;
        match reply.status {
            204 => Ok(Patched::Taken),
            200 if reply.body.trim().is_empty() => Ok(Patched::Taken),
            200 if reply.media_type() == fragment::MEDIA_TYPE => {
                self.etag = etag(&reply);
                Ok(Patched::Restarted(reply.body))
            }
            200 => {
                let found = format!("200 with a body of type {:?}", reply.media_type());
                Err(reply.unexpected(METHOD, found, "a fragment, application/trickle-ice-sdpfrag"))
            }
            405 | 422 | 501 => Ok(Patched::Unsupported),
            201..=299 => Err(reply.unexpected(METHOD, reply.status.to_string(), "200 or 204")),
            _ => Err(reply.refused(METHOD)),
        }
    }

    /// Ends the session. If the server does not know it any more, it has ended already.
    ///
    /// # Errors
    /// [`WhipError`]: the session may continue until the server's own timeout.
    pub fn close(self) -> Result<(), WhipError> {
        const METHOD: &str = "DELETE";
        let reply = self.client.ask(&self.endpoint, &Ask { method: METHOD, body: None, condition: None })?;
        match reply.status {
            200..=299 | 404 | 410 => Ok(()),
            _ => Err(reply.refused(METHOD)),
        }
    }
}

fn etag(reply: &Reply) -> Option<String> {
    reply.header(ETAG).map(str::to_owned)
}
