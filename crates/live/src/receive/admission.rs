//! How senders join and restart.

use std::net::{IpAddr, SocketAddr};

use thalweg_session::Incoming;
use thalweg_session::incoming::Setup;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Local};
use thalweg_transport::{Config, Connection, DtlsRole, Remote};
use thalweg_units::{Seed, Time};

use super::network::Network;
use super::sender::{Joining, Sender};
use crate::joining::{bad, cname, etag, is_for, is_session, random_bits, renewed, session_id, stream_ids, unavailable};
use crate::peers::State;
use crate::web::{Condition, Join, Joined, Patched, Refused, RefusedKind};

/// The longest name of a sender; more of it is cut off.
const LONGEST_NAME: usize = 40;

/// A sender's name as a file may have it, with its number.
fn named(asked: Option<&str>, key: u64) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let kept: String = asked.unwrap_or_default().chars().filter(|c| is_allowed(*c)).take(LONGEST_NAME).collect();
    format!("{}-{key}", if kept.is_empty() { "sender" } else { &kept })
}

impl Network {
    /// A sender's offer, answered.
    pub(super) fn join(&mut self, now: Time, join: &Join) -> Result<Joined, Refused> {
        if let Some(channel) = &join.channel {
            if self.senders.values().any(|sender| sender.id == *channel) {
                return Err(is_session());
            }
            let message = format!("There is no endpoint {channel:?}; senders join at /whip.");
            return Err(Refused::new(RefusedKind::NoSuchChannel, message));
        }
        self.check_room(join.from)?;
        let key = self.next_key;
        let name = named(join.name.as_deref(), key);
        let seed = Seed::new(random_bits()?);
        let config = Config { lite: true, controlling: false, dtls: DtlsRole::Server, ..Config::default() };
        let mut connection = Connection::new(config, &self.identity, self.clock.origin()).map_err(unavailable)?;
        self.candidates.iter().try_for_each(|address| connection.add_local(*address)).map_err(unavailable)?;
        let mut local = Local {
            credentials: connection.credentials().clone(),
            fingerprint: self.identity.fingerprint(),
            candidates: self.advertised(),
            // Senders reach this address or the link's, or nothing does; and those who answer no checks can send too, as
            // ffmpeg's WHIP muxer (9.0.2), whose answers have no XOR-MAPPED-ADDRESS and end once it sends.
            lite: true,
            setup: DtlsRole::Server,
            streams: stream_ids(seed),
            cname: cname(seed),
        };
        // Offers that cannot be answered start no link, and none is answered in part (RFC 9725 sections 4.4.2 and 4.4.3): a
        // sender would not know what of it is missing. Audio that is not wanted here is left out, as `--no-audio` says.
        let capabilities = self.config.capabilities();
        let mut missed = sdp::answer(&join.offer, &local, &capabilities).map_err(bad)?.refused;
        missed.retain(|refusal| refusal.is_media && (capabilities.audio || !refusal.is_of("audio")));
        if !missed.is_empty() {
            let reasons: Vec<String> = missed.iter().map(ToString::to_string).collect();
            return Err(bad(format!("taken as a whole or not at all: {}", reasons.join("; "))));
        }
        let (relay, passing) = match &self.link {
            None => (None, None),
            Some(link) => {
                let (relay, passing) = link.start(&name, self.config.observe.each_packet).map_err(unavailable)?;
                local.candidates = vec![relay.address()];
                (Some(relay), passing)
            }
        };
        let answer = sdp::answer(&join.offer, &local, &capabilities).map_err(bad)?;
        if answer.remote.lite {
            return Err(bad("the peer is an ICE lite one, which waits to be sent to: a WHIP client is a full one"));
        }
        for refusal in &answer.refused {
            tracing::info!(sender = name, %refusal, "not agreed on");
        }
        connection.set_dtls_role(answer.dtls);
        // Behind an emulated link nothing is sent to the peer's own candidates, which would bypass the link.
        let remote = match &relay {
            None => answer.remote,
            Some(_) => Remote { candidates: Vec::new(), ..answer.remote },
        };
        connection.set_remote(now, &remote).map_err(bad)?;
        let ipv6 = self.candidates.first().is_some_and(SocketAddr::is_ipv6);
        let video = answer.media.video.clone();
        let setup = Setup { ipv6, ..Setup::new(answer.media, local.cname) };
        let incoming = Incoming::new(setup, connection, now).map_err(bad)?;
        let id = session_id()?;
        let waker = self.poller.waker();
        let from = join.from;
        let forward = self.forward.clone();
        let joining =
            Joining { key, id: id.clone(), name, from, remote, incoming, video, relay, passing, waker, forward };
        let sender = Sender::new(joining, &self.config, now);
        tracing::info!(sender = sender.name, "joined");
        self.peers.name(key, &local.credentials.ufrag);
        self.senders.insert(key, sender);
        self.next_key += 1;
        Ok(Joined { id, answer: answer.text, etag: etag(0) })
    }

    /// Refuses one sender too many, and one more from an address whose unconnected ones take half of the places: they
    /// keep others out, for 30 s each.
    fn check_room(&self, from: Option<IpAddr>) -> Result<(), Refused> {
        let (here, most) = (self.senders.len(), self.config.max_senders);
        let full = |message: String| Err(Refused::new(RefusedKind::Full, message));
        if here >= most {
            return full(format!("{here} senders are here, which is the most allowed; try again later"));
        }
        let unconnected = |sender: &&Sender| sender.state == State::Connecting && sender.from == from;
        let waiting = self.senders.values().filter(unconnected).count();
        if from.is_some() && most > 1 && waiting >= most.div_ceil(2) {
            return full(format!("{waiting} senders joined from your address and have not connected; try again later"));
        }
        Ok(())
    }

    fn advertised(&self) -> Vec<SocketAddr> {
        if self.config.advertise.is_empty() { self.candidates.clone() } else { self.config.advertise.clone() }
    }

    /// More candidates of a sender, or its ICE restart.
    pub(super) fn patch(&mut self, now: Time, id: &str, text: &str, condition: &Condition) -> Result<Patched, Refused> {
        let advertised = self.advertised();
        let gone = || Refused::new(RefusedKind::NoSuchViewer, "no such sender: it has left or was given up");
        let sender = self.senders.values_mut().find(|sender| sender.id == id).ok_or_else(gone)?;
        let mut fragment = Fragment::read(text).map_err(bad)?;
        if sender.relay.is_some() {
            fragment.candidates.clear();
        }
        let names_session = fragment.credentials == sender.remote.credentials;
        is_for(condition, sender.etag, names_session)?;
        sender.due(now);
        if names_session {
            for line in &fragment.candidates {
                // One unusable candidate is no reason to reject the others.
                if let Err(error) = sender.incoming.connection().add_remote_candidate(line) {
                    tracing::debug!(sender = sender.name, %error, "a candidate that cannot be used");
                }
            }
            return Ok(Patched::Taken);
        }
        // What is wrong is found before anything has changed: the session goes on without a restart.
        renewed(&sender.remote, &fragment).check().map_err(bad)?;
        let ours = sender.incoming.restart(now).map_err(unavailable)?;
        sender.restarted(now, &fragment).map_err(bad)?;
        sender.etag += 1;
        let reached = sender.relay.as_ref().map_or(advertised, |relay| vec![relay.address()]);
        tracing::info!(sender = sender.name, "ICE restarted");
        self.peers.name(sender.key, &ours.ufrag);
        let candidates = sdp::host_candidates(&reached);
        let restarted = Fragment { lite: true, credentials: ours, candidates, ended: true, ..fragment };
        Ok(Patched::Restarted { fragment: restarted.to_string(), etag: etag(sender.etag) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_a_file_may_have() {
        let names = [None, Some("obs"), Some("../../etc/passwd"), Some("\u{e9}\n")].map(|asked| named(asked, 3));
        assert_eq!(names, ["sender-3", "obs-3", "etcpasswd-3", "sender-3"]);
        assert_eq!(named(Some(&"a".repeat(1000)), 1).len(), LONGEST_NAME + 2);
    }
}
