//! The ECN field: what is reported of packets that come, and what packets say that leave (specs/l4s.md 1.3).

use super::world::{World, addresses, clean, report, rtp, usual};
use thalweg_transport::{Event, Output, Received};
use thalweg_units::{Ecn, Span};

/// ECN field of the first endpoint's RTCP now.
fn rtcp(world: &mut World) -> Ecn {
    world.ends[0].send_rtcp(&report(7)).expect("connected");
    match &world.outputs(0)[..] {
        [Output::Transmit(datagram)] => datagram.ecn,
        other => panic!("{other:?}"),
    }
}

/// Delivers a datagram to the first endpoint with this field.
fn give(world: &mut World, ecn: Ecn, bytes: &[u8]) -> Received {
    let [ours, theirs] = addresses();
    world.ends[0].on_datagram(world.now, theirs, ours, ecn, bytes)
}

#[test]
fn the_field_of_a_packet_comes_with_it_and_rtcp_follows_that_of_the_last() {
    let mut world = World::connected(usual(), &clean(), 1);
    assert_eq!(rtcp(&mut world), Ecn::NotCapable, "nothing has come");
    let fields = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0, Ecn::Ect1, Ecn::NotCapable, Ecn::Ce];
    for (sequence, ecn) in (1..).zip(fields) {
        let packet = world.protected(1, &rtp(7, sequence, b"x"));
        assert_eq!(give(&mut world, ecn, &packet), Received::Rtp);
        assert_eq!(world.outputs(0), [Output::Event(Event::Rtp(rtp(7, sequence, b"x"), ecn))]);
        let expected = if matches!(ecn, Ecn::Ect1 | Ecn::Ce) { Ecn::Ect1 } else { Ecn::NotCapable };
        assert_eq!(rtcp(&mut world), expected, "after {ecn}");
    }
}

#[test]
fn what_is_refused_and_what_is_no_rtp_changes_nothing() {
    let mut world = World::connected(usual(), &clean(), 1);
    let (packet, other) = (world.protected(1, &rtp(7, 1, b"x")), world.protected(1, &report(7)));
    assert_eq!(give(&mut world, Ecn::NotCapable, &packet), Received::Rtp);
    let mut forged = world.protected(1, &rtp(7, 2, b"y"));
    *forged.last_mut().unwrap() ^= 1;
    for refused in [&forged, &packet] {
        assert!(matches!(give(&mut world, Ecn::Ect1, refused), Received::Dropped(_)));
    }
    assert_eq!(give(&mut world, Ecn::Ect1, &other), Received::Rtcp);
    world.outputs(0);
    assert_eq!(rtcp(&mut world), Ecn::NotCapable);
}

#[test]
fn checks_and_handshake_never_say_ect() {
    let mut world = World::connected(usual(), &clean(), 1);
    for sequence in 1..50 {
        for end in 0..2 {
            world.ends[end].send_rtp(Ecn::Ect1, &rtp(7, sequence, b"x")).expect("connected");
            // Not before something of the other's has come.
            if sequence > 1 {
                world.ends[end].send_rtcp(&report(7)).expect("connected");
            }
        }
        world.run_for(Span::from_millis(500));
    }
    world.ends[0].close(world.now);
    world.run_for(Span::from_secs(1));
    for datagram in world.sent.iter().flatten() {
        // RTP and RTCP begin with a version of 2 in the highest bits, STUN and DTLS do not (RFC 7983).
        assert_eq!(datagram.ecn == Ecn::Ect1, datagram.bytes[0] >= 128);
    }
    assert!(world.sent.iter().all(|sent| sent.iter().filter(|datagram| datagram.bytes[0] < 128).count() > 10));
}
