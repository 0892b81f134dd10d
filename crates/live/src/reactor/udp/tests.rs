//! UDP over loopback.

use super::*;
use crate::clock::Clock;
use crate::reactor::{Poller, PollerConfig};
use thalweg_units::Time;

fn bound(address: &str) -> UdpSocket {
    UdpSocket::bind(address.parse().unwrap(), &UdpConfig::default()).unwrap()
}

/// (from, to, bytes) of the next datagram that `socket` receives within a second.
fn next(socket: &mut UdpSocket) -> Option<(SocketAddr, SocketAddr, Vec<u8>)> {
    let clock = Clock::new();
    let mut poller = Poller::new(clock, PollerConfig::default()).unwrap();
    let mut got = None;
    while got.is_none() && clock.now() < Time::from_millis(1_000) {
        poller.wait(Time::from_millis(1_000), &[&*socket]).unwrap();
        socket.config.batch = 1;
        socket.receive(|datagram| got = Some((datagram.from, datagram.to, datagram.bytes.to_vec())));
    }
    got
}

#[test]
fn both_families_carry_datagrams_with_their_addresses() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (mut a, mut b) = (bound(address), bound(address));
        assert_eq!(a.send(b.local_address(), b"ping"), Sent::Now);
        assert_eq!(next(&mut b), Some((a.local_address(), b.local_address(), b"ping".to_vec())));
    }
}

#[test]
fn a_wildcard_socket_knows_where_it_was_reached_and_answers_from_there() {
    for (wildcard, ours, client) in [("0.0.0.0:0", "127.0.0.2", "127.0.0.1:0"), ("[::]:0", "::1", "[::1]:0")] {
        let (mut server, mut client) = (bound(wildcard), bound(client));
        let reached = SocketAddr::new(ours.parse().unwrap(), server.local_address().port());
        client.send(reached, b"hello");
        let (from, to, _) = next(&mut server).unwrap();
        assert_eq!((from, to), (client.local_address(), reached));
        server.send_from(to.ip(), from, b"and back");
        assert_eq!(next(&mut client), Some((reached, client.local_address(), b"and back".to_vec())));
    }
}

#[test]
fn buffers_are_as_large_as_asked_for_or_say_what_they_are() {
    let (receive, send) = bound("127.0.0.1:0").buffers().unwrap();
    assert!(receive >= Bytes::new(64 << 10) && send >= Bytes::new(64 << 10), "{receive} {send}");
}

#[test]
fn what_cannot_be_sent_is_counted() {
    let mut socket = bound("127.0.0.1:0");
    let to = bound("127.0.0.1:0").local_address();
    assert_eq!(socket.send(to, &vec![0; 65_535]), Sent::Dropped);
    assert_eq!((socket.counts().failed, socket.counts().sent), (1, 0));
}

#[test]
fn what_the_kernel_has_no_room_for_waits_in_order_up_to_its_bound() {
    let mut receiver = bound("127.0.0.1:0");
    let to = receiver.local_address();
    let mut sender = bound("127.0.0.1:0");
    // Loopback takes everything at once, so the queue is filled directly, as if the buffer had been full.
    sender.config.unsent = Bytes::new(5);
    sender.unsent.push_back(Unsent { from: None, to, bytes: vec![0, 0] });
    sender.unsent_bytes = Bytes::new(2);
    assert_eq!([1, 2].map(|i| sender.send(to, &[i, i])), [Sent::Queued, Sent::Dropped]);
    assert!(sender.wants_to_write());
    sender.flush();
    assert!(!sender.wants_to_write() && sender.unsent_bytes == Bytes::ZERO);
    let got: Vec<u8> = (0..2).map(|_| next(&mut receiver).unwrap().2[0]).collect();
    assert_eq!(got, [0, 1]);
    let counts = sender.counts();
    assert_eq!((counts.sent, counts.waited, counts.overflowed), (2, 2, 1));
}

#[test]
fn a_connected_socket_learns_that_nobody_listens_and_hears_nobody_else() {
    let gone = bound("127.0.0.1:0").local_address();
    let mut socket = bound("127.0.0.1:0");
    socket.connect(gone).unwrap();
    socket.send(gone, b"anyone?");
    assert_eq!(next(&mut socket).map(|got| got.2), None);
    assert!(socket.counts().unreachable >= 1);
    bound("127.0.0.1:0").send(socket.local_address(), b"not you");
    socket.receive(|_| panic!("received from an unknown source"));
}

#[test]
fn the_kernels_drops_are_counted() {
    let small = UdpConfig { buffer: Bytes::new(4096), ..UdpConfig::default() };
    let mut receiver = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &small).unwrap();
    let mut sender = bound("127.0.0.1:0");
    (0..100).for_each(|_| assert_eq!(sender.send(receiver.local_address(), &[0; 1000]), Sent::Now));
    receiver.receive(|_| {});
    // The count is delivered with a datagram that arrives after the drops.
    sender.send(receiver.local_address(), &[0; 1000]);
    receiver.receive(|_| {});
    let counts = receiver.counts();
    assert_eq!(counts.received + counts.missed, 101);
    assert!(counts.missed > 0);
}

#[test]
fn a_batch_ends_a_reading_and_the_rest_comes_next() {
    let config = UdpConfig { batch: 3, ..UdpConfig::default() };
    let mut receiver = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &config).unwrap();
    let mut sender = bound("127.0.0.1:0");
    (0..5).for_each(|_| assert_eq!(sender.send(receiver.local_address(), b"x"), Sent::Now));
    assert_eq!([receiver.receive(|_| {}), receiver.receive(|_| {}), receiver.receive(|_| {})], [3, 2, 0]);
}
