//! An ICE-lite endpoint, as WHIP and WHEP servers often are: it answers checks, makes none, and is visible only by its
//! answers.

use super::world::{World, addresses, clean, identities, local, name, negotiate, rtp};
use thalweg_transport::sdp::{Capabilities, Direction, Local};
use thalweg_transport::{Config, DtlsRole};
use thalweg_units::{Ecn, Span, Time};

/// Two endpoints that negotiated by SDP; the first one offered to send.
fn agreed(lite: [bool; 2], setup: DtlsRole) -> World {
    agreed_by(lite, setup, Config::default())
}

/// The same with the offerer's other settings.
fn agreed_by(lite: [bool; 2], setup: DtlsRole, offerer: Config) -> World {
    // The offerer would choose the path if the peer were not ICE-lite.
    let offerer = Config { lite: lite[0], controlling: !lite[0], ..offerer };
    let configs = [offerer, Config { lite: lite[1], ..Config::default() }];
    let mut world = World::new(configs, &clean(), 1);
    let [offers, answers] = [0, 1].map(|end| {
        let local = local(&world.ends[end], &identities()[end], addresses()[end], 100 * end as u32);
        Local { lite: lite[end], setup, ..local }
    });
    let capabilities = [Direction::SendOnly, Direction::ReceiveOnly].map(Capabilities::all);
    let [offering, answering] = &mut world.ends;
    negotiate((offering, &offers, &capabilities[0]), str::to_owned, (answering, &answers, &capabilities[1]));
    world
}

/// Returns true if an endpoint has made a check: sent a STUN binding request.
fn has_checked(world: &World, end: usize) -> bool {
    world.sent[end].iter().any(|datagram| datagram.bytes[..2] == [0, 1])
}

#[test]
fn an_end_that_is_lite_is_connected_whichever_end_offered_and_whichever_begins_the_handshake() {
    for (lite, setup) in [
        ([false, true], DtlsRole::Client),
        ([false, true], DtlsRole::Server),
        ([true, false], DtlsRole::Client),
        ([true, false], DtlsRole::Server),
    ] {
        let mut world = agreed(lite, setup);
        assert!(world.run_until(Time::from_millis(1000), World::are_connected), "{lite:?} {setup:?}");
        world.exchange(5);
        world.run_for(Span::from_secs(120));
        assert!(world.are_connected() && !world.names(1).contains(&"closed"), "{lite:?} {setup:?}");
        assert_eq!([has_checked(&world, 0), has_checked(&world, 1)], [!lite[0], !lite[1]]);
        world.exchange(6);
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
fn a_lite_end_goes_on_as_long_as_media_comes_and_no_longer_where_the_peer_makes_no_checks_once_connected() {
    // libnice, so GStreamer's webrtcbin, does neither check nor expect consent.
    let patient = Config { give_up: Span::from_secs(300), ..Config::default() };
    let mut world = agreed_by([false, true], DtlsRole::Client, patient);
    assert!(world.run_until(Time::from_millis(1000), World::are_connected));
    world.run_for(Span::from_secs(1));
    world.between = Box::new(|_, datagram| Some(datagram).filter(|datagram| datagram.bytes[..2] != [0, 1]));
    for sequence in 0..900 {
        world.ends[0].send_rtp(Ecn::NotCapable, &rtp(7, sequence, b"media")).expect("connected");
        world.run_for(Span::from_millis(100));
    }
    assert!(
        !world.names(1).iter().any(|name| ["disconnected", "closed"].contains(name)),
        "{:?}",
        world.events[1].last()
    );
    let last = world.now;
    world.run_for(Span::from_secs(40));
    let (closed, event) = world.events[1].last().expect("an event");
    assert_eq!(name(event), "closed");
    assert!(
        *closed > last + Span::from_secs(24) && *closed <= last + Span::from_secs(30),
        "{closed}, silent at {last}"
    );
}

#[test]
fn two_that_are_lite_never_meet_and_say_so() {
    let mut world = agreed([true, true], DtlsRole::Client);
    assert!(!world.run_until(Time::from_millis(40_000), World::are_connected));
    assert_eq!((world.names(0), world.names(1)), (vec!["failed"], vec!["failed"]));
}
