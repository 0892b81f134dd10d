//! Two connections and the paths between them, in virtual time.
#![allow(dead_code)]

mod ends;

use std::net::SocketAddr;

use thalweg_netsim::{HopConfig, Jitter, LossModel, PathConfig};
use thalweg_transport::{Config, Connection, Datagram, DtlsRole, Event, Output, Remote};
use thalweg_units::{Ecn, Span, Time};

pub use ends::*;

/// The usual configuration: the first endpoint offers, is controlling and waits for the handshake.
pub fn usual() -> [Config; 2] {
    let offerer = Config { controlling: true, dtls: DtlsRole::Server, ..Config::default() };
    [offerer, Config { dtls: DtlsRole::Client, ..Config::default() }]
}

/// A path with delay only.
pub fn clean() -> PathConfig {
    PathConfig { hops: vec![HopConfig::delay(Span::from_millis(20))] }
}

/// A path with 300 ms of delay, reordering within 60 ms, and this loss probability.
pub fn bad(probability: f64) -> PathConfig {
    let jitter = Jitter::Uniform { max: Span::from_millis(60) };
    let delay = HopConfig::Delay { delay: Span::from_millis(300).into(), jitter, reorders: true };
    PathConfig { hops: vec![HopConfig::Loss(LossModel::Random { probability }), delay] }
}

pub struct World {
    pub now: Time,
    pub ends: [Connection; 2],
    /// True for each endpoint that is lite.
    lite: [bool; 2],
    /// The events at each endpoint, with their times.
    pub events: [Vec<(Time, Event)>; 2],
    /// Every datagram that each endpoint sent.
    pub sent: [Vec<Datagram>; 2],
    /// While set, nothing from this endpoint passes.
    pub cut: [bool; 2],
    /// Fate of a datagram of this endpoint on its way; `None` if it is lost.
    pub between: Box<dyn Fn(usize, Datagram) -> Option<Datagram>>,
    paths: Paths,
}

impl World {
    pub fn new(configs: [Config; 2], path: &PathConfig, seed: u64) -> World {
        let lite = [configs[0].lite, configs[1].lite];
        let ends = [0, 1].map(|end| connection(configs[end].clone(), &identities()[end], origin(), addresses()[end]));
        let (events, sent) = Default::default();
        World {
            now: Time::ZERO,
            ends,
            lite,
            events,
            sent,
            cut: [false; 2],
            between: Box::new(|_, datagram| Some(datagram)),
            paths: Paths::new(path, seed),
        }
    }

    /// The signalled parameters of an endpoint.
    pub fn description(&self, end: usize) -> Remote {
        Remote {
            credentials: self.ends[end].credentials().clone(),
            fingerprint: identities()[end].fingerprint(),
            candidates: vec![candidate(addresses()[end])],
            lite: self.lite[end],
        }
    }

    /// Exchanges the signalling of both endpoints.
    pub fn signal(&mut self) {
        let descriptions = [self.description(1), self.description(0)];
        for (end, remote) in self.ends.iter_mut().zip(&descriptions) {
            end.set_remote(self.now, remote).expect("a good description");
        }
    }

    /// Two connected endpoints.
    pub fn connected(configs: [Config; 2], path: &PathConfig, seed: u64) -> World {
        let timeout = configs[0].connect;
        let mut world = World::new(configs, path, seed);
        world.signal();
        let connected = world.run_until(Time::ZERO + timeout, |world| world.are_connected());
        assert!(connected, "{:?}", world.events);
        world
    }

    pub fn are_connected(&self) -> bool {
        self.ends.iter().all(Connection::is_connected)
    }

    /// Runs until `end` or until `done`; returns whether it is done.
    pub fn run_until(&mut self, end: Time, done: impl Fn(&World) -> bool) -> bool {
        loop {
            let next = self.drain();
            if done(self) {
                return true;
            }
            if next > end {
                self.now = end;
                return false;
            }
            self.now = next.max(self.now);
            for way in 0..2 {
                while let Some(Datagram { from, to, ecn, bytes }) = self.paths.poll(self.now, way) {
                    self.ends[1 - way].on_datagram(self.now, from, to, ecn, &bytes);
                }
            }
            for connection in &mut self.ends {
                connection.on_timeout(self.now);
            }
        }
    }

    /// Sends packets of each kind each way; all of them arrive unchanged.
    pub fn exchange(&mut self, sequence: u16) {
        for way in 0..2 {
            let packets = [rtp(7, sequence, b"media"), rtp(8, sequence, b"")];
            for packet in &packets {
                self.ends[way].send_rtp(Ecn::NotCapable, packet).expect("connected");
            }
            self.ends[way].send_rtcp(&report(7)).expect("connected");
            self.events[1 - way].clear();
            self.run_for(Span::from_millis(100));
            let events: Vec<_> = self.events[1 - way].iter().map(|(_, event)| event.clone()).collect();
            let [first, second] = packets;
            assert_eq!(events, [received(first), received(second), Event::Rtcp(report(7))]);
        }
    }

    pub fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span, |_| false);
    }

    /// Drains all outputs; returns the time of the next event.
    fn drain(&mut self) -> Time {
        let mut next = Time::NEVER;
        for way in 0..2 {
            loop {
                match self.ends[way].poll() {
                    Output::Transmit(datagram) => {
                        self.sent[way].push(datagram.clone());
                        if !self.cut[way]
                            && let Some(datagram) = (self.between)(way, datagram)
                        {
                            self.paths.offer(self.now, way, datagram);
                        }
                    }
                    Output::Event(event) => self.events[way].push((self.now, event)),
                    Output::Wait { until } => {
                        next = next.min(until);
                        break;
                    }
                }
            }
        }
        next.min(self.paths.next_event())
    }

    /// Drains the outputs of an endpoint without delivering anything to the other.
    pub fn outputs(&mut self, end: usize) -> Vec<Output> {
        let mut outputs = Vec::new();
        loop {
            match self.ends[end].poll() {
                Output::Wait { .. } => return outputs,
                output => outputs.push(output),
            }
        }
    }

    /// The protected datagram for this packet at an endpoint, without delivering it.
    pub fn protected(&mut self, end: usize, packet: &[u8]) -> Vec<u8> {
        if (192..224).contains(&packet[1]) {
            self.ends[end].send_rtcp(packet).expect("connected");
        } else {
            self.ends[end].send_rtp(Ecn::NotCapable, packet).expect("connected");
        }
        match &self.outputs(end)[..] {
            [Output::Transmit(datagram)] => datagram.bytes.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Delivers a datagram to an endpoint from the other's address; returns the outputs.
    pub fn give(&mut self, end: usize, bytes: &[u8]) -> Vec<Output> {
        self.deliver(end, bytes);
        self.outputs(end)
    }

    /// Delivers a datagram to an endpoint from the other's address.
    pub fn deliver(&mut self, end: usize, bytes: &[u8]) {
        self.ends[end].on_datagram(self.now, addresses()[1 - end], addresses()[end], Ecn::NotCapable, bytes);
    }

    /// The names of the events at an endpoint.
    pub fn names(&self, end: usize) -> Vec<&'static str> {
        self.events[end].iter().map(|(_, event)| name(event)).collect()
    }
}

/// The event of a packet that came as Not-ECT.
pub fn received(packet: Vec<u8>) -> Event {
    Event::Rtp(packet, Ecn::NotCapable)
}

pub fn name(event: &Event) -> &'static str {
    match event {
        Event::Connected => "connected",
        Event::Rtp(..) => "rtp",
        Event::Rtcp(_) => "rtcp",
        Event::Disconnected => "disconnected",
        Event::Reconnected => "reconnected",
        Event::Closed => "closed",
        Event::Failed(_) => "failed",
    }
}

/// The line of a host candidate.
pub fn candidate(address: SocketAddr) -> String {
    format!("candidate:1 1 udp 2130706431 {} {} typ host", address.ip(), address.port())
}

/// An RTP packet with a header extension that ends in the reserved id 15, and this payload.
pub fn rtp(ssrc: u32, sequence: u16, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x90, 96];
    packet.extend(sequence.to_be_bytes());
    packet.extend([0, 0, 0, 7]);
    packet.extend(ssrc.to_be_bytes());
    packet.extend([0xbe, 0xde, 0, 2, 0x10, 5, 0xf0, 1, 2, 3, 4, 5]);
    packet.extend_from_slice(payload);
    packet
}

/// A receiver report without blocks.
pub fn report(ssrc: u32) -> Vec<u8> {
    let mut packet = vec![0x80, 201, 0, 1];
    packet.extend(ssrc.to_be_bytes());
    packet
}
