//! Candidate addresses, and the peer's consent to receive: ICE (RFC 8445, RFC 7675).

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use is::stun::{StunMessage, StunPacket};
use is::{Candidate, IceAgent, IceAgentEvent, IceCreds, Protocol};

use crate::parameters::excerpt;
use crate::statistics::Refusal;
use crate::{Config, Credentials, TransportError};

/// The local and remote address of the media path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// What an authenticated STUN message proves about the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// Consent: it answered a check of ours (or, if we are lite and make none, it checked us).
    Consent,
    /// Only that the peer is alive.
    Life,
}

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
}

impl Ice {
    pub(crate) fn new(config: &Config, credentials: Credentials) -> Ice {
        let mut agent = IceAgent::new(creds(&credentials));
        agent.set_controlling(config.controlling);
        agent.set_ice_lite(config.lite);
        // The agent must not give up a pair before the connection gives up.
        for retransmissions in 9..100 {
            agent.set_max_stun_retransmits(retransmissions);
            if agent.ice_timeout().as_nanos() as i64 >= config.give_up.as_nanos() {
                break;
            }
        }
        Ice {
            agent,
            credentials,
            locals: Vec::new(),
            known: BTreeSet::new(),
            mapped: BTreeSet::new(),
            candidates: BTreeSet::new(),
            max_addresses: config.max_addresses,
            route: None,
        }
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    pub(crate) fn route(&self) -> Option<Route> {
        self.route
    }

    /// Whether media from `from` to `to` is accepted.
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

    /// Returns an error if the candidates, with those already there, are too many.
    pub(crate) fn check_room(&self, more: &[Candidate]) -> Result<(), TransportError> {
        let all: BTreeSet<_> = more.iter().map(Candidate::addr).chain(self.candidates.iter().copied()).collect();
        let max = self.max_addresses;
        if all.len() <= max { Ok(()) } else { Err(TransportError::Candidates { max }) }
    }

    /// Adds a remote candidate, for which there must be room.
    pub(crate) fn add_remote(&mut self, candidate: Candidate) {
        if self.candidates.insert(candidate.addr()) {
            self.agent.add_remote_candidate(candidate);
        }
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
    }

    /// Processes a STUN message.
    pub(crate) fn on_stun(
        &mut self,
        now: Instant,
        from: SocketAddr,
        to: SocketAddr,
        datagram: &[u8],
    ) -> Result<Liveness, Refusal> {
        if !self.locals.contains(&to) {
            return Err(Refusal::UnknownAddress);
        }
        let message = StunMessage::parse(datagram).map_err(|_| Refusal::Malformed)?;
        let max = self.max_addresses;
        let full = |set: &BTreeSet<SocketAddr>, address: SocketAddr| set.len() >= max && !set.contains(&address);
        if full(&self.known, from) || message.mapped_address().is_some_and(|mapped| full(&self.mapped, mapped)) {
            return Err(Refusal::TooManyAddresses);
        }
        let packet = StunPacket { proto: Protocol::Udp, source: from, destination: to, message };
        if !self.agent.handle_packet(now, packet) {
            return Err(Refusal::Stun);
        }
        self.known.insert(from);
        self.mapped.extend(message.mapped_address());
        let consent =
            if self.agent.ice_lite() { message.is_binding_request() } else { message.is_successful_binding_response() };
        Ok(if consent { Liveness::Consent } else { Liveness::Life })
    }

    /// Performs everything that is due; also called after every message, so that an answer triggers the next check at
    /// once.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.agent.handle_timeout(now);
    }

    /// When the next timeout is due.
    pub(crate) fn due(&mut self) -> Option<Instant> {
        self.agent.poll_timeout()
    }

    /// The next datagram to send, with its route.
    pub(crate) fn poll_transmit(&mut self) -> Option<(Route, Vec<u8>)> {
        let transmit = self.agent.poll_transmit()?;
        Some((Route { local: transmit.source, remote: transmit.destination }, transmit.contents.into()))
    }

    /// Updates the chosen path; returns `true` when it has changed.
    pub(crate) fn poll_route(&mut self) -> bool {
        let before = self.route;
        while let Some(event) = self.agent.poll_event() {
            if let IceAgentEvent::NominatedSend { source, destination, .. } = event {
                self.route = Some(Route { local: source, remote: destination });
            }
        }
        self.route != before
    }
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
/// their checks reveal, and a connection is one component on UDP.
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
    if component != "1" || !protocol.eq_ignore_ascii_case("udp") || is_name(address) || port == "0" || port == "9" {
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
        ];
        for line in unusable {
            assert!(read_candidate(line).unwrap().is_none(), "{line}");
        }
        for line in ["", "candidate:", "host 1 udp 1 192.0.2.7 5", "candidate:1 1 udp x 192.0.2.7 5 typ host"] {
            assert!(matches!(read_candidate(line), Err(TransportError::Candidate { .. })), "{line}");
        }
    }
}
