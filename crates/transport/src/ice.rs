//! Candidate addresses, and the peer's consent to receive: ICE (RFC 8445, RFC 7675).

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use is::stun::{StunMessage, StunPacket};
use is::{Candidate, IceAgent, IceAgentEvent, IceCreds, Protocol};

use crate::parameters::excerpt;
pub(crate) use crate::paths::Route;
use crate::paths::{Paths, Said};
use crate::statistics::Refusal;
use crate::{Config, Credentials, TransportError, identity};

/// How many checks of ours are remembered for their answers: those of all pairs that RFC 8445 section 6.1.2.5 allows, for
/// longer than a round trip.
const CHECKS: usize = 512;

/// The transaction of a STUN message, which its answer repeats (RFC 8489 section 5).
type Transaction = [u8; 12];

/// Timeout before a check is repeated; it doubles with each repetition (RFC 8445 section 14.3 allows no less).
const RETRANSMISSION: Duration = Duration::from_millis(500);
/// The longest time between the checks of a pair before there is a path.
const SEARCHING: Duration = Duration::from_secs(3);
/// The bounds of the time between checks of a path in use, in milliseconds: 0.8 and 1.2 times 5 s, drawn anew each time,
/// so that the checks of many connections do not come at once (RFC 7675 section 5.1).
const CONSENT: (u64, u64) = (4000, 6000);

/// The ICE agent and its limits.
///
/// An address is known once an authenticated STUN message came from it: DTLS and SRTP are accepted from known addresses
/// only, and sent to the one that both agents have checked and the controlling one has nominated. There are at most
/// `max_addresses`, because a peer with the credentials could claim any number, and the agent keeps all it has seen.
pub(crate) struct Ice {
    agent: IceAgent,
    credentials: Credentials,
    locals: Vec<SocketAddr>,
    known: BTreeSet<SocketAddr>,
    /// Our own addresses as the peer sees them.
    mapped: BTreeSet<SocketAddr>,
    /// The peer's addresses from signalling.
    candidates: BTreeSet<SocketAddr>,
    max_addresses: usize,
    route: Option<Route>,
    paths: Paths,
    /// Our latest checks, and where they were sent.
    checks: VecDeque<(Transaction, Route)>,
}

impl Ice {
    pub(crate) fn new(config: &Config, credentials: Credentials) -> Result<Ice, TransportError> {
        randomize()?;
        let mut agent = IceAgent::new(creds(&credentials));
        agent.set_controlling(config.controlling);
        agent.set_ice_lite(config.lite);
        agent.set_initial_stun_rto(RETRANSMISSION);
        agent.set_max_stun_rto(SEARCHING);
        // The agent must not give up a pair before the connection gives up.
        for retransmissions in 9..100 {
            agent.set_max_stun_retransmits(retransmissions);
            if agent.ice_timeout().as_nanos() as i64 >= config.give_up.as_nanos() {
                break;
            }
        }
        Ok(Ice {
            agent,
            credentials,
            locals: Vec::new(),
            known: BTreeSet::new(),
            mapped: BTreeSet::new(),
            candidates: BTreeSet::new(),
            max_addresses: config.max_addresses,
            route: None,
            paths: Paths::default(),
            checks: VecDeque::new(),
        })
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    pub(crate) fn route(&self) -> Option<Route> {
        self.route
    }

    /// Returns true if media from `from` to `to` is accepted.
    pub(crate) fn knows(&self, from: SocketAddr, to: SocketAddr) -> bool {
        self.known.contains(&from) && self.locals.contains(&to)
    }

    pub(crate) fn add_local(&mut self, address: SocketAddr) -> Result<(), TransportError> {
        let wrong = |why: String| TransportError::Address { address, why };
        if address.port() == 0 {
            return Err(wrong("port 0".to_owned()));
        }
        let candidate = Candidate::host(address, "udp").map_err(|error| wrong(error.to_string()))?;
        if !self.locals.contains(&address) {
            self.agent.add_local_candidate(candidate);
            self.locals.push(address);
        }
        Ok(())
    }

    /// Adds a remote candidate; returns whether it is usable and there was room for it.
    ///
    /// Loopback addresses are taken only where we have no other ourselves (RFC 8445 section 5.1.1.1 has none of them):
    /// otherwise a peer elsewhere could have checks sent to services of this machine, also by a socket that is bound to
    /// all addresses, one of which is loopback. A peer on this machine is found by its own checks.
    pub(crate) fn add_remote(&mut self, candidate: Candidate) -> bool {
        let address = candidate.addr();
        if self.candidates.contains(&address) {
            return true;
        }
        let ours = |local: &SocketAddr| local.ip().to_canonical().is_loopback();
        if ours(&address) && !self.locals.iter().all(ours) {
            return false;
        }
        let room = self.candidates.len() < self.max_addresses;
        if room {
            self.candidates.insert(address);
            self.agent.add_remote_candidate(candidate);
        }
        room
    }

    pub(crate) fn set_remote(&mut self, credentials: &Credentials) {
        self.agent.set_remote_credentials(creds(credentials));
    }

    /// The peer is lite and makes no checks, so this agent is controlling regardless of who offered (RFC 8445 section
    /// 6.1.1).
    pub(crate) fn face_lite(&mut self) {
        if !self.agent.ice_lite() {
            self.agent.set_controlling(true);
        }
    }

    /// The peer's addresses from signalling.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.candidates.iter().copied()
    }

    /// Restarts with new credentials; media continues on the old path until another is chosen.
    pub(crate) fn restart(&mut self, credentials: Credentials) {
        self.agent.ice_restart(creds(&credentials), true);
        self.credentials = credentials;
        self.candidates.clear();
        self.mapped.clear();
        self.known.clear();
        self.known.extend(self.route.map(|route| route.remote));
        self.paths.restart(self.route);
        self.checks.clear();
        self.agent.set_max_stun_rto(SEARCHING);
    }

    /// Processes a STUN message.
    pub(crate) fn on_stun(
        &mut self,
        now: Instant,
        from: SocketAddr,
        to: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), Refusal> {
        if !self.locals.contains(&to) {
            return Err(Refusal::UnknownAddress);
        }
        if !has_fingerprint(datagram) {
            return Err(Refusal::Malformed);
        }
        let message = StunMessage::parse(datagram).map_err(|_| Refusal::Malformed)?;
        let max = self.max_addresses;
        let full = |set: &BTreeSet<SocketAddr>, address: SocketAddr| set.len() >= max && !set.contains(&address);
        if full(&self.known, from) || message.mapped_address().is_some_and(|mapped| full(&self.mapped, mapped)) {
            return Err(Refusal::TooManyAddresses);
        }
        let route = Route { local: to, remote: from };
        let answers = message.is_successful_binding_response();
        if answers && !self.was_asked(route, datagram) {
            return Err(Refusal::Stun);
        }
        let packet = StunPacket { proto: Protocol::Udp, source: from, destination: to, message };
        let role = self.agent.controlling();
        if !self.agent.handle_packet(now, packet) {
            return Err(Refusal::Stun);
        }
        if message.is_failed_binding_response() && self.agent.controlling() != role && randomize().is_ok() {
            // Both took the same role, and this one gives way: with another number (RFC 8445 section 7.2.5.1).
            self.agent.set_control_tie_breaker(fastrand::u64(..));
        }
        self.known.insert(from);
        self.mapped.extend(message.mapped_address());
        let asks = message.is_binding_request();
        let consents = if self.agent.ice_lite() { asks } else { answers };
        self.paths.on_stun(route, now, Said { consents, nominates: asks && message.use_candidate() });
        Ok(())
    }

    /// Returns true if this answer comes from where its check was sent, to where that was sent from (RFC 8445 section
    /// 7.2.5.2.1). The agent does not look: a peer could have media sent to an address that is not its own.
    fn was_asked(&self, route: Route, answer: &[u8]) -> bool {
        self.checks.iter().any(|(transaction, asked)| answer.get(8..20) == Some(transaction) && *asked == route)
    }

    /// Authenticated media or RTCP arrived.
    pub(crate) fn on_media(&mut self, now: Instant, from: SocketAddr, to: SocketAddr) {
        self.paths.on_media(Route { local: to, remote: from }, now, self.agent.ice_lite());
    }

    /// When the peer last consented to receive on the media path.
    pub(crate) fn consented(&self) -> Option<Instant> {
        self.paths.consented(self.route?)
    }

    /// The consent for the media path has expired: takes another that has consent since `after`; returns whether there
    /// is one. The controlling agent chooses among all, the other among those nominated (RFC 8445 section 8.1.1).
    pub(crate) fn take_another(&mut self, after: Instant) -> bool {
        let nominated = !self.agent.controlling();
        let another = self.route.and_then(|route| {
            self.paths.lose(route);
            self.paths.instead_of(after, nominated)
        });
        self.route = another.or(self.route);
        another.is_some()
    }

    /// The path to which the peer has moved, and when to follow it there; the controlling agent does not follow, it
    /// chooses.
    fn newer(&self) -> Option<(Route, Instant)> {
        let route = self.route.filter(|_| !self.agent.controlling())?;
        self.paths.newer_than(route)
    }

    /// Performs everything that is due; also called after every message, so that an answer triggers the next check at
    /// once.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        // Without random numbers no check is made.
        if randomize().is_ok() {
            self.agent.handle_timeout(now);
        }
        if let Some((newer, at)) = self.newer()
            && now >= at
        {
            self.route = Some(newer);
        }
    }

    /// When the next timeout is due.
    pub(crate) fn due(&mut self) -> Option<Instant> {
        self.agent.poll_timeout().into_iter().chain(self.newer().map(|(_, at)| at)).min()
    }

    /// The next datagram to send, with its route.
    pub(crate) fn poll_transmit(&mut self) -> Option<(Route, Vec<u8>)> {
        let transmit = self.agent.poll_transmit()?;
        let route = Route { local: transmit.source, remote: transmit.destination };
        let bytes: Vec<u8> = transmit.contents.into();
        if let Some(([0, 1, ..], transaction)) =
            bytes.first_chunk::<20>().and_then(|head| head.split_first_chunk::<8>())
            && let Ok(transaction) = Transaction::try_from(transaction)
        {
            self.checks.push_back((transaction, route));
            if self.checks.len() > CHECKS {
                self.checks.pop_front();
            }
            if self.route.is_some() {
                let (least, most) = CONSENT;
                self.agent.set_max_stun_rto(Duration::from_millis(fastrand::u64(least..=most)));
            }
        }
        Some((route, bytes))
    }

    /// Updates the chosen path; returns `true` when it has changed.
    pub(crate) fn poll_route(&mut self) -> bool {
        let before = self.route;
        while let Some(event) = self.agent.poll_event() {
            if let IceAgentEvent::NominatedSend { source, destination, .. } = event {
                let route = Route { local: source, remote: destination };
                self.route = Some(route).filter(|route| !self.paths.is_lost(*route)).or(self.route);
            }
        }
        self.route != before
    }
}

/// Seeds the generator of the agent's next numbers with randomness of the system.
///
/// `is` takes the transactions of its checks and its tiebreaker from `fastrand`, whose state follows from a few of its
/// numbers: a peer that has seen some could give consent in the name of another address (RFC 7675 section 5.1 forbids that
/// they can be known).
fn randomize() -> Result<(), TransportError> {
    fastrand::seed(u64::from_ne_bytes(identity::random()?));
    Ok(())
}

/// Returns true if a STUN message ends with its fingerprint, as every one does in ICE (RFC 8445 section 7.3, RFC 8489
/// section 14.7). The agent does not look.
fn has_fingerprint(message: &[u8]) -> bool {
    const HEAD: [u8; 4] = [0x80, 0x28, 0, 4];
    /// The ASCII letters `STUN`.
    const MASK: u32 = 0x5354_554e;
    let Some((covered, [a, b, c, d, value @ ..])) = message.split_last_chunk::<8>() else { return false };
    [*a, *b, *c, *d] == HEAD && u32::from_be_bytes(*value) == crc32(covered) ^ MASK
}

/// The checksum of ITU-T V.42, bit by bit: a check is a hundred bytes.
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ POLYNOMIAL };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn creds(credentials: &Credentials) -> IceCreds {
    IceCreds { ufrag: credentials.ufrag.clone(), pass: credentials.password.clone() }
}

/// Rejects credentials with lengths that RFC 8839 section 5.4 does not allow.
pub(crate) fn check_credentials(credentials: &Credentials) -> Result<(), TransportError> {
    for (field, text, min) in [("ice-ufrag", &credentials.ufrag, 4), ("ice-pwd", &credentials.password, 22)] {
        if text.len() < min || text.len() > 256 {
            return Err(TransportError::Credentials { field, length: text.len(), min });
        }
    }
    Ok(())
}

/// Parses a candidate; `None` if it is unusable here: browsers hide their addresses behind mDNS names, whose addresses
/// their checks reveal, a connection is one component on UDP, an address that is valid on one link alone must not be
/// paired with others (RFC 8445 section 6.1.2.2), and one of many hosts or of none is no peer's.
pub(crate) fn read_candidate(line: &str) -> Result<Option<Candidate>, TransportError> {
    let wrong = |why: &str| TransportError::Candidate { line: excerpt(line), why: why.to_owned() };
    let line = line.trim();
    let line = line.strip_prefix("a=").unwrap_or(line);
    let fields: Vec<&str> = line.split_whitespace().take(6).collect();
    let [first, component, protocol, _, address, port] = fields[..] else { return Err(wrong("too few fields")) };
    if !first.starts_with("candidate:") {
        return Err(wrong("it does not begin with `candidate:`"));
    }
    let is_name =
        |text: &str| text.parse::<IpAddr>().is_err() && text.contains('.') && !text.ends_with(char::is_numeric);
    // Some name the link after the address (RFC 4007 section 11), as Pion did.
    let without_link =
        address.split('%').next().unwrap_or(address).parse().map(|address: IpAddr| address.to_canonical());
    let is_of_no_host = without_link.is_ok_and(|address| match address {
        _ if address.is_multicast() || address.is_unspecified() => true,
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    });
    if component != "1"
        || !protocol.eq_ignore_ascii_case("udp")
        || is_name(address)
        || is_of_no_host
        || port == "0"
        || port == "9"
    {
        return Ok(None);
    }
    let protocol_in_small = line.replacen(protocol, "udp", 1);
    Candidate::from_sdp_string(&protocol_in_small).map(Some).map_err(|error| wrong(&excerpt(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_browsers_are_read_or_passed_over() {
        let usable =
            "candidate:1510613869 1 UDP 2130706431 192.0.2.7 54321 typ host generation 0 ufrag abcd network-id 1";
        assert_eq!(read_candidate(usable).unwrap().unwrap().addr(), "192.0.2.7:54321".parse().unwrap());
        assert!(read_candidate(&format!("a={usable}")).unwrap().is_some());
        assert!(read_candidate("candidate:2 1 udp 1 2001:db8::1 5 typ srflx raddr :: rport 0").unwrap().is_some());
        let unusable = [
            "candidate:1 1 udp 2113937151 0f3b2c1a-6f0e-4f4f-9f2e-2d1c6c2f7a3b.local 51234 typ host generation 0",
            "candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active",
            "candidate:1 2 udp 2130706430 192.0.2.7 54322 typ host",
            "candidate:1 1 udp 2130706430 169.254.7.7 54322 typ host",
            "candidate:1 1 udp 2130706430 fe80::7 54322 typ host",
            "candidate:1 1 udp 2122 fe80::1%21 50000 typ host generation 0",
            "candidate:1 1 udp 2122 192.0.2.7 0 typ host",
            "candidate:1 1 udp 2122 224.0.0.251 5353 typ host",
            "candidate:1 1 udp 2122 ff02::fb 5353 typ host",
            "candidate:1 1 udp 2122 ::ffff:224.0.0.251 5353 typ host",
            "candidate:1 1 udp 2122 255.255.255.255 5353 typ host",
            "candidate:1 1 udp 2122 0.0.0.0 50000 typ host",
        ];
        for line in unusable {
            assert!(read_candidate(line).unwrap().is_none(), "{line}");
        }
        let unread = ["", "candidate:", "host 1 udp 1 192.0.2.7 5", "candidate:1 1 udp x 192.0.2.7 5 typ host"];
        for line in unread.into_iter().chain(["candidate:1 1 udp 2122 (null) 5000 typ host"]) {
            assert!(matches!(read_candidate(line), Err(TransportError::Candidate { .. })), "{line}");
        }
    }

    #[test]
    fn a_message_ends_with_its_fingerprint() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the check value of the polynomial");
        let mut message = vec![0, 1, 0, 8, 0x21, 0x12, 0xa4, 0x42, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let value = crc32(&message) ^ 0x5354_554e;
        assert!(!has_fingerprint(&message));
        message.extend([0x80, 0x28, 0, 4]);
        message.extend(value.to_be_bytes());
        assert!(has_fingerprint(&message));
        for at in 0..message.len() {
            let mut changed = message.clone();
            changed[at] ^= 1;
            assert!(!has_fingerprint(&changed), "byte {at}");
        }
    }
}
