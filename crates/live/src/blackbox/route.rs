//! The link of a call, from its first packet to its end.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};

use thalweg_units::{Span, Time};

use super::load::ProcessorTime;
use super::{BlackBoxError, Part};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::{EmulateError, LinkConfig, Packet, Packets, Passing, Relay, RelayConfig, Statistics, Zero};

/// How long a program may take to send its first packet: a browser on a busy machine takes seconds to start.
const PATIENCE: Span = Span::from_secs(60);

type Start<'a> = dyn FnMut(&RelayConfig) -> Result<Relay, EmulateError> + 'a;

/// Where a driver leads a call through.
pub struct Route<'a> {
    clock: Clock,
    link: LinkConfig,
    duration: Span,
    start: &'a mut Start<'a>,
    progress: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
    relay: Option<Relay>,
    observer: Sender<Passing>,
    passing: Receiver<Passing>,
    packets: Packets,
    begun: Option<ProcessorTime>,
    /// Share of idle time, once the duration has passed.
    idle: Option<f64>,
}

impl<'a> Route<'a> {
    pub(super) fn new(
        link: LinkConfig,
        duration: Span,
        start: &'a mut Start<'a>,
        progress: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Route<'a> {
        let (observer, passing) = channel();
        // Traces begin with the call, however long the programs take to start.
        let link = LinkConfig { zero: Zero::FirstPacket, ..link };
        Route {
            clock: Clock::new(),
            link,
            duration,
            start,
            progress,
            relay: None,
            observer,
            passing,
            packets: Packets::default(),
            begun: None,
            idle: None,
        }
    }

    /// The clock of everything that is measured.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Emulates the link before a receiver at this address; returns the address that the sender must send to.
    ///
    /// # Errors
    /// When the link cannot be emulated.
    pub fn lead_to(&mut self, receiver: SocketAddr) -> Result<SocketAddr, BlackBoxError> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (link, clock, observer) = (self.link.clone(), self.clock, Some(self.observer.clone()));
        let idle = Span::from_secs(3600);
        let config = RelayConfig { link, clock, observer, idle, ..RelayConfig::new(listen, receiver) };
        let relay = (self.start)(&config)?;
        let address = relay.address();
        self.relay = Some(relay);
        Ok(address)
    }

    /// Follows the packets. Returns whether the call goes on; it ends when its duration has passed. To be called at least
    /// each second.
    ///
    /// # Errors
    /// When nothing was sent for too long, or the progress callback ended the call.
    pub fn follow(&mut self) -> Result<bool, BlackBoxError> {
        self.passing.try_iter().for_each(|passing| self.packets.add(&passing));
        let now = self.clock.now();
        let since = self.packets.first().map_or(Span::ZERO, |zero| now - zero);
        if (self.progress)(Time::ZERO + since.min(self.duration)).is_break() {
            return Err(BlackBoxError::Interrupted);
        }
        if self.packets.first().is_none() {
            let silent = now - Time::ZERO > PATIENCE;
            return if silent { Err(BlackBoxError::Silent(PATIENCE)) } else { Ok(true) };
        }
        let load = ProcessorTime::read()?;
        let begun = *self.begun.get_or_insert(load);
        if since < self.duration {
            return Ok(true);
        }
        self.idle.get_or_insert_with(|| load.idle_since(begun));
        Ok(false)
    }

    /// When the call ends, once it has begun.
    pub fn end(&self) -> Option<Time> {
        Some(self.packets.first()? + self.duration)
    }

    /// Time zero, the packets, the link's counts and the share of idle time.
    pub(super) fn finish(mut self) -> Result<(Time, Vec<Packet>, Statistics, f64), BlackBoxError> {
        let relay = self.relay.take().ok_or(BlackBoxError::Unreachable(Part::Receiver))?;
        let statistics = relay.stop()?;
        self.passing.try_iter().for_each(|passing| self.packets.add(&passing));
        let zero = self.packets.first().ok_or(BlackBoxError::Silent(PATIENCE))?;
        Ok((zero, self.packets.finish(), statistics, self.idle.unwrap_or_default()))
    }
}
