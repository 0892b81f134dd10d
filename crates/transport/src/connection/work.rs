//! How datagrams and the clock change a connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use thalweg_units::{Ecn, Time};

use super::Connection;
use crate::demultiplex::Kind;
use crate::dtls::{Dtls, Progress};
use crate::ice::Route;
use crate::srtp::{Inbound, Keys, Outbound};
use crate::{Datagram, Event, Output, Received, Refusal, TransportError};

/// Max number of handshake datagrams that wait for a path: more than one flight.
const MAX_WAITING: usize = 32;

impl Connection {
    pub(super) fn take(
        &mut self,
        instant: Instant,
        (from, to): (SocketAddr, SocketAddr),
        ecn: Ecn,
        datagram: &[u8],
    ) -> Result<Received, Refusal> {
        if self.over {
            return Err(Refusal::AfterEnd);
        }
        let kind = Kind::of(datagram).ok_or(Refusal::Malformed)?;
        if kind != Kind::Stun && !self.ice.knows(from, to) {
            return Err(Refusal::UnknownAddress);
        }
        match kind {
            Kind::Stun => {
                self.ice.on_stun(instant, from, to, datagram)?;
                self.statistics.stun += 1;
                self.ice.on_timeout(instant);
                self.note_received();
                Ok(Received::Stun)
            }
            Kind::Dtls => {
                let dtls = self.dtls.as_mut().ok_or(Refusal::Dtls)?;
                let result = dtls.on_datagram(instant, self.config.dtls, datagram)?;
                self.statistics.dtls += 1;
                if let Err(error) = result {
                    self.fail(error);
                }
                // A DTLS record is authenticated only after the handshake, and this layer cannot tell which are: it
                // does not count as a sign of life.
                Ok(Received::Dtls)
            }
            Kind::Rtp => {
                let packet = self.inbound.as_mut().ok_or(Refusal::BeforeKeys)?.rtp(datagram)?;
                self.statistics.rtp += 1;
                self.ice.on_media(instant, from, to);
                self.note_received();
                self.rtcp_ecn = if ecn.is_low_latency() { Ecn::Ect1 } else { Ecn::NotCapable };
                self.outputs.push_back(Output::Event(Event::Rtp(packet, ecn)));
                Ok(Received::Rtp)
            }
            Kind::Rtcp => {
                let compound = self.inbound.as_mut().ok_or(Refusal::BeforeKeys)?.rtcp(datagram)?;
                self.statistics.rtcp += 1;
                self.ice.on_media(instant, from, to);
                self.note_received();
                self.outputs.push_back(Output::Event(Event::Rtcp(compound)));
                Ok(Received::Rtcp)
            }
        }
    }

    /// Authenticated input arrived.
    fn note_received(&mut self) {
        self.last_received = self.now;
        if std::mem::take(&mut self.silent) {
            self.outputs.push_back(Output::Event(Event::Reconnected));
        }
    }

    /// Processes the outputs of ICE and DTLS.
    pub(super) fn drain(&mut self) {
        if self.over {
            return;
        }
        while let Some((route, bytes)) = self.ice.poll_transmit() {
            self.transmit(route, Ecn::NotCapable, bytes);
        }
        if self.ice.poll_route()
            && let Some(route) = self.ice.route()
        {
            let (role, instant) = (self.config.dtls, self.instant());
            if let Some(Err(error)) = self.dtls.as_mut().map(|dtls| dtls.start(role, instant)) {
                self.fail(error);
            }
            for bytes in std::mem::take(&mut self.waiting) {
                self.transmit(route, Ecn::NotCapable, bytes);
            }
        }
        while let Some(progress) = self.dtls.as_mut().filter(|_| !self.over).and_then(Dtls::poll) {
            match progress {
                Progress::Transmit(bytes) => match self.ice.route() {
                    Some(route) => self.transmit(route, Ecn::NotCapable, bytes),
                    None if self.waiting.len() < MAX_WAITING => self.waiting.push_back(bytes),
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
        let max = self.config.max_streams;
        let both = Outbound::new(ours, max).and_then(|outbound| {
            let inbound = Inbound::new(theirs, max, self.config.replay_window)?;
            Ok((outbound, inbound))
        });
        match both {
            Ok((outbound, inbound)) => {
                (self.outbound, self.inbound) = (Some(outbound), Some(inbound));
                (self.last_received, self.connected) = (self.now, self.now);
                self.outputs.push_back(Output::Event(Event::Connected));
            }
            Err(error) => self.fail(error),
        }
    }

    /// Handles timeouts.
    pub(super) fn look_at_the_clock(&mut self) {
        if self.over {
            return;
        }
        if !self.is_connected() {
            if self.begun.is_some_and(|begun| self.now >= begun + self.config.connect) {
                self.fail(TransportError::NotConnected(self.config.connect));
            }
        } else if self.now >= self.consent() + self.config.give_up {
            // Without consent nothing more is sent on this path (RFC 7675 section 5.1).
            let give_up = Duration::from_nanos(self.config.give_up.as_nanos().unsigned_abs());
            let after = self.instant().checked_sub(give_up);
            if !after.is_some_and(|after| self.ice.take_another(after)) {
                self.end(Event::Closed);
            }
        } else if !self.silent && self.now >= self.last_received + self.config.disconnect_timeout {
            self.silent = true;
            self.outputs.push_back(Output::Event(Event::Disconnected));
        }
    }

    pub(super) fn due(&mut self) -> Time {
        if self.over {
            return Time::NEVER;
        }
        let own = match (self.is_connected(), self.begun) {
            (true, _) if self.silent => self.consent() + self.config.give_up,
            (true, _) => {
                (self.last_received + self.config.disconnect_timeout).min(self.consent() + self.config.give_up)
            }
            (false, Some(begun)) => begun + self.config.connect,
            (false, None) => Time::NEVER,
        };
        let theirs = [self.ice.due(), self.dtls.as_ref().and_then(Dtls::due)].into_iter().flatten().min();
        own.min(theirs.map_or(Time::NEVER, |due| self.time(due)))
    }

    /// When the peer last consented to receive on the media path; the handshake is consent, too.
    fn consent(&self) -> Time {
        self.ice.consented().map_or(self.connected, |at| self.time(at).max(self.connected))
    }

    pub(super) fn transmit(&mut self, route: Route, ecn: Ecn, bytes: Vec<u8>) {
        self.statistics.sent += 1;
        self.outputs.push_back(Output::Transmit(Datagram { from: route.local, to: route.remote, ecn, bytes }));
    }

    pub(super) fn fail(&mut self, error: TransportError) {
        self.end(Event::Failed(error));
    }

    /// Ends the connection: nothing is sent or received any more, and the keys are dropped.
    pub(super) fn end(&mut self, event: Event) {
        if !std::mem::replace(&mut self.over, true) {
            (self.outbound, self.inbound) = (None, None);
            self.outputs.push_back(Output::Event(event));
        }
    }

    /// Advances the time, which is monotonic and ends after a century.
    pub(super) fn advance(&mut self, now: Time) -> Instant {
        const CENTURY: Time = Time::from_nanos(100 * 365 * 86_400 * 1_000_000_000);
        self.now = self.now.max(now.min(CENTURY));
        self.instant()
    }

    fn time(&self, instant: Instant) -> Time {
        Time::from_nanos(instant.saturating_duration_since(self.origin).as_nanos().min(u128::from(u64::MAX)) as u64)
    }

    fn instant(&self) -> Instant {
        self.origin.checked_add(Duration::from_nanos(self.now.as_nanos())).unwrap_or(self.origin)
    }
}
