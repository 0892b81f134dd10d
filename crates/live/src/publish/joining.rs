//! How viewers come: by their offer (a browser), or by ours (a WHIP server).

use std::collections::VecDeque;
use std::sync::mpsc::Sender;

use thalweg_sender::{Camera, Scheme};
use thalweg_session::{Outgoing, Setup};
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Capabilities, Direction, Local, Negotiated, StreamIds};
use thalweg_transport::{Config, Connection, DtlsRole, Remote};
use thalweg_units::{Seed, Time};

use super::messages::Key;
use super::network::{Network, follows};
use super::random;
use super::viewer::{Encoding, State, Viewer};
use crate::web::{Condition, Join, Joined, Patched, Refused, RefusedKind};

/// A connection whose other end is yet to be known.
pub(super) struct Prepared {
    key: Key,
    seed: Seed,
    channel: usize,
    connection: Connection,
    local: Local,
}

/// An offer of ours that has not been answered.
pub(super) struct Offered {
    prepared: Prepared,
    offer: sdp::Offer,
    states: Sender<State>,
    at: Time,
}

impl Offered {
    /// When it was made.
    pub(super) fn at(&self) -> Time {
        self.at
    }
}

fn unavailable(error: impl ToString) -> Refused {
    Refused::new(RefusedKind::Unavailable, error.to_string())
}

fn bad(error: impl ToString) -> Refused {
    Refused::new(RefusedKind::BadOffer, error.to_string())
}

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
        let mut prepared = self.prepare(channel, false)?;
        let answer = sdp::answer(&join.offer, &prepared.local, &self.capabilities()).map_err(bad)?;
        prepared.connection.set_dtls_role(answer.dtls);
        let (key, id) = self.admit(now, prepared, answer.remote, answer.media, scheme, None)?;
        tracing::info!(viewer = key, channel = self.channels[channel].config.name, "joined");
        Ok(Joined { id, answer: answer.text, etag: etag(0) })
    }

    /// An offer to a server; [`Network::accept`] takes its answer. `states` hears what becomes of the connection.
    pub(super) fn offer(&mut self, now: Time, states: Sender<State>) -> Result<(Key, String), Refused> {
        let prepared = self.prepare(0, true)?;
        let offer = sdp::offer(&prepared.local, &Capabilities { mid: true, ..self.capabilities() });
        let (key, text) = (prepared.key, offer.text.clone());
        self.offered.insert(key, Offered { prepared, offer, states, at: now });
        Ok((key, text))
    }

    /// The server's answer to an offer of ours.
    pub(super) fn accept(&mut self, now: Time, key: Key, answer: &str) -> Result<(), Refused> {
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "the offer was given up: its answer came too late");
        let Offered { mut prepared, offer, states, .. } = self.offered.remove(&key).ok_or_else(gone)?;
        let accepted = offer.accept(answer).map_err(bad)?;
        prepared.connection.set_dtls_role(accepted.dtls);
        let scheme = self.channels[prepared.channel].scheme.clone();
        self.admit(now, prepared, accepted.remote, accepted.media, scheme, Some(states))?;
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            video: vec![self.codecs.offered],
            audio: self.sound,
            // Of no use to what sends here, and bytes in every packet.
            absolute_send_time: false,
            mid: false,
            ..Capabilities::all(Direction::SendOnly)
        }
    }

    fn prepare(&mut self, channel: usize, controlling: bool) -> Result<Prepared, Refused> {
        let here = self.viewers.len() + self.offered.len();
        if here >= self.most_viewers {
            let message = format!("{here} viewers are here, which is the most allowed; try again later");
            return Err(Refused::new(RefusedKind::Full, message));
        }
        let key = self.next_key;
        self.next_key += 1;
        let seed = Seed::new(random::bits().map_err(unavailable)?);
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
            cname: format!("thalweg-{key}"),
        };
        Ok(Prepared { key, seed, channel, connection, local })
    }

    fn admit(
        &mut self,
        now: Time,
        prepared: Prepared,
        remote: Remote,
        media: Negotiated,
        scheme: Scheme,
        states: Option<Sender<State>>,
    ) -> Result<(Key, String), Refused> {
        let Prepared { key, seed, channel, mut connection, local } = prepared;
        let remote = self.through_link(channel, remote)?;
        if let Some(video) = &media.video {
            follows(&scheme, video)?;
        }
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
        let encoding = Encoding { codec: self.codecs.codec.clone(), size: self.format.size, seed: self.seed };
        let secret = || random::bits().map_err(unavailable);
        let id = format!("{:016x}{:016x}", secret()?, secret()?);
        let place = (key, id.clone(), channel);
        let mut viewer = Viewer::new(place, outgoing, encoding, &self.outbox, now).map_err(unavailable)?;
        (viewer.remote, viewer.states) = (Some(remote), states);
        let trace = self.records.begin(key, &viewer.outgoing.scheme().name, now);
        viewer.record(trace, self.records.captures());
        self.by_ufrag.insert(local.credentials.ufrag, key);
        self.viewers.insert(key, viewer);
        Ok((key, id))
    }

    /// More candidates of a viewer, or the restart of its ICE.
    pub(super) fn patch(&mut self, now: Time, id: &str, text: &str, condition: &Condition) -> Result<Patched, Refused> {
        let channel = self.find(id)?.channel;
        let fragment = self.fragment(channel, text)?;
        let viewer = self.find(id)?;
        if let Condition::Tag(tag) = condition
            && *tag != etag(viewer.etag)
        {
            let message = format!("the ICE session is {:?} now, not {tag:?}", etag(viewer.etag));
            return Err(Refused::new(RefusedKind::Stale, message));
        }
        let Some(mut remote) = viewer.remote.clone() else { return Err(unavailable("the viewer is not known yet")) };
        viewer.due(now);
        if fragment.credentials == remote.credentials {
            for line in &fragment.candidates {
                // One that cannot be used is no reason to refuse the others.
                if let Err(error) = viewer.outgoing.connection().add_remote_candidate(line) {
                    tracing::debug!(viewer = viewer.key, %error, "a candidate that cannot be used");
                }
            }
            return Ok(Patched::Taken);
        }
        let ours = viewer.outgoing.restart(now).map_err(unavailable)?;
        (remote.credentials, remote.candidates) = (fragment.credentials.clone(), fragment.candidates.clone());
        viewer.outgoing.connection().set_remote(now, &remote).map_err(bad)?;
        viewer.remote = Some(remote);
        viewer.etag += 1;
        let (key, etag) = (viewer.key, etag(viewer.etag));
        let candidates = self.candidate_lines(channel);
        self.by_ufrag.insert(ours.ufrag.clone(), key);
        let answer = Fragment { lite: false, credentials: ours, candidates, ended: true, ..fragment };
        tracing::info!(viewer = key, "ICE restarted");
        Ok(Patched::Restarted { fragment: answer.to_string(), etag })
    }

    /// New credentials for a connection that we offered: the fragment to send to its server.
    pub(super) fn restart(&mut self, now: Time, key: Key) -> Option<String> {
        let viewer = self.viewers.get_mut(&key)?;
        let ours = viewer.outgoing.restart(now).ok()?;
        let (kind, mid) = ("video".to_owned(), viewer.outgoing.video().mid.clone());
        let channel = viewer.channel;
        let candidates = self.candidate_lines(channel);
        self.by_ufrag.insert(ours.ufrag.clone(), key);
        let bundle = vec![mid.clone()];
        Some(Fragment { lite: false, bundle, kind, mid, credentials: ours, candidates, ended: true }.to_string())
    }

    /// The server's half of a restart.
    pub(super) fn restarted(&mut self, now: Time, key: Key, text: &str) -> bool {
        let Some(channel) = self.viewers.get(&key).map(|viewer| viewer.channel) else { return false };
        let Ok(fragment) = self.fragment(channel, text) else { return false };
        let Some(viewer) = self.viewers.get_mut(&key) else { return false };
        let Some(mut remote) = viewer.remote.clone() else { return false };
        (remote.credentials, remote.candidates) = (fragment.credentials, fragment.candidates);
        viewer.due(now);
        let set = viewer.outgoing.connection().set_remote(now, &remote).is_ok();
        viewer.remote = Some(remote);
        set
    }

    /// A fragment of signalling, as far as it is of use on the channel.
    fn fragment(&self, channel: usize, text: &str) -> Result<Fragment, Refused> {
        let mut fragment = Fragment::read(text).map_err(bad)?;
        if self.channels[channel].emulated {
            fragment.candidates.clear();
        }
        Ok(fragment)
    }

    /// The other end, as it is to be reached on the channel: where a link is emulated the other end comes to us through it, and nothing
    /// is sent to where it is, which would go around the link.
    fn through_link(&self, channel: usize, remote: Remote) -> Result<Remote, Refused> {
        if !self.channels[channel].emulated {
            return Ok(remote);
        }
        if remote.lite {
            return Err(bad(
                "the other end is an ICE lite one, which waits to be sent to: no link can be emulated before it",
            ));
        }
        Ok(Remote { candidates: Vec::new(), ..remote })
    }

    fn candidate_lines(&self, channel: usize) -> Vec<String> {
        let there = &self.channels[channel];
        let addresses = there.config.advertised(&there.candidates);
        let line = |(index, address): (usize, &std::net::SocketAddr)| {
            // Host candidates, the first preferred (RFC 8445 section 5.1.2).
            let priority = 126u32 << 24 | (65_535 - index as u32) << 8 | 255;
            format!("candidate:{} 1 udp {priority} {} {} typ host", index + 1, address.ip(), address.port())
        };
        addresses.iter().enumerate().map(line).collect()
    }
}

/// The tag of a viewer's ICE session.
fn etag(number: u64) -> String {
    format!("ice-{number}")
}

/// SSRCs by chance, all different.
pub(crate) fn stream_ids(seed: Seed) -> StreamIds {
    let mut random = seed.child("ssrc").random();
    let mut taken: VecDeque<u32> = VecDeque::new();
    let mut next = || loop {
        let ssrc = random.bits() as u32;
        if ssrc != 0 && !taken.contains(&ssrc) {
            taken.push_back(ssrc);
            return ssrc;
        }
    };
    StreamIds { video: next(), retransmission: next(), parity: next(), audio: next() }
}
