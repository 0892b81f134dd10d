//! An ICE-lite endpoint, as WHIP and WHEP servers often are: it answers checks, makes none, and is visible only by its
//! answers.

mod world;

use thalweg_transport::sdp::{self, Capabilities, Direction, Local, StreamIds};
use thalweg_transport::{Config, Connection, DtlsRole, Event};
use thalweg_units::{Span, Time};
use world::{World, addresses, clean, identities, report, rtp};

/// An endpoint in terms of its SDP.
fn local(connection: &Connection, end: usize, lite: bool, setup: DtlsRole) -> Local {
    let number = 100 * end as u32;
    Local {
        credentials: connection.credentials().clone(),
        fingerprint: identities()[end].fingerprint(),
        candidates: vec![addresses()[end]],
        lite,
        setup,
        streams: StreamIds { video: number, retransmission: number + 1, fec: number + 2, audio: number + 3 },
        cname: format!("end-{end}"),
    }
}

/// Two endpoints that negotiated by SDP; the first one offered to send.
fn agreed(lite: [bool; 2], setup: DtlsRole) -> World {
    // The offerer would choose the path if the peer were not ICE-lite.
    let configs = [0, 1].map(|end| Config { lite: lite[end], controlling: end == 0 && !lite[0], ..Config::default() });
    let mut world = World::new(configs, &clean(), 1);
    let [offering, answering] = [0, 1].map(|end| local(&world.ends[end], end, lite[end], setup));
    let offer = sdp::offer(&offering, &Capabilities::all(Direction::SendOnly));
    let answer = sdp::answer(&offer.text, &answering, &Capabilities::all(Direction::ReceiveOnly)).expect("an answer");
    let accepted = offer.accept(&answer.text).expect("a good answer");
    assert_eq!([answer.remote.lite, accepted.remote.lite], lite);
    for (end, (dtls, remote)) in [(accepted.dtls, accepted.remote), (answer.dtls, answer.remote)].iter().enumerate() {
        world.ends[end].set_dtls_role(*dtls);
        world.ends[end].set_remote(Time::ZERO, remote).expect("a good description");
    }
    world
}

/// Whether an endpoint has made a check: sent a STUN binding request.
fn has_checked(world: &World, end: usize) -> bool {
    world.sent[end].iter().any(|datagram| datagram.bytes[..2] == [0, 1])
}

#[test]
fn an_end_that_is_lite_is_connected_to_whoever_offered_and_whoever_begins_the_handshake() {
    for (lite, setup) in [
        ([false, true], DtlsRole::Client),
        ([false, true], DtlsRole::Server),
        ([true, false], DtlsRole::Client),
        ([true, false], DtlsRole::Server),
    ] {
        let mut world = agreed(lite, setup);
        assert!(world.run_until(Time::from_millis(1000), World::are_connected), "{lite:?} {setup:?}");
        world.run_for(Span::from_secs(60));
        assert!(world.are_connected(), "{lite:?} {setup:?}");
        assert_eq!([has_checked(&world, 0), has_checked(&world, 1)], [!lite[0], !lite[1]]);
        for end in 0..2 {
            world.ends[end].send_rtp(&rtp(7, 1, b"media")).expect("connected");
            world.ends[end].send_rtcp(&report(7)).expect("connected");
        }
        world.run_for(Span::from_millis(100));
        for events in &world.events {
            let last: Vec<_> = events.iter().rev().take(2).map(|(_, event)| event.clone()).collect();
            assert_eq!(last, [Event::Rtcp(report(7)), Event::Rtp(rtp(7, 1, b"media"))]);
        }
    }
}

#[test]
fn what_signalling_named_is_known_of_a_lite_end_from_the_beginning() {
    let world = agreed([false, true], DtlsRole::Client);
    assert_eq!(world.ends[0].remote_candidates().collect::<Vec<_>>(), [addresses()[1]]);
}

#[test]
fn a_lite_end_that_begins_again_is_found_again() {
    let mut world = agreed([false, true], DtlsRole::Client);
    assert!(world.run_until(Time::from_millis(1000), World::are_connected));
    for end in 0..2 {
        world.ends[end].restart(world.now).expect("random numbers");
    }
    let candidates = world.ends[0].remote_candidates().count();
    assert_eq!(candidates, 0, "they are of the session before");
    world.signal();
    for end in &mut world.events {
        end.clear();
    }
    world.run_for(Span::from_secs(60));
    assert!(world.are_connected() && world.events.iter().all(Vec::is_empty), "{:?}", world.events);
}

#[test]
fn two_that_are_lite_never_meet_and_say_so() {
    let mut world = agreed([true, true], DtlsRole::Client);
    assert!(!world.run_until(Time::from_millis(40_000), World::are_connected));
    assert_eq!((world.names(0), world.names(1)), (vec!["failed"], vec!["failed"]));
}
