//! The handshake on the wire, and on its way through somebody's hands: what RFC 5764 asks of `use_srtp`.

use super::world::{World, clean, report, rtp, usual};
use thalweg_transport::{Config, Datagram, DtlsVersions, Event};
use thalweg_units::{Ecn, Span, Time};

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const USE_SRTP: [u8; 2] = [0, 14];

/// Length of a record's header and of a handshake message's (RFC 6347 sections 4.1 and 4.2.2).
const HEADERS: usize = 13 + 12;

/// Where the value of `use_srtp` is in a datagram that begins with an unfragmented hello of this kind.
fn use_srtp(datagram: &[u8], kind: u8) -> Option<(usize, usize)> {
    if datagram.len() < HEADERS || datagram[0] != HANDSHAKE || datagram[13] != kind {
        return None;
    }
    let length = |at: usize| usize::from(u16::from_be_bytes([datagram[at], datagram[at + 1]]));
    // Version, random, session.
    let mut at = HEADERS + 34;
    at += 1 + usize::from(datagram[at]);
    if kind == CLIENT_HELLO {
        // Cookie, cipher suites, compression methods.
        at += 1 + usize::from(datagram[at]);
        at += 2 + length(at);
        at += 1 + usize::from(datagram[at]);
    } else {
        at += 3;
    }
    let end = at + 2 + length(at);
    at += 2;
    while at + 4 <= end {
        if datagram[at..at + 2] == USE_SRTP {
            return Some((at, length(at + 2)));
        }
        at += 4 + length(at + 2);
    }
    None
}

/// The values of `use_srtp` in the hellos that an endpoint sent.
fn values(world: &World, end: usize, kind: u8) -> Vec<Vec<u8>> {
    let value = |datagram: &Datagram| {
        let (at, length) = use_srtp(&datagram.bytes, kind)?;
        Some(datagram.bytes[at + 4..at + 4 + length].to_vec())
    };
    world.sent[end].iter().filter_map(value).collect()
}

/// The usual endpoints (the second starts the handshake), in DTLS 1.2, whose hellos are not encrypted.
fn only12() -> [Config; 2] {
    usual().map(|config| Config { versions: DtlsVersions::Only12, ..config })
}

#[test]
fn both_hellos_name_profiles_without_a_key_identifier_and_the_server_one_that_the_client_named() {
    let world = World::connected(only12(), &clean(), 1);
    let (offered, chosen) = (values(&world, 1, CLIENT_HELLO), values(&world, 0, SERVER_HELLO));
    assert!(!offered.is_empty() && !chosen.is_empty());
    let [high, low, profiles @ .., key_identifier] = &offered[0][..] else { panic!("{offered:?}") };
    assert_eq!((usize::from(u16::from_be_bytes([*high, *low])), *key_identifier), (profiles.len(), 0));
    assert!(
        profiles.chunks(2).any(|profile| profile == [0, 1]),
        "SRTP_AES128_CM_HMAC_SHA1_80 is mandatory: {profiles:?}"
    );
    for chosen in chosen {
        let [0, 2, a, b, 0] = chosen[..] else { panic!("one profile, no key identifier: {chosen:?}") };
        assert!(profiles.chunks(2).any(|profile| profile == [a, b]), "{chosen:?} of {profiles:?}");
    }
}

/// Runs a handshake whose hellos of this kind are changed on their way; returns the two ends' last events.
fn tampered(kind: u8, change: fn(&mut Vec<u8>, usize)) -> World {
    let mut world = World::new(only12(), &clean(), 1);
    world.between = Box::new(move |_, mut datagram| {
        if let Some((at, _)) = use_srtp(&datagram.bytes, kind) {
            change(&mut datagram.bytes, at);
        }
        Some(datagram)
    });
    world.signal();
    world.run_for(Span::from_secs(40));
    world
}

fn assert_no_keys(world: &mut World) {
    for end in 0..2 {
        assert!(!world.names(end).contains(&"connected"), "{:?}", world.events[end]);
        assert!(world.ends[end].send_rtp(Ecn::NotCapable, &rtp(7, 1, b"x")).is_err());
        assert!(
            matches!(world.events[end].last(), Some((_, Event::Failed(_) | Event::Closed))),
            "{:?}",
            world.events[end]
        );
    }
}

#[test]
fn a_hello_whose_extension_was_taken_out_on_its_way_gives_no_keys() {
    for kind in [CLIENT_HELLO, SERVER_HELLO] {
        // Another extension in its place, which nobody knows.
        let mut world = tampered(kind, |bytes, at| bytes[at..at + 2].copy_from_slice(&[0x7a, 0x7a]));
        assert_no_keys(&mut world);
    }
}

#[test]
fn a_key_identifier_that_was_not_offered_ends_the_handshake_without_keys() {
    // The value `0 2 A B 0` becomes no profile list and an identifier: `0 0 2 A B`.
    let mut world = tampered(SERVER_HELLO, |bytes, at| {
        let (a, b) = (bytes[at + 6], bytes[at + 7]);
        bytes[at + 4..at + 9].copy_from_slice(&[0, 0, 2, a, b]);
    });
    assert_no_keys(&mut world);
}

#[test]
fn a_datagram_is_of_one_protocol_from_its_first_byte_to_its_last() {
    for versions in [DtlsVersions::Only12, DtlsVersions::Best] {
        let mut world = World::connected(usual().map(|config| Config { versions, ..config }), &clean(), 1);
        for sequence in 0..20 {
            for end in 0..2 {
                world.ends[end].send_rtp(Ecn::NotCapable, &rtp(7, sequence, b"media")).expect("connected");
                world.ends[end].send_rtcp(&report(7)).expect("connected");
            }
            world.run_for(Span::from_millis(50));
        }
        let now = world.now;
        world.ends[0].close(now);
        world.run_until(now + Span::from_secs(1), |_| false);
        for datagram in world.sent.iter().flatten() {
            let bytes = &datagram.bytes;
            match bytes[0] {
                0..=3 => assert_eq!(usize::from(u16::from_be_bytes([bytes[2], bytes[3]])) + 20, bytes.len()),
                // Records of DTLS 1.2 fill the datagram; those of 1.3 may leave their length out.
                20..=26 => {
                    let mut rest = &bytes[..];
                    while rest.len() >= 13 && (20..=26).contains(&rest[0]) {
                        let length = usize::from(u16::from_be_bytes([rest[11], rest[12]]));
                        rest = &rest[13 + length..];
                    }
                    assert!(rest.is_empty() || (32..64).contains(&rest[0]), "{bytes:?}");
                }
                32..=63 => {}
                // Media, which SRTP authenticates as a whole.
                128..=191 => {}
                other => panic!("a datagram that begins with {other}"),
            }
        }
        assert!(world.now > Time::ZERO);
    }
}
