//! The connection that combines the parts: datagrams in, datagrams and packets out.

mod work;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use thalweg_units::{Bytes, Ecn, Time};

use crate::dtls::Dtls;
use crate::ice::{Ice, check_credentials, read_candidate};
use crate::srtp::{Inbound, Outbound};
use crate::{
    Config, Credentials, DtlsRole, Event, Identity, Output, Profile, Received, Remote, SendError, Statistics,
    TransportError, identity,
};

/// A connection to one peer.
///
/// Until the handshake is done, its records are not authenticated: an attacker who can send from a checked address of
/// the peer can end the connection in that tenth of a second, as with any DTLS, but can neither read nor change
/// anything. Records that cannot belong to a handshake, and those there is no room for, are dropped without harm.
///
/// Every call with a time may produce outputs: call [`Connection::poll`] until it returns [`Output::Wait`]. Time is
/// monotonic; an earlier value counts as the latest one given.
pub struct Connection {
    config: Config,
    identity: Identity,
    origin: Instant,
    now: Time,
    ice: Ice,
    dtls: Option<Dtls>,
    inbound: Option<Inbound>,
    outbound: Option<Outbound>,
    /// Handshake datagrams received before there was a path.
    waiting: VecDeque<Vec<u8>>,
    outputs: VecDeque<Output>,
    /// When signalling was complete.
    begun: Option<Time>,
    /// When authenticated input last arrived.
    last_received: Time,
    /// When the keys were known.
    connected: Time,
    /// ECN field of RTCP: ECT(1) where the last RTP packet came with that or marked.
    rtcp_ecn: Ecn,
    silent: bool,
    over: bool,
    statistics: Statistics,
}

impl Connection {
    /// Creates a connection without knowledge of the peer. `origin` is the instant of [`Time::ZERO`].
    ///
    /// # Errors
    /// When the configuration is invalid, or the system has no random numbers for the credentials.
    pub fn new(config: Config, identity: &Identity, origin: Instant) -> Result<Connection, TransportError> {
        config.check()?;
        let ice = Ice::new(&config, identity::credentials()?)?;
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
            connected: Time::ZERO,
            rtcp_ecn: Ecn::NotCapable,
            silent: false,
            over: false,
            statistics: Statistics::default(),
        })
    }

    /// The credentials with which the peer must authenticate its checks; to be signalled.
    pub fn credentials(&self) -> &Credentials {
        self.ice.credentials()
    }

    /// Adds a local address with a bound socket: a host candidate.
    ///
    /// # Errors
    /// When the address cannot be reached: port 0, the unspecified address, broadcast.
    pub fn add_local(&mut self, address: SocketAddr) -> Result<(), TransportError> {
        self.ice.add_local(address)
    }

    /// Sets which side starts the handshake, when [`Config::dtls`] was not known yet: an offerer learns it from the
    /// answer. Has no effect once the handshake has begun.
    pub fn set_dtls_role(&mut self, role: DtlsRole) {
        self.config.dtls = role;
    }

    /// Sets the peer's signalled parameters and starts; call again after [`Connection::restart`]. Candidates that cannot be
    /// used or read (RFC 8839 section 5.1), and of more than [`Config::max_addresses`] those of the lowest priority (RFC
    /// 8445 section 6.1.2.5), are left out and counted.
    ///
    /// # Errors
    /// When the credentials are invalid, or the announced certificate has changed. Nothing has changed then.
    pub fn set_remote(&mut self, now: Time, remote: &Remote) -> Result<(), TransportError> {
        check_credentials(&remote.credentials)?;
        let candidates = remote.candidates.iter().filter_map(|line| read_candidate(line).ok().flatten());
        let mut usable: Vec<_> = candidates.collect();
        usable.sort_by_key(|candidate| std::cmp::Reverse(candidate.prio()));
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
        let taken = usable.into_iter().map(|candidate| self.ice.add_remote(candidate)).filter(|taken| *taken).count();
        self.statistics.unusable_candidates += (remote.candidates.len() - taken) as u64;
        self.ice.on_timeout(instant);
        self.drain();
        Ok(())
    }

    /// Adds a later candidate of the peer (trickle, RFC 8838). An unusable one, such as an mDNS name, and one more than
    /// [`Config::max_addresses`] are ignored and counted.
    ///
    /// # Errors
    /// When it cannot be parsed.
    pub fn add_remote_candidate(&mut self, line: &str) -> Result<(), TransportError> {
        let taken = read_candidate(line)?.is_some_and(|candidate| self.ice.add_remote(candidate));
        self.statistics.unusable_candidates += u64::from(!taken);
        Ok(())
    }

    /// Restarts ICE (RFC 8445 section 9): returns new credentials to be signalled; then call [`Connection::set_remote`]
    /// with the peer's new ones. Media continues with the same keys on the old path until a new one is chosen.
    ///
    /// # Errors
    /// When the system has no random numbers; nothing has changed then.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        let credentials = identity::credentials()?;
        self.advance(now);
        self.ice.restart(credentials.clone());
        Ok(credentials)
    }

    /// Processes a datagram received from `from` at our address `to`, with the ECN field of its IP packet
    /// ([`Ecn::NotCapable`] where the socket does not tell it); returns its kind. RTCP is sent as ECT(1) while the last RTP
    /// packet came as ECT(1) or CE (specs/l4s.md 1.3): STUN, DTLS and what SRTP refuses do not count.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, ecn: Ecn, datagram: &[u8]) -> Received {
        let instant = self.advance(now);
        self.statistics.datagrams += 1;
        match self.take(instant, (from, to), ecn, datagram) {
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

    /// Performs everything that is due.
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

    /// The next output.
    pub fn poll(&mut self) -> Output {
        match self.outputs.pop_front() {
            Some(output) => output,
            None => Output::Wait { until: self.due() },
        }
    }

    /// Protects and sends an RTP packet with this ECN field, as [`Output::Transmit`].
    ///
    /// # Errors
    /// When it cannot be protected, or its index is not newer than that of the last packet sent in its stream.
    pub fn send_rtp(&mut self, ecn: Ecn, packet: &[u8]) -> Result<(), SendError> {
        let (outbound, route) = self.outbound.as_mut().zip(self.ice.route()).ok_or(SendError::NotConnected)?;
        let protected = outbound.rtp(packet)?;
        self.statistics.sent_rtp += 1;
        self.transmit(route, ecn, protected);
        Ok(())
    }

    /// Protects and sends a compound RTCP packet, as [`Output::Transmit`]; as ECT(1) where
    /// [`Connection::on_datagram`] says so.
    ///
    /// # Errors
    /// When it cannot be protected.
    pub fn send_rtcp(&mut self, compound: &[u8]) -> Result<(), SendError> {
        let (outbound, route) = self.outbound.as_mut().zip(self.ice.route()).ok_or(SendError::NotConnected)?;
        let protected = outbound.rtcp(compound)?;
        self.statistics.sent_rtcp += 1;
        self.transmit(route, self.rtcp_ecn, protected);
        Ok(())
    }

    /// Sends `close_notify` and ends the connection: [`Event::Closed`].
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

    /// Returns true if packets can be sent.
    pub fn is_connected(&self) -> bool {
        self.outbound.is_some()
    }

    /// Bytes that SRTP adds to an RTP packet; the max until the profile is known.
    pub fn srtp_overhead(&self) -> Bytes {
        self.profile().unwrap_or(Profile::AeadAes256Gcm).overhead()
    }

    /// The SRTP profile, once known.
    pub fn profile(&self) -> Option<Profile> {
        self.outbound.as_ref().map(Outbound::profile)
    }

    /// The negotiated DTLS version, `"1.2"` or `"1.3"`, once the handshake is done.
    pub fn dtls_version(&self) -> Option<&'static str> {
        match self.dtls.as_ref()?.version()? {
            dimpl::ProtocolVersion::DTLS1_2 => Some("1.2"),
            dimpl::ProtocolVersion::DTLS1_3 => Some("1.3"),
            _ => None,
        }
    }

    /// The usable peer addresses from signalling. A lite peer sends from no others and makes no checks that would
    /// identify it ([`crate::ufrag_of`]): a port shared by several connections distinguishes them by these addresses.
    pub fn remote_candidates(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.ice.candidates()
    }

    /// The remote address of the media path, once a path is chosen.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.ice.route().map(|route| route.remote)
    }

    /// The counters so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

impl Remote {
    /// Checks these parameters as [`Connection::set_remote`] does: a restart with wrong ones must leave the session as it is
    /// (RFC 9725 section 4.3.3), so they are checked before it begins.
    ///
    /// # Errors
    /// When the credentials have other lengths than RFC 8839 section 5.4 allows.
    pub fn check(&self) -> Result<(), TransportError> {
        check_credentials(&self.credentials)
    }
}
