//! Joining: the offer, the answer, and the receiver that results.

use std::net::{IpAddr, SocketAddr, UdpSocket as StdSocket};

use thalweg_session::Incoming;
use thalweg_session::incoming::Setup;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Local};
use thalweg_transport::{Config, Connection, DtlsRole, Identity, Remote};
use thalweg_units::{Seed, Time};

use super::config::WatchConfig;
use super::error::WatchError;
use super::published::Published;
use crate::joining::stream_ids;
use crate::measure::Feedback;
use crate::whip::{Client, Patched, Resource};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{UdpConfig, UdpSocket};

/// One session with a server.
pub(super) struct Session {
    pub(super) incoming: Incoming,
    pub(super) sockets: Vec<UdpSocket>,
    pub(super) codec: sdp::VideoCodec,
    pub(super) feedback: Feedback,
    pub(super) published: Option<Published>,
    resource: Resource,
    offer: sdp::Offer,
    remote: Remote,
    candidates: Vec<SocketAddr>,
}

impl Session {
    /// Asks what is published, offers to receive, and accepts the answer.
    pub(super) fn open(config: &WatchConfig, client: &Client, clock: &Clock) -> Result<Session, WatchError> {
        let published = Published::ask(client, &config.place)?;
        let sockets = sockets(&config.place.addresses()?)?;
        let candidates: Vec<SocketAddr> = sockets.iter().map(UdpSocket::local_address).collect();
        let identity = Identity::generate()?;
        let transport = Config { controlling: true, ..Config::default() };
        let mut connection = Connection::new(transport, &identity, clock.origin())?;
        candidates.iter().try_for_each(|address| connection.add_local(*address))?;
        let seed = Seed::new(getrandom::u64().map_err(|error| WatchError::Random(error.to_string()))?);
        let local = Local {
            credentials: connection.credentials().clone(),
            fingerprint: identity.fingerprint(),
            candidates: candidates.clone(),
            lite: false,
            setup: DtlsRole::Client,
            streams: stream_ids(seed),
            cname: format!("{:016x}", seed.child("cname").get()),
        };
        let offer = sdp::offer(&local, &config.capabilities());
        let (resource, answer) = client.open(&config.place.whep, &offer.text)?;
        match accept(&offer, &answer, connection, local.cname, &candidates, clock.now()) {
            Ok((incoming, remote, codec, feedback)) => {
                Ok(Session { incoming, sockets, codec, feedback, published, resource, offer, remote, candidates })
            }
            Err(error) => {
                // The session is unusable; the error before is the one to return.
                let _ = resource.close();
                Err(error)
            }
        }
    }

    /// Restarts ICE to find another path; returns whether the server supports it. Blocks until the server answers.
    pub(super) fn restart(&mut self, clock: &Clock) -> Result<bool, WatchError> {
        let ours = self.incoming.restart(clock.now())?;
        let fragment = self.offer.fragment(&ours, &sdp::host_candidates(&self.candidates));
        let Ok(Patched::Restarted(theirs)) = self.resource.restart(&fragment.to_string()) else { return Ok(false) };
        let Ok(theirs) = Fragment::read(&theirs) else { return Ok(false) };
        (self.remote.credentials, self.remote.candidates) = (theirs.credentials, theirs.candidates);
        self.incoming.connection().set_remote(clock.now(), &self.remote)?;
        Ok(true)
    }

    /// Ends the session on the server.
    pub(super) fn close(self) {
        if let Err(error) = self.resource.close() {
            tracing::debug!(%error, "the server does not take back the session");
        }
    }
}

type Accepted = (Incoming, Remote, sdp::VideoCodec, Feedback);

fn accept(
    offer: &sdp::Offer,
    answer: &str,
    mut connection: Connection,
    cname: String,
    candidates: &[SocketAddr],
    now: Time,
) -> Result<Accepted, WatchError> {
    let accepted = offer.accept(answer)?;
    for refusal in &accepted.refused {
        tracing::info!(%refusal, "not agreed on");
    }
    connection.set_dtls_role(accepted.dtls);
    connection.set_remote(now, &accepted.remote)?;
    // A session with audio alone has no video codec.
    let video = accepted.media.video.as_ref();
    let codec = video.map_or(sdp::VideoCodec::Vp8, |video| video.codec);
    let feedback = Feedback::agreed(video.and_then(sdp::Video::congestion));
    let ipv6 = candidates.first().is_some_and(SocketAddr::is_ipv6);
    let setup = Setup { ipv6, ..Setup::new(accepted.media, cname) };
    Ok((Incoming::new(setup, connection, now)?, accepted.remote, codec, feedback))
}

/// A socket for each address family of the server, bound to the local address of the route to it.
fn sockets(servers: &[SocketAddr]) -> Result<Vec<UdpSocket>, WatchError> {
    let mut ours: Vec<IpAddr> = Vec::new();
    for server in servers {
        let any: SocketAddr = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse().expect("an address");
        // Connecting UDP sends nothing: the system only looks up the route.
        let way = StdSocket::bind(any).and_then(|socket| socket.connect(server).and_then(|()| socket.local_addr()));
        if let Ok(local) = way
            && !ours.contains(&local.ip())
        {
            ours.push(local.ip());
        }
    }
    if ours.is_empty() {
        let error =
            std::io::Error::new(std::io::ErrorKind::NetworkUnreachable, "there is no way to the server's address");
        return Err(error.into());
    }
    // IPv4 first: publishers bind it by default.
    ours.sort_by_key(IpAddr::is_ipv6);
    let bind = |ip: &IpAddr| UdpSocket::bind(SocketAddr::new(*ip, 0), &UdpConfig::default());
    Ok(ours.iter().map(bind).collect::<std::io::Result<_>>()?)
}
