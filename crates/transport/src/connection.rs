//! The whole of it: datagrams in, datagrams and packets out.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use thalweg_units::{Bytes, Time};

use crate::demultiplex::Kind;
use crate::dtls::{Dtls, Progress};
use crate::ice::{Heard, Ice, Route, check_credentials, read_candidate};
use crate::srtp::{Inbound, Keys, Outbound};
use crate::statistics::Refusal;
use crate::{
    Config, Credentials, DtlsRole, Identity, Profile, Remote, SendError, Statistics, TransportError, identity,
};

/// Datagrams of a handshake that wait for a path: more than a flight has.
const MOST_WAITING: usize = 32;

/// What a connection wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this.
    Transmit(Datagram),
    /// This happened.
    Event(Event),
    /// Nothing more until a datagram comes or this instant does.
    Wait {
        /// When [`Connection::on_timeout`] is due; [`Time::NEVER`] after the end.
        until: Time,
    },
}

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    /// From which of our addresses.
    pub from: SocketAddr,
    /// To where.
    pub to: SocketAddr,
    /// Its payload.
    pub bytes: Vec<u8>,
}

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// There are a path and keys: packets can be sent.
    Connected,
    /// An RTP packet came: authentic, new and decrypted.
    Rtp(Vec<u8>),
    /// A compound RTCP packet came: authentic, new and decrypted.
    Rtcp(Vec<u8>),
    /// Nothing was heard for [`Config::silence`]; sending goes on until consent expires.
    Disconnected,
    /// Something was heard again.
    Reconnected,
    /// It is over: either end said goodbye, or consent has expired ([`Config::give_up`]).
    Closed,
    /// It is over: it could not be made, or not kept.
    Failed(TransportError),
}

/// A connection to one other end.
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
    heard: Time,
    /// When the other end last showed that it wants to be sent to.
    consent: Time,
    silent: bool,
    over: bool,
    statistics: Statistics,
}

impl Connection {
    /// A connection that knows nothing of the other end yet. `origin` is the instant of [`Time::ZERO`].
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
            heard: Time::ZERO,
            consent: Time::ZERO,
            silent: false,
            over: false,
            statistics: Statistics::default(),
        })
    }

    /// What the other end's checks must be authenticated with: for signalling.
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

    /// Takes what signalling said of the other end, and begins; again after [`Connection::restart`].
    ///
    /// # Errors
    /// When the credentials or a candidate cannot be read, there are too many candidates, or another certificate is
    /// announced than before. Nothing has changed then.
    pub fn set_remote(&mut self, now: Time, remote: &Remote) -> Result<(), TransportError> {
        check_credentials(&remote.credentials)?;
        let usable = remote.candidates.iter().map(|line| read_candidate(line)).collect::<Result<Vec<_>, _>>()?;
        if usable.iter().flatten().count() > self.config.most_addresses {
            return Err(TransportError::Candidates { most: self.config.most_addresses });
        }
        let instant = self.advance(now);
        match &self.dtls {
            Some(dtls) if dtls.expected() != remote.fingerprint => {
                return Err(TransportError::OtherIdentity { before: dtls.expected(), after: remote.fingerprint });
            }
            Some(_) => {}
            None => self.dtls = Some(Dtls::new(&self.config, &self.identity, remote.fingerprint, instant)?),
        }
        self.begun.get_or_insert(self.now);
        self.ice.set_remote(&remote.credentials);
        for line in &remote.candidates {
            self.add_remote_candidate(line)?;
        }
        self.ice.on_timeout(instant);
        self.drain();
        Ok(())
    }

    /// Adds a candidate of the other end that came later (trickle, RFC 8838). One that cannot be used here, such as an
    /// mDNS name, is passed over and counted.
    ///
    /// # Errors
    /// When it cannot be read, or there are too many.
    pub fn add_remote_candidate(&mut self, line: &str) -> Result<(), TransportError> {
        if !self.ice.add_remote(line)? {
            self.statistics.unusable_candidates += 1;
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

    /// Takes a datagram that came from `from` to our address `to`.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        let instant = self.advance(now);
        self.statistics.datagrams += 1;
        if let Err(refusal) = self.take(instant, from, to, datagram) {
            self.statistics.dropped.count(refusal);
        } else {
            self.drain();
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

    /// Where media goes, once a path is chosen.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.ice.route().map(|route| route.remote)
    }

    /// What was received, sent and dropped so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn take(&mut self, instant: Instant, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> Result<(), Refusal> {
        if self.over {
            return Err(Refusal::AfterEnd);
        }
        let kind = Kind::of(datagram).ok_or(Refusal::Malformed)?;
        if kind != Kind::Stun && !self.ice.knows(from, to) {
            return Err(Refusal::UnknownAddress);
        }
        match kind {
            Kind::Stun => {
                if self.ice.on_stun(instant, from, to, datagram)? == Heard::Consent {
                    self.consent = self.now;
                }
                self.statistics.stun += 1;
                self.ice.on_timeout(instant);
            }
            Kind::Dtls => {
                let dtls = self.dtls.as_mut().ok_or(Refusal::Dtls)?;
                let result = dtls.on_datagram(instant, self.config.dtls, datagram)?;
                self.statistics.dtls += 1;
                if let Err(error) = result {
                    self.fail(error);
                }
                // A record of DTLS is authentic only after the handshake, and which are is not told: not heard.
                return Ok(());
            }
            Kind::Rtp => {
                let packet = self.inbound.as_mut().ok_or(Refusal::BeforeKeys)?.rtp(datagram)?;
                self.statistics.rtp += 1;
                self.hear();
                self.outputs.push_back(Output::Event(Event::Rtp(packet)));
                return Ok(());
            }
            Kind::Rtcp => {
                let compound = self.inbound.as_mut().ok_or(Refusal::BeforeKeys)?.rtcp(datagram)?;
                self.statistics.rtcp += 1;
                self.hear();
                self.outputs.push_back(Output::Event(Event::Rtcp(compound)));
                return Ok(());
            }
        }
        self.hear();
        Ok(())
    }

    /// Something authentic came.
    fn hear(&mut self) {
        self.heard = self.now;
        if std::mem::take(&mut self.silent) {
            self.outputs.push_back(Output::Event(Event::Reconnected));
        }
    }

    /// Moves on what ICE and DTLS have to say.
    fn drain(&mut self) {
        if self.over {
            return;
        }
        while let Some((route, bytes)) = self.ice.poll_transmit() {
            self.transmit(route, bytes);
        }
        if self.ice.poll_route()
            && let Some(route) = self.ice.route()
        {
            let (role, instant) = (self.config.dtls, self.instant());
            if let Some(Err(error)) = self.dtls.as_mut().map(|dtls| dtls.start(role, instant)) {
                self.fail(error);
            }
            for bytes in std::mem::take(&mut self.waiting) {
                self.transmit(route, bytes);
            }
        }
        while let Some(progress) = self.dtls.as_mut().filter(|_| !self.over).and_then(Dtls::poll) {
            match progress {
                Progress::Transmit(bytes) => match self.ice.route() {
                    Some(route) => self.transmit(route, bytes),
                    None if self.waiting.len() < MOST_WAITING => self.waiting.push_back(bytes),
                    None => {}
                },
                Progress::Connected(ours, theirs) => self.connect(&ours, theirs),
                Progress::ApplicationData => self.statistics.dropped.application_data += 1,
                Progress::Closed => self.end(Event::Closed),
                Progress::Failed(error) => self.fail(error),
            }
        }
    }

    fn connect(&mut self, ours: &Keys, theirs: Keys) {
        let most = self.config.most_streams;
        let both = Outbound::new(ours, most).and_then(|outbound| {
            let inbound = Inbound::new(theirs, most, self.config.replay_window)?;
            Ok((outbound, inbound))
        });
        match both {
            Ok((outbound, inbound)) => {
                (self.outbound, self.inbound) = (Some(outbound), Some(inbound));
                (self.heard, self.consent) = (self.now, self.now);
                self.outputs.push_back(Output::Event(Event::Connected));
            }
            Err(error) => self.fail(error),
        }
    }

    /// What happens because nothing did.
    fn look_at_the_clock(&mut self) {
        if self.over {
            return;
        }
        if !self.is_connected() {
            if self.begun.is_some_and(|begun| self.now >= begun + self.config.connect) {
                self.fail(TransportError::NotConnected(self.config.connect));
            }
        } else if self.now >= self.consent + self.config.give_up {
            self.end(Event::Closed);
        } else if !self.silent && self.now >= self.heard + self.config.silence {
            self.silent = true;
            self.outputs.push_back(Output::Event(Event::Disconnected));
        }
    }

    fn due(&mut self) -> Time {
        if self.over {
            return Time::NEVER;
        }
        let own = match (self.is_connected(), self.begun) {
            (true, _) if self.silent => self.consent + self.config.give_up,
            (true, _) => (self.heard + self.config.silence).min(self.consent + self.config.give_up),
            (false, Some(begun)) => begun + self.config.connect,
            (false, None) => Time::NEVER,
        };
        let theirs = [self.ice.due(), self.dtls.as_ref().and_then(Dtls::due)].into_iter().flatten().min();
        let theirs = theirs.map_or(Time::NEVER, |due| {
            Time::from_nanos(due.saturating_duration_since(self.origin).as_nanos().min(u128::from(u64::MAX)) as u64)
        });
        own.min(theirs)
    }

    fn transmit(&mut self, route: Route, bytes: Vec<u8>) {
        self.statistics.sent += 1;
        self.outputs.push_back(Output::Transmit(Datagram { from: route.local, to: route.remote, bytes }));
    }

    fn fail(&mut self, error: TransportError) {
        self.end(Event::Failed(error));
    }

    /// The end: nothing is sent or taken any more, and the keys are gone.
    fn end(&mut self, event: Event) {
        if !std::mem::replace(&mut self.over, true) {
            (self.outbound, self.inbound) = (None, None);
            self.outputs.push_back(Output::Event(event));
        }
    }

    /// Takes the time, which never goes back and ends after a century.
    fn advance(&mut self, now: Time) -> Instant {
        const CENTURY: Time = Time::from_nanos(100 * 365 * 86_400 * 1_000_000_000);
        self.now = self.now.max(now.min(CENTURY));
        self.instant()
    }

    fn instant(&self) -> Instant {
        self.origin.checked_add(Duration::from_nanos(self.now.as_nanos())).unwrap_or(self.origin)
    }
}
