//! How viewers join: by their offer (a browser), or by ours (a WHIP server).

use std::sync::Arc;
use std::sync::mpsc::Sender;

use thalweg_sender::{Camera, SenderFactory};
use thalweg_session::{Outgoing, Setup};
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Local, Negotiated, Refusal, SdpError};
use thalweg_transport::{Config, Connection, DtlsRole, Remote};
use thalweg_units::{Seed, Time};

use super::encoders::coder::wants_candidates;
use super::messages::{Key, State};
use super::network::Network;
use super::viewers::played::{Played, Reports};
use super::viewers::viewer::{Offered, Ours, PendingViewer, Prepared, Viewer};
use crate::joining::{bad, cname, etag, is_for, is_session, random_bits, renewed, session_id, stream_ids, unavailable};
use crate::web::{Condition, Join, Joined, Patched, Refused, RefusedKind};

/// Refuses a peer with whom audio alone was agreed on, and says why its video was not.
fn with_video(media: &Negotiated, refused: Vec<Refusal>) -> Result<(), Refused> {
    if media.video.is_some() || refused.is_empty() { Ok(()) } else { Err(bad(SdpError::NothingInCommon(refused))) }
}

impl Network {
    /// A viewer's offer, answered.
    pub(super) fn join(&mut self, now: Time, join: &Join) -> Result<Joined, Refused> {
        let channel = match &join.channel {
            None => 0,
            Some(name) if self.audience.find(name).is_ok() => return Err(is_session()),
            Some(name) => self.channels.find(name)?,
        };
        let scheme = match &join.scheme {
            None => self.channels[channel].scheme.clone(),
            Some(name) => self.catalog.scheme(name)?,
        };
        self.audience.check_unconnected(join.from)?;
        let mut prepared = self.prepare(channel, false)?;
        let answer = sdp::answer(&join.offer, &prepared.local, &self.catalog.capabilities(&*scheme)).map_err(bad)?;
        with_video(&answer.media, answer.refused)?;
        prepared.connection.set_dtls_role(answer.dtls);
        let (key, id) = self.admit(now, prepared, answer.remote, answer.media, scheme, None)?;
        if let Some(viewer) = self.audience.viewers.get_mut(key) {
            viewer.from = join.from;
        }
        tracing::info!(viewer = key, channel = self.channels[channel].config.name, "joined");
        Ok(Joined { id, answer: answer.text, etag: etag(0) })
    }

    /// Makes an offer to a server; [`Network::accept`] takes its answer. `states` receives each change of the
    /// connection's state.
    pub(super) fn offer(&mut self, now: Time, states: Sender<State>) -> Result<(Key, String), Refused> {
        let prepared = self.prepare(0, true)?;
        let scheme = &self.channels[prepared.channel].scheme;
        let offer = sdp::offer(&prepared.local, &self.catalog.offered(&**scheme));
        let (key, text) = (prepared.key, offer.text.clone());
        self.audience.offered.insert(key, Offered { prepared, ours: Ours { offer, states }, at: now });
        Ok((key, text))
    }

    /// The server's answer to an offer of ours.
    pub(super) fn accept(&mut self, now: Time, key: Key, answer: &str) -> Result<(), Refused> {
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "the offer was given up: its answer came too late");
        let Offered { mut prepared, ours, .. } = self.audience.offered.remove(&key).ok_or_else(gone)?;
        let accepted = ours.offer.accept(answer).map_err(bad)?;
        with_video(&accepted.media, accepted.refused)?;
        prepared.connection.set_dtls_role(accepted.dtls);
        let scheme = self.channels[prepared.channel].scheme.clone();
        self.admit(now, prepared, accepted.remote, accepted.media, scheme, Some(ours))?;
        Ok(())
    }

    fn prepare(&mut self, channel: usize, controlling: bool) -> Result<Prepared, Refused> {
        self.ceilings.check(self.audience.check_room()?)?;
        let key = self.audience.next_key();
        let seed = Seed::new(random_bits()?);
        let config = Config { controlling, dtls: DtlsRole::Server, ..Config::default() };
        let mut connection = Connection::new(config, &self.identity, self.clock.origin()).map_err(unavailable)?;
        let there = &self.channels[channel];
        for address in &there.candidates {
            connection.add_local(*address).map_err(unavailable)?;
        }
        let local = Local {
            credentials: connection.credentials().clone(),
            fingerprint: self.identity.fingerprint(),
            candidates: there.advertised(),
            lite: false,
            setup: DtlsRole::Server,
            streams: stream_ids(seed),
            cname: cname(seed),
        };
        Ok(Prepared { key, seed, channel, connection, local })
    }

    fn admit(
        &mut self,
        now: Time,
        prepared: Prepared,
        remote: Remote,
        media: Negotiated,
        scheme: Arc<dyn SenderFactory>,
        ours: Option<Ours>,
    ) -> Result<(Key, String), Refused> {
        let Prepared { key, seed, channel, mut connection, local } = prepared;
        let remote = self.channels[channel].through_link(remote)?;
        let reports = media.video.as_ref().map_or(Reports::Often, Reports::agreed);
        let scheme = match &media.video {
            Some(video) => self.catalog.followed(scheme, video)?,
            None => scheme,
        };
        let played = Played::choose(scheme, reports, self.pictures.format.size);
        wants_candidates(self.encoders.encoding.codec.as_ref(), &*played.scheme, self.pictures.format.size)
            .map_err(unavailable)?;
        played.log(key, reports);
        let Played { scheme, asked } = played;
        connection.set_remote(now, &remote).map_err(bad)?;
        let setup = Setup {
            scheme,
            camera: Camera { size: self.pictures.format.size, interval: self.pictures.format.interval() },
            media,
            cname: local.cname,
            seed,
            wall: self.clock.ntp(Time::ZERO),
            ipv6: self.channels[channel].socket.local_address().is_ipv6(),
        };
        let outgoing = Outgoing::new(setup, connection, now).map_err(bad)?;
        let id = session_id()?;
        let pending = PendingViewer { key, id: id.clone(), channel, remote, ours, asked, reports };
        let mut viewer = Viewer::new(pending, outgoing, self.encoders.encoding.clone(), self.outbox.clone(), now);
        viewer.outgoing.set_ceiling(now, self.ceilings.first(self.audience.viewers.len()));
        if self.records.captures() {
            viewer.outgoing.capture();
        }
        self.records.joined(key, viewer.outgoing.scheme().name(), now);
        self.audience.add(viewer, &local.credentials.ufrag);
        Ok((key, id))
    }

    /// More candidates of a viewer, or its ICE restart.
    pub(super) fn patch(&mut self, now: Time, id: &str, text: &str, condition: &Condition) -> Result<Patched, Refused> {
        let channel = self.audience.find(id)?.channel;
        let fragment = self.channels[channel].fragment(text)?;
        let viewer = self.audience.find(id)?;
        let names_session = fragment.credentials == viewer.remote.credentials;
        is_for(condition, viewer.etag, names_session)?;
        viewer.due(now);
        if names_session {
            for line in &fragment.candidates {
                // One unusable candidate is no reason to reject the others.
                if let Err(error) = viewer.outgoing.connection().add_remote_candidate(line) {
                    tracing::debug!(viewer = viewer.key, %error, "a candidate that cannot be used");
                }
            }
            let key = viewer.key;
            self.audience.know_by_candidates(key);
            return Ok(Patched::Taken);
        }
        // What is wrong is found before anything has changed: the session goes on without a restart.
        renewed(&viewer.remote, &fragment).check().map_err(bad)?;
        let ours = viewer.outgoing.restart(now).map_err(unavailable)?;
        viewer.restarted(now, &fragment).map_err(bad)?;
        viewer.etag += 1;
        let (key, etag) = (viewer.key, etag(viewer.etag));
        let candidates = self.channels[channel].candidate_lines();
        self.audience.peers.name(key, &ours.ufrag);
        self.audience.know_by_candidates(key);
        let answer = Fragment { lite: false, credentials: ours, candidates, ended: true, ..fragment };
        tracing::info!(viewer = key, "ICE restarted");
        Ok(Patched::Restarted { fragment: answer.to_string(), etag })
    }

    /// New credentials for a connection that we offered; returns the fragment to send to its server.
    pub(super) fn restart(&mut self, now: Time, key: Key) -> Option<String> {
        let candidates = self.channels[self.audience.viewers.get(key)?.channel].candidate_lines();
        let viewer = self.audience.viewers.get_mut(key)?;
        let credentials = viewer.outgoing.restart(now).ok()?;
        let fragment = viewer.ours.as_ref()?.offer.fragment(&credentials, &candidates);
        self.audience.peers.name(key, &credentials.ufrag);
        Some(fragment.to_string())
    }

    /// The server's part of an ICE restart.
    pub(super) fn restarted(&mut self, now: Time, key: Key, text: &str) -> bool {
        let Some(channel) = self.audience.viewers.get(key).map(|viewer| viewer.channel) else { return false };
        let Ok(fragment) = self.channels[channel].fragment(text) else { return false };
        let set = self.audience.viewers.get_mut(key).is_some_and(|viewer| viewer.restarted(now, &fragment).is_ok());
        self.audience.know_by_candidates(key);
        set
    }
}
