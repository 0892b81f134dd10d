//! UDP over loopback.

use super::*;
use crate::clock::Clock;
use crate::reactor::{Poller, PollerConfig};
use thalweg_units::Time;

fn bound(address: &str) -> UdpSocket {
    UdpSocket::bind(address.parse().unwrap(), &UdpConfig::default()).unwrap()
}

fn transmit(to: SocketAddr, bytes: &[u8]) -> Transmit {
    Transmit { from: None, to, ecn: Ecn::NotCapable, bytes: bytes.to_vec() }
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
        a.send(b.local_address(), b"ping");
        assert_eq!(next(&mut b), Some((a.local_address(), b.local_address(), b"ping".to_vec())));
        assert_eq!((a.counts().sent, a.counts().failed), (1, 0));
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
        server.transmit(Transmit { from: Some(to.ip()), ..transmit(from, b"and back") });
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
    socket.send(to, &vec![0; 65_535]);
    assert_eq!((socket.counts().failed, socket.counts().sent), (1, 0));
}

#[test]
fn what_the_kernel_has_no_room_for_waits_in_order_up_to_its_bound() {
    let mut receiver = bound("127.0.0.1:0");
    let to = receiver.local_address();
    let mut sender = bound("127.0.0.1:0");
    sender.config.unsent = Bytes::new(5);
    (0..3).for_each(|i| sender.push(transmit(to, &[i, i])));
    // Loopback takes everything at once, so this is as if the buffer had been full.
    sender.waiting = 2;
    assert!(sender.wants_to_write());
    sender.flush();
    assert!(!sender.wants_to_write() && sender.unsent.bytes() == Bytes::ZERO);
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
    (0..100).for_each(|_| sender.send(receiver.local_address(), &[0; 1000]));
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
    (0..5).for_each(|_| sender.send(receiver.local_address(), b"x"));
    assert_eq!([receiver.receive(|_| {}), receiver.receive(|_| {}), receiver.receive(|_| {})], [3, 2, 0]);
}

/// All datagrams that wait in `socket`: their ECN field, length and first byte.
fn all(socket: &mut UdpSocket) -> Vec<(Ecn, usize, Option<u8>)> {
    let mut got = Vec::new();
    socket.receive(|datagram| got.push((datagram.ecn, datagram.bytes.len(), datagram.bytes.first().copied())));
    got
}

#[test]
fn what_is_sent_together_takes_one_system_call_and_comes_as_it_was_in_both_families() {
    for (address, wildcard) in [("127.0.0.1:0", "0.0.0.0:0"), ("[::1]:0", "[::]:0")] {
        let (mut a, mut b) = (bound(address), bound(address));
        let (to_a, to_b) = (a.local_address(), b.local_address());
        for bound_to in [address, wildcard] {
            let (mut sender, from) = (bound(bound_to), Some(to_a.ip()));
            for i in 0..3 {
                sender.push(Transmit { from, ..transmit(to_a, &[i; 1000]) });
                sender.push(Transmit { from, ..transmit(to_b, &[i; 900]) });
            }
            assert_eq!(sender.counts().send_calls, 0);
            sender.flush();
            assert_eq!((sender.counts().send_calls, sender.counts().sent, sender.counts().failed), (1, 6, 0));
            let came = |length| (0..3).map(|i| (Ecn::NotCapable, length, Some(i))).collect::<Vec<_>>();
            assert_eq!((all(&mut a), all(&mut b)), (came(1000), came(900)));
        }
    }
}

#[test]
fn datagrams_of_one_length_to_one_receiver_are_cut_by_the_kernel_and_a_shorter_one_ends_them() {
    let (mut receiver, mut sender) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    let to = receiver.local_address();
    for length in [1200, 1200, 1200, 700, 0, 50] {
        sender.push(transmit(to, &vec![1; length]));
    }
    sender.flush();
    let lengths: Vec<usize> = all(&mut receiver).iter().map(|(_, length, _)| *length).collect();
    assert_eq!(lengths, [1200, 1200, 1200, 700, 0, 50]);
    // Cut ones, and those that share nothing but the rest.
    assert_eq!((sender.counts().send_calls, sender.counts().sent), (2, 6));
    assert_eq!(receiver.counts().receive_calls, 1);
}

#[test]
fn more_than_one_call_takes_leaves_without_waiting_for_the_rest() {
    let (mut receiver, mut sender) = (bound("127.0.0.1:0"), bound("127.0.0.1:0"));
    (0..40).for_each(|i| sender.push(transmit(receiver.local_address(), &[i; 40])));
    assert_eq!((sender.counts().sent, sender.unsent.len()), (32, 8));
    sender.flush();
    assert_eq!(all(&mut receiver).len(), 40);
    // 32, and 8 with room left.
    assert_eq!(receiver.counts().receive_calls, 2);
}

#[test]
fn the_ecn_field_is_set_read_and_counted_in_both_families() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (mut receiver, mut sender) = (bound(address), bound(address));
        let to = receiver.local_address();
        Ecn::ALL.into_iter().for_each(|ecn| sender.push(Transmit { ecn, ..transmit(to, b"x") }));
        sender.flush();
        let came: Vec<Ecn> = all(&mut receiver).into_iter().map(|(ecn, _, _)| ecn).collect();
        assert_eq!(came, Ecn::ALL);
        assert_eq!(receiver.counts().received_by_ecn, [1; 4]);
    }
}
