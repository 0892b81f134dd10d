//! The whole of it: datagrams in, datagrams and packets out.

mod work;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use thalweg_units::{Bytes, Time};

use crate::dtls::Dtls;
use crate::ice::{Ice, check_credentials, read_candidate};
use crate::srtp::{Inbound, Outbound};
use crate::{
    Config, Credentials, DtlsRole, Event, Identity, Output, Profile, Received, Remote, SendError, Statistics,
    TransportError, identity,
};

/// A connection to one peer.
///
/// Until the handshake is done, its records are not authentic: who can send from an address of the peer's that has been
/// checked can end the connection in that tenth of a second, as with any DTLS, though not come to know or to change anything.
///
/// Every call with a time may leave outputs: [`Connection::poll`] until [`Output::Wait`]. Times never go back; one that does
/// counts as the latest there was.
pub struct Connection {
    config: Config,
    identity: Identity,
    origin: Instant,
    now: Time,
    ice: Ice,
    dtls: Option<Dtls>,
    inbound: Option<Inbound>,
    outbound: Option<Outbound>,
    /// Datagrams of the handshake from before there was a path.
    waiting: VecDeque<Vec<u8>>,
    outputs: VecDeque<Output>,
    /// When signalling was complete.
    begun: Option<Time>,
    /// When something authentic last came.
    last_received: Time,
    /// When the peer last showed that it wants to be sent to.
    consent: Time,
    silent: bool,
    over: bool,
    statistics: Statistics,
}

impl Connection {
    /// A connection that knows nothing of the peer yet. `origin` is the instant of [`Time::ZERO`].
    ///
    /// # Errors
    /// When the configuration cannot work, or the system has no random numbers for the credentials.
    pub fn new(config: Config, identity: &Identity, origin: Instant) -> Result<Connection, TransportError> {
        config.check()?;
        let ice = Ice::new(&config, identity::credentials()?);
        Ok(Connection {
            config,
            identity: identity.clone(),
            origin,
            now: Time::ZERO,
            ice,
            dtls: None,
            inbound: None,
            outbound: None,
            waiting: VecDeque::new(),
            outputs: VecDeque::new(),
            begun: None,
            last_received: Time::ZERO,
            consent: Time::ZERO,
            silent: false,
            over: false,
            statistics: Statistics::default(),
        })
    }

    /// What the peer's checks must be authenticated with: for signalling.
    pub fn credentials(&self) -> &Credentials {
        self.ice.credentials()
    }

    /// Adds an address of ours that a socket is bound to: a host candidate.
    ///
    /// # Errors
    /// When nothing can be sent to it: port 0, the unspecified address, broadcast.
    pub fn add_local(&mut self, address: SocketAddr) -> Result<(), TransportError> {
        self.ice.add_local(address)
    }

    /// Says who begins the handshake, when [`Config::dtls`] could not yet: an offerer learns it from the answer. Without
    /// effect once the handshake has begun.
    pub fn set_dtls_role(&mut self, role: DtlsRole) {
        self.config.dtls = role;
    }

    /// Takes what signalling said of the peer, and begins; again after [`Connection::restart`].
    ///
    /// # Errors
    /// When the credentials or a candidate cannot be read, there are too many candidates, or another certificate is
    /// announced than before. Nothing has changed then.
    pub fn set_remote(&mut self, now: Time, remote: &Remote) -> Result<(), TransportError> {
        check_credentials(&remote.credentials)?;
        let candidates = remote.candidates.iter().map(|line| read_candidate(line)).collect::<Result<Vec<_>, _>>()?;
        let usable: Vec<_> = candidates.into_iter().flatten().collect();
        let unusable = remote.candidates.len() - usable.len();
        self.ice.check_room(&usable)?;
        let instant = self.advance(now);
        match &self.dtls {
            Some(dtls) if dtls.expected() != remote.fingerprint => {
                return Err(TransportError::OtherIdentity { before: dtls.expected(), after: remote.fingerprint });
            }
            Some(_) => {}
            None => self.dtls = Some(Dtls::new(&self.config, &self.identity, remote.fingerprint, instant)?),
        }
        self.begun.get_or_insert(self.now);
        if remote.lite {
            self.ice.face_lite();
        }
        self.ice.set_remote(&remote.credentials);
        usable.into_iter().for_each(|candidate| self.ice.add_remote(candidate));
        self.statistics.unusable_candidates += unusable as u64;
        self.ice.on_timeout(instant);
        self.drain();
        Ok(())
    }

    /// Adds a candidate of the peer that came later (trickle, RFC 8838). One that cannot be used here, such as an
    /// mDNS name, is passed over and counted.
    ///
    /// # Errors
    /// When it cannot be read, or there are too many.
    pub fn add_remote_candidate(&mut self, line: &str) -> Result<(), TransportError> {
        match read_candidate(line)? {
            Some(candidate) => {
                self.ice.check_room(std::slice::from_ref(&candidate))?;
                self.ice.add_remote(candidate);
            }
            None => self.statistics.unusable_candidates += 1,
        }
        Ok(())
    }

    /// Restarts ICE (RFC 8445 section 9): new credentials, for signalling; then [`Connection::set_remote`] with those of the
    /// other end. Media goes on with the same keys where it went, until a new path is chosen.
    ///
    /// # Errors
    /// When the system has no random numbers; nothing has changed then.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        let credentials = identity::credentials()?;
        self.advance(now);
        self.ice.restart(credentials.clone());
        Ok(credentials)
    }

    /// Takes a datagram that came from `from` to our address `to`; returns what it was.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Received {
        let instant = self.advance(now);
        self.statistics.datagrams += 1;
        match self.take(instant, from, to, datagram) {
            Ok(received) => {
                self.drain();
                received
            }
            Err(refusal) => {
                self.statistics.dropped.count(refusal);
                Received::Dropped(refusal)
            }
        }
    }

    /// Does what is due.
    pub fn on_timeout(&mut self, now: Time) {
        let instant = self.advance(now);
        if self.over {
            return;
        }
        if self.ice.due().is_some_and(|due| due <= instant) {
            self.ice.on_timeout(instant);
        }
        if let Some(dtls) = &mut self.dtls
            && dtls.due().is_some_and(|due| due <= instant)
            && let Err(error) = dtls.on_timeout(instant)
        {
            self.fail(error);
        }
        self.drain();
        self.look_at_the_clock();
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        match self.outputs.pop_front() {
            Some(output) => output,
            None => Output::Wait { until: self.due() },
        }
    }

    /// Protects and sends an RTP packet, as [`Output::Transmit`].
    ///
    /// # Errors
    /// When it cannot be sent protected, or a packet as new of its stream was sent before.
    pub fn send_rtp(&mut self, packet: &[u8]) -> Result<(), SendError> {
        let (outbound, route) = self.outbound.as_mut().zip(self.ice.route()).ok_or(SendError::NotConnected)?;
        let protected = outbound.rtp(packet)?;
        self.statistics.sent_rtp += 1;
        self.transmit(route, protected);
        Ok(())
    }

    /// Protects and sends a compound RTCP packet, as [`Output::Transmit`].
    ///
    /// # Errors
    /// When it cannot be sent protected.
    pub fn send_rtcp(&mut self, compound: &[u8]) -> Result<(), SendError> {
        let (outbound, route) = self.outbound.as_mut().zip(self.ice.route()).ok_or(SendError::NotConnected)?;
        let protected = outbound.rtcp(compound)?;
        self.statistics.sent_rtcp += 1;
        self.transmit(route, protected);
        Ok(())
    }

    /// Says goodbye (`close_notify`) and ends: [`Event::Closed`].
    pub fn close(&mut self, now: Time) {
        self.advance(now);
        if self.over {
            return;
        }
        if let Some(dtls) = &mut self.dtls {
            dtls.close();
        }
        self.drain();
        self.end(Event::Closed);
    }

    /// Whether packets can be sent.
    pub fn is_connected(&self) -> bool {
        self.outbound.is_some()
    }

    /// What protection adds to an RTP packet; before that is known, the most it can be.
    pub fn srtp_overhead(&self) -> Bytes {
        self.profile().unwrap_or(Profile::AeadAes256Gcm).overhead()
    }

    /// How media is protected, once it is.
    pub fn profile(&self) -> Option<Profile> {
        self.outbound.as_ref().map(Outbound::profile)
    }

    /// The version of DTLS that was agreed on, `"1.2"` or `"1.3"`, once the handshake is done.
    pub fn dtls_version(&self) -> Option<&'static str> {
        match self.dtls.as_ref()?.version()? {
            dimpl::ProtocolVersion::DTLS1_2 => Some("1.2"),
            dimpl::ProtocolVersion::DTLS1_3 => Some("1.3"),
            _ => None,
        }
    }

    /// Addresses that signalling named for the peer, those that cannot be used here left out. A lite end sends from no
    /// others and makes no checks that would name it ([`crate::ufrag_of`]): a port shared among connections tells them apart by these.
    pub fn remote_candidates(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.ice.candidates()
    }

    /// Where media goes, once a path is chosen.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.ice.route().map(|route| route.remote)
    }

    /// What was received, sent and dropped so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}
