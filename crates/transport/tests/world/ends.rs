//! Support for any two ends: addresses, identities, a negotiation, and the paths between them. The tests of `session`
//! and `live` use it too.
#![allow(dead_code)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use thalweg_netsim::{Ecn, Link, MarkReason, Packet, Path, PathConfig, Trace};
use thalweg_transport::sdp::{self, Capabilities, Local, Negotiated, StreamIds};
use thalweg_transport::{Config, Connection, Datagram, DtlsRole, Identity};
use thalweg_units::{Bytes, Seed, Time};

/// The start time, the same for a whole process; only differences from it are meaningful.
#[allow(clippy::disallowed_methods)]
pub fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

/// An identity for each endpoint, created once.
pub fn identities() -> &'static [Identity; 2] {
    static IDENTITIES: OnceLock<[Identity; 2]> = OnceLock::new();
    IDENTITIES.get_or_init(|| [(); 2].map(|()| Identity::generate().expect("random numbers")))
}

/// The address of each endpoint.
pub fn addresses() -> [SocketAddr; 2] {
    ["192.0.2.1:1000", "198.51.100.2:2000"].map(|text| text.parse().expect("an address"))
}

/// A connection at this address.
pub fn connection(config: Config, identity: &Identity, origin: Instant, address: SocketAddr) -> Connection {
    let mut connection = Connection::new(config, identity, origin).expect("a connection");
    connection.add_local(address).expect("an address");
    connection
}

/// A connection's end in terms of its SDP, with streams from number `first` on.
pub fn local(connection: &Connection, identity: &Identity, address: SocketAddr, first: u32) -> Local {
    Local {
        credentials: connection.credentials().clone(),
        fingerprint: identity.fingerprint(),
        candidates: vec![address],
        lite: false,
        setup: DtlsRole::Client,
        streams: StreamIds { video: first, retransmission: first + 1, fec: first + 2, audio: first + 3 },
        cname: format!("end-{first}"),
    }
}

/// An offer, changed by `change` on its way, and its answer; returns the media as the two ends then know it.
pub fn negotiate(
    (offering, offers, wanted): (&mut Connection, &Local, &Capabilities),
    change: impl Fn(&str) -> String,
    (answering, answers, accepted): (&mut Connection, &Local, &Capabilities),
) -> [Negotiated; 2] {
    let offer = sdp::offer(offers, wanted);
    let answer = sdp::answer(&change(&offer.text), answers, accepted).expect("an answer");
    let accepted = offer.accept(&answer.text).expect("a good answer");
    assert_eq!([answer.remote.lite, accepted.remote.lite], [offers.lite, answers.lite]);
    for (end, dtls, remote) in [(offering, accepted.dtls, &accepted.remote), (answering, answer.dtls, &answer.remote)] {
        end.set_dtls_role(dtls);
        end.set_remote(Time::ZERO, remote).expect("a good description");
    }
    [accepted.media, answer.media]
}

/// A datagram on a path, whose queues may mark it.
struct Carried(Datagram);

impl Packet for Carried {
    fn ecn(&self) -> Ecn {
        self.0.ecn
    }

    fn mark(&mut self, _why: MarkReason) {
        self.0.ecn = Ecn::Ce;
    }

    fn bleach(&mut self) {
        self.0.ecn = Ecn::NotCapable;
    }
}

/// The path from each endpoint to the other.
pub struct Paths([Path<Carried>; 2]);

impl Paths {
    pub fn new(path: &PathConfig, seed: u64) -> Paths {
        let mut none = |_: &str| -> Result<Arc<Trace>, Infallible> { unreachable!("no hop has a trace") };
        Paths(["there", "back"].map(|way| path.build(Seed::new(seed).child(way), &mut none).expect("a path")))
    }

    /// Endpoint `from` sends a datagram; returns its size from the IP header on.
    pub fn offer(&mut self, now: Time, from: usize, datagram: Datagram) -> Bytes {
        let size = Bytes::new(28 + datagram.bytes.len() as u64);
        self.0[from].offer(now, size, Carried(datagram));
        size
    }

    /// The next datagram of endpoint `from` that has arrived.
    pub fn poll(&mut self, now: Time, from: usize) -> Option<Datagram> {
        self.0[from].poll(now).map(|departure| departure.packet.0)
    }

    pub fn next_event(&self) -> Time {
        self.0[0].next_event().min(self.0[1].next_event())
    }
}
