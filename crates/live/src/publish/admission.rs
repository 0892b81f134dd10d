//! How viewers join: by their offer (a browser), or by ours (a WHIP server).

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use thalweg_sender::scheme::ReceiverKind;
use thalweg_sender::{Camera, SenderFactory};
use thalweg_session::{Outgoing, Setup};
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Capabilities, CongestionFeedback, Direction, Local, Negotiated};
use thalweg_transport::{Config, Connection, DtlsRole, Remote};
use thalweg_types::FeedbackStyle;
use thalweg_units::{Seed, Time};

use super::coder::wants_candidates;
use super::messages::{Key, State};
use super::network::{Network, follows};
use super::played::{Played, Reports};
use super::viewer::{Offered, Ours, PendingViewer, Prepared, Viewer};
use crate::joining::{bad, cname, etag, is_for, random_bits, renewed, session_id, stream_ids, unavailable};
use crate::web::{Condition, Join, Joined, Patched, Refused, RefusedKind};

impl Network {
    /// A viewer's offer, answered.
    pub(super) fn join(&mut self, now: Time, join: &Join) -> Result<Joined, Refused> {
        let channel = match &join.channel {
            None => 0,
            Some(name) => self.channel(name)?,
        };
        let scheme = match &join.scheme {
            None => self.channels[channel].scheme.clone(),
            Some(name) => self.scheme(name)?,
        };
        self.check_unconnected(join.from)?;
        let mut prepared = self.prepare(channel, false)?;
        let answer = sdp::answer(&join.offer, &prepared.local, &self.capabilities(&*scheme)).map_err(bad)?;
        prepared.connection.set_dtls_role(answer.dtls);
        let (key, id) = self.admit(now, prepared, answer.remote, answer.media, scheme, None)?;
        if let Some(viewer) = self.viewers.get_mut(key) {
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
        let mut offered = Capabilities { mid: true, ..self.capabilities(&**scheme) };
        // No server is known to send extended reports: unless the scheme needs them they are not offered.
        if !scheme.feedback().is_extended() {
            offered.congestion.retain(|kind| *kind != CongestionFeedback::Extended);
        }
        // The server's order counts: one that takes both must not choose the one without ECN.
        if self.sends_ect1(&**scheme) {
            offered.congestion.retain(|kind| *kind != CongestionFeedback::TransportOnRequest);
        }
        if !matches!(scheme.receiver(), ReceiverKind::Measures(_)) {
            (offered.feedback.path, offered.bytes_before) = (false, false);
        }
        let offer = sdp::offer(&prepared.local, &offered);
        let (key, text) = (prepared.key, offer.text.clone());
        self.offered.insert(key, Offered { prepared, ours: Ours { offer, states }, at: now });
        Ok((key, text))
    }

    /// The server's answer to an offer of ours.
    pub(super) fn accept(&mut self, now: Time, key: Key, answer: &str) -> Result<(), Refused> {
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "the offer was given up: its answer came too late");
        let Offered { mut prepared, ours, .. } = self.offered.remove(&key).ok_or_else(gone)?;
        let accepted = ours.offer.accept(answer).map_err(bad)?;
        prepared.connection.set_dtls_role(accepted.dtls);
        let scheme = self.channels[prepared.channel].scheme.clone();
        self.admit(now, prepared, accepted.remote, accepted.media, scheme, Some(ours))?;
        Ok(())
    }

    /// Our capabilities; the feedback that `scheme` needs comes first.
    fn capabilities(&self, scheme: &dyn SenderFactory) -> Capabilities {
        let mut all = Capabilities::all(Direction::SendOnly);
        if scheme.feedback().is_extended() {
            all.congestion.sort_by_key(|kind| *kind != CongestionFeedback::Extended);
        }
        // Only RFC 8888 says how packets were marked, and a receiver of ours says it as each frame has come, unless the
        // scheme is libwebrtc's and is to hear as often as there.
        let marked = self.sends_ect1(scheme);
        all.feedback.frames = marked && scheme.feedback() != FeedbackStyle::CcfbByFrame;
        if marked {
            all.congestion.sort_by_key(|kind| *kind != CongestionFeedback::PerStream);
        }
        Capabilities {
            video: vec![self.codecs.offered],
            audio: self.audio,
            // Useless to this sender, and it adds bytes to every packet.
            absolute_send_time: false,
            mid: false,
            ..all
        }
    }

    /// Returns true if it sends ECT(1) where the peer's reports allow that.
    fn sends_ect1(&self, scheme: &dyn SenderFactory) -> bool {
        scheme.parts(self.format.size).is_ok_and(|parts| parts.ecn.is_some())
    }

    /// Refuses one more viewer from an address whose unconnected ones take half of the places: they keep others out, for
    /// 30 s each.
    fn check_unconnected(&self, from: Option<IpAddr>) -> Result<(), Refused> {
        let Some(from) = from else { return Ok(()) };
        let unconnected = |viewer: &&Viewer| viewer.state == State::Connecting && viewer.from == Some(from);
        let (here, max) = (self.viewers.values().filter(unconnected).count(), (self.max_viewers / 2).max(1));
        if here < max {
            return Ok(());
        }
        let message = format!("{here} viewers joined from your address and have not connected; try again later");
        Err(Refused::new(RefusedKind::Full, message))
    }

    fn prepare(&mut self, channel: usize, controlling: bool) -> Result<Prepared, Refused> {
        let here = self.viewers.len() + self.offered.len();
        if here >= self.max_viewers {
            let message = format!("{here} viewers are here, which is the most allowed; try again later");
            return Err(Refused::new(RefusedKind::Full, message));
        }
        self.check_share(here)?;
        let key = self.next_key;
        self.next_key += 1;
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
            candidates: there.config.advertised(&there.candidates),
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
        let remote = self.through_link(channel, remote)?;
        let reports = media.video.as_ref().map_or(Reports::Often, Reports::agreed);
        let played = Played::choose(scheme, reports, self.format.size);
        if let Some(video) = &media.video {
            follows(&*played.scheme, video)?;
        }
        wants_candidates(self.codecs.codec.as_ref(), &*played.scheme, self.format.size).map_err(unavailable)?;
        played.log(key, reports);
        let Played { scheme, asked } = played;
        connection.set_remote(now, &remote).map_err(bad)?;
        let setup = Setup {
            scheme,
            camera: Camera { size: self.format.size, interval: self.format.interval() },
            media,
            cname: local.cname,
            seed,
            wall: self.clock.ntp(Time::ZERO),
            ipv6: self.channels[channel].socket.local_address().is_ipv6(),
        };
        let outgoing = Outgoing::new(setup, connection, now).map_err(bad)?;
        let encoding = self.encoding();
        let id = session_id()?;
        let pending = PendingViewer { key, id: id.clone(), channel, remote, ours, asked, reports };
        let mut viewer = Viewer::new(pending, outgoing, encoding, self.outbox.clone(), now);
        viewer.outgoing.set_ceiling(now, self.first_share());
        if self.records.captures() {
            viewer.outgoing.capture();
        }
        self.records.joined(key, viewer.outgoing.scheme().name(), now);
        self.peers.name(key, &local.credentials.ufrag);
        self.viewers.insert(viewer);
        self.audience_changed = true;
        self.know_by_candidates(key);
        Ok((key, id))
    }

    /// More candidates of a viewer, or its ICE restart.
    pub(super) fn patch(&mut self, now: Time, id: &str, text: &str, condition: &Condition) -> Result<Patched, Refused> {
        let channel = self.find(id)?.channel;
        let fragment = self.fragment(channel, text)?;
        let viewer = self.find(id)?;
        is_for(condition, viewer.etag)?;
        viewer.due(now);
        if fragment.credentials == viewer.remote.credentials {
            for line in &fragment.candidates {
                // One unusable candidate is no reason to reject the others.
                if let Err(error) = viewer.outgoing.connection().add_remote_candidate(line) {
                    tracing::debug!(viewer = viewer.key, %error, "a candidate that cannot be used");
                }
            }
            let key = viewer.key;
            self.know_by_candidates(key);
            return Ok(Patched::Taken);
        }
        // What is wrong is found before anything has changed: the session goes on without a restart.
        renewed(&viewer.remote, &fragment).check().map_err(bad)?;
        let ours = viewer.outgoing.restart(now).map_err(unavailable)?;
        viewer.restarted(now, &fragment).map_err(bad)?;
        viewer.etag += 1;
        let (key, etag) = (viewer.key, etag(viewer.etag));
        let candidates = self.candidate_lines(channel);
        self.peers.name(key, &ours.ufrag);
        self.know_by_candidates(key);
        let answer = Fragment { lite: false, credentials: ours, candidates, ended: true, ..fragment };
        tracing::info!(viewer = key, "ICE restarted");
        Ok(Patched::Restarted { fragment: answer.to_string(), etag })
    }

    /// New credentials for a connection that we offered; returns the fragment to send to its server.
    pub(super) fn restart(&mut self, now: Time, key: Key) -> Option<String> {
        let candidates = self.candidate_lines(self.viewers.get(key)?.channel);
        let viewer = self.viewers.get_mut(key)?;
        let credentials = viewer.outgoing.restart(now).ok()?;
        let fragment = viewer.ours.as_ref()?.offer.fragment(&credentials, &candidates);
        self.peers.name(key, &credentials.ufrag);
        Some(fragment.to_string())
    }

    /// The server's part of an ICE restart.
    pub(super) fn restarted(&mut self, now: Time, key: Key, text: &str) -> bool {
        let Some(channel) = self.viewers.get(key).map(|viewer| viewer.channel) else { return false };
        let Ok(fragment) = self.fragment(channel, text) else { return false };
        let set = self.viewers.get_mut(key).is_some_and(|viewer| viewer.restarted(now, &fragment).is_ok());
        self.know_by_candidates(key);
        set
    }

    /// Parses an SDP fragment of signalling, with the candidates that are usable on the channel.
    fn fragment(&self, channel: usize, text: &str) -> Result<Fragment, Refused> {
        let mut fragment = Fragment::read(text).map_err(bad)?;
        if self.channels[channel].link.is_some() {
            fragment.candidates.clear();
        }
        Ok(fragment)
    }

    /// The peer's parameters as usable on the channel: behind an emulated link the peer reaches us through the link,
    /// and nothing is sent to its own candidates, which would bypass the link.
    fn through_link(&self, channel: usize, remote: Remote) -> Result<Remote, Refused> {
        if self.channels[channel].link.is_none() {
            return Ok(remote);
        }
        if remote.lite {
            return Err(bad(
                "the peer is an ICE lite one, which waits to be sent to: no link can be emulated before it",
            ));
        }
        Ok(Remote { candidates: Vec::new(), ..remote })
    }

    fn candidate_lines(&self, channel: usize) -> Vec<String> {
        let there = &self.channels[channel];
        sdp::host_candidates(&there.config.advertised(&there.candidates))
    }
}
