//! Connections at three stages: forged datagrams must not cause a panic, must not be accepted as media, and must not
//! make a peer send more than it received.
//!
//! An input is a list of steps, each a datagram for one of two peers: arbitrary bytes, or a datagram that the other
//! peer really sent, modified in a few places or truncated. The peers take their secrets from the system, so
//! reproducing a crash may need a few runs.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Instant;

use thalweg_transport::{Config, Connection, DtlsRole, DtlsVersions, Event, Identity, Output, Remote};
use thalweg_units::{Ecn, Span, Time};

use crate::steps::Steps;

/// Maximum number of steps: longer inputs take time without adding cases.
const MAX_STEPS: usize = 48;

/// Before connectivity checks.
pub fn transport_begin(data: &[u8]) {
    run(data, |_| true);
}

/// With a path, during the handshake.
pub fn transport_handshake(data: &[u8]) {
    run(data, |pair| pair.sent.iter().all(|sent| sent.iter().any(|bytes| bytes.first() == Some(&22))));
}

/// After media has been received.
pub fn transport_connected(data: &[u8]) {
    run(data, |pair| pair.ends.iter().all(Connection::is_connected));
}

struct Pair {
    now: Time,
    ends: [Connection; 2],
    /// Packets sent by each peer, and how much of them has reached the other.
    sent: [Vec<Vec<u8>>; 2],
    reached: [usize; 2],
    media: usize,
}

fn addresses() -> [SocketAddr; 2] {
    [([192, 0, 2, 1], 1000).into(), ([192, 0, 2, 2], 2000).into()]
}

impl Pair {
    /// Two peers with each other's parameters. Only time differences from the start matter.
    #[allow(clippy::disallowed_methods)]
    fn new(versions: DtlsVersions) -> Pair {
        static SHARED: OnceLock<(Identity, Instant)> = OnceLock::new();
        let (identity, origin) = SHARED.get_or_init(|| (Identity::generate().expect("random numbers"), Instant::now()));
        let mut ends = [true, false].map(|first| {
            let dtls = if first { DtlsRole::Server } else { DtlsRole::Client };
            let config = Config { controlling: first, dtls, versions, ..Config::default() };
            Connection::new(config, identity, *origin).expect("a good configuration")
        });
        let addresses = addresses();
        let remotes = [1, 0].map(|other: usize| Remote {
            credentials: ends[other].credentials().clone(),
            fingerprint: identity.fingerprint(),
            candidates: vec![format!("candidate:1 1 udp 9 192.0.2.{} {} typ host", other + 1, addresses[other].port())],
            lite: false,
        });
        for (index, end) in ends.iter_mut().enumerate() {
            end.add_local(addresses[index]).expect("an address");
            end.set_remote(Time::ZERO, &remotes[index]).expect("a good description");
        }
        Pair { now: Time::ZERO, ends, sent: Default::default(), reached: [0; 2], media: 0 }
    }

    /// Takes all outputs of one peer.
    fn drain(&mut self, end: usize) {
        let before = self.sent[end].len();
        loop {
            match self.ends[end].poll() {
                Output::Transmit(datagram) => self.sent[end].push(datagram.bytes),
                Output::Event(Event::Rtp(..) | Event::Rtcp(_)) => self.media += 1,
                Output::Event(_) => {}
                Output::Wait { .. } => break,
            }
        }
        assert!(self.sent[end].len() - before <= 32, "an end talks too much");
    }

    fn give(&mut self, end: usize, from: SocketAddr, bytes: &[u8]) {
        self.ends[end].on_datagram(self.now, from, addresses()[end], Ecn::NotCapable, bytes);
        self.drain(end);
    }

    /// Delivers what was sent, and advances the time.
    fn advance(&mut self) {
        (0..2).for_each(|end| self.drain(end));
        for way in 0..2 {
            while let Some(bytes) = self.sent[way].get(self.reached[way]).cloned() {
                self.reached[way] += 1;
                self.give(1 - way, addresses()[way], &bytes);
            }
        }
        self.now += Span::from_millis(10);
        for end in 0..2 {
            self.ends[end].on_timeout(self.now);
            self.drain(end);
        }
    }
}

fn run(data: &[u8], reached: impl Fn(&Pair) -> bool) {
    let mut steps = Steps(data);
    let versions = if steps.byte() & 1 == 0 { DtlsVersions::Best } else { DtlsVersions::Only12 };
    let mut pair = Pair::new(versions);
    for _ in 0..100 {
        if reached(&pair) {
            break;
        }
        pair.advance();
    }
    for way in 0..2 {
        let mut packet = vec![0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7];
        packet.extend([5; 20]);
        let _ = pair.ends[way].send_rtp(Ecn::NotCapable, &packet);
        let _ = pair.ends[way].send_rtcp(&[0x80, 201, 0, 1, 0, 0, 0, 7]);
    }
    if pair.ends.iter().all(Connection::is_connected) {
        pair.advance();
        assert_eq!(pair.media, 4, "what is in order comes");
    }
    for _ in 0..MAX_STEPS {
        if !steps.more() {
            break;
        }
        let what = steps.byte();
        let end = usize::from(what & 1);
        let unknown = what & 14 == 14;
        let from = if unknown { ([203, 0, 113, 9], 4000).into() } else { addresses()[1 - end] };
        let bytes = if what & 16 == 0 { genuine(&pair.sent[1 - end], &mut steps) } else { raw(&mut steps) };
        let media = pair.media;
        pair.give(end, from, &bytes);
        assert_eq!(pair.media, media, "nothing here is media that did not come before");
        if what & 32 != 0 {
            pair.now += Span::from_millis(steps.number(1) as i64 * 20);
            pair.ends[end].on_timeout(pair.now);
            pair.drain(end);
        }
    }
}

/// The next bytes.
fn raw(steps: &mut Steps) -> Vec<u8> {
    let length = usize::from(steps.byte());
    (0..length.min(steps.0.len())).map(|_| steps.byte()).collect()
}

/// One of these datagrams, modified in up to three places, and perhaps truncated.
fn genuine(sent: &[Vec<u8>], steps: &mut Steps) -> Vec<u8> {
    let back = usize::from(steps.byte()).min(sent.len().saturating_sub(1));
    let Some(bytes) = sent.len().checked_sub(back + 1).map(|index| &sent[index]) else { return Vec::new() };
    let mut bytes = bytes.clone();
    let how = steps.byte();
    for _ in 0..how & 3 {
        let place = steps.number(2) as usize % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= steps.byte().max(1);
        }
    }
    if how & 4 != 0 {
        bytes.truncate(steps.number(2) as usize % (bytes.len() + 1));
    }
    bytes
}
