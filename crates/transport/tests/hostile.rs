//! Datagrams of third parties at every stage of a connection.

use super::world::{World, addresses, clean, received, report, rtp, usual};
use is::stun::StunMessage;
use is::{DefaultSha1HmacProvider, Sha1HmacProvider};
use proptest::prelude::*;
use thalweg_transport::{Config, DtlsRole, DtlsVersions, Event, Output};
use thalweg_units::{Ecn, Span, Time};

/// Returns true if any of these outputs is a media packet.
fn media(outputs: &[Output]) -> bool {
    outputs.iter().any(|output| matches!(output, Output::Event(Event::Rtp(..) | Event::Rtcp(_))))
}

/// A STUN message authenticated with this password.
fn signed(message: StunMessage<'_>, password: &str) -> Vec<u8> {
    let mut out = vec![0; 500];
    let hmac = |key: &[u8], parts: &[&[u8]]| DefaultSha1HmacProvider.sha1_hmac(key, parts);
    let length = message.to_bytes(Some(password.as_bytes()), &mut out, hmac).unwrap();
    out.truncate(length);
    out
}

#[test]
fn media_in_the_clear_is_never_taken() {
    let mut world = World::connected(usual(), &clean(), 1);
    for sequence in 0..50 {
        assert_eq!(world.give(0, &rtp(7, sequence, b"in the clear, and long enough for any tag")), []);
        assert_eq!(world.give(0, &report(7)), []);
        assert_eq!(world.give(0, &[&report(7)[..], &[0; 40]].concat()), []);
    }
    let dropped = world.ends[0].statistics().dropped;
    assert_eq!((dropped.unauthentic, dropped.unencrypted + dropped.malformed), (50, 100));
    assert_eq!(dropped.total(), 150);
}

#[test]
fn media_before_there_are_keys_is_dropped_and_counted() {
    let mut world = World::new(usual(), &clean(), 1);
    world.signal();
    let known = world.run_until(Time::from_millis(2000), |world| world.ends[1].statistics().stun > 1);
    assert!(known && !world.ends[1].is_connected());
    assert_eq!(world.give(1, &rtp(7, 1, b"early")), []);
    assert_eq!(world.give(1, &report(7)), []);
    assert_eq!(world.ends[1].statistics().dropped.before_keys, 2);
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
}

#[test]
fn replayed_and_changed_packets_are_counted_by_reason_and_harm_nothing() {
    let mut world = World::connected(usual(), &clean(), 1);
    let first = world.protected(1, &rtp(7, 1, b"x"));
    let second = world.protected(1, &rtp(7, 2, b"y"));
    let other = world.protected(1, &report(7));
    assert_eq!(world.give(0, &first), [Output::Event(received(rtp(7, 1, b"x")))]);
    assert_eq!(world.give(0, &other), [Output::Event(Event::Rtcp(report(7)))]);
    assert_eq!((world.give(0, &first), world.give(0, &other)), (vec![], vec![]));
    let mut changed = second.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(world.give(0, &changed), []);
    assert_eq!(world.give(0, &second), [Output::Event(received(rtp(7, 2, b"y")))]);
    let mine = world.protected(0, &rtp(7, 3, b"z"));
    assert_eq!(world.give(0, &mine), [], "our own packet sent back is under the other key");
    let dropped = world.ends[0].statistics().dropped;
    assert_eq!((dropped.replayed, dropped.unauthentic, dropped.total()), (2, 2, 4));
}

#[test]
fn media_and_handshake_from_addresses_that_never_checked_are_not_looked_at() {
    let mut world = World::connected(usual(), &clean(), 1);
    let packet = world.protected(1, &rtp(7, 1, b"x"));
    let unknown = "203.0.113.9:4000".parse().unwrap();
    let [ours, theirs] = addresses();
    for (from, to) in [(unknown, ours), (theirs, unknown)] {
        for bytes in [&packet[..], &[22, 254, 253, 0, 0], &[0x80, 200, 0, 1, 0, 0, 0, 1]] {
            world.ends[0].on_datagram(world.now, from, to, Ecn::NotCapable, bytes);
            assert_eq!(world.outputs(0), []);
        }
    }
    assert_eq!(world.ends[0].statistics().dropped.unknown_address, 6);
    assert_eq!(world.give(0, &packet), [Output::Event(received(rtp(7, 1, b"x")))]);
}

#[test]
fn checks_without_the_password_are_refused() {
    let mut world = World::connected(usual(), &clean(), 1);
    let genuine = world.sent[1].iter().find(|datagram| datagram.bytes[..2] == [0, 1]).unwrap().bytes.clone();
    for at in 20..genuine.len() {
        let mut forged = genuine.clone();
        forged[at] ^= 1;
        if at < genuine.len() - 8 {
            assert_eq!(world.give(0, &forged), [], "byte {at}");
        }
    }
    let dropped = world.ends[0].statistics().dropped;
    assert_eq!(dropped.stun_refused + dropped.malformed, genuine.len() as u64 - 28);
}

#[test]
fn an_end_that_claims_to_be_everywhere_is_known_at_a_few_addresses() {
    let mut world = World::connected(usual(), &clean(), 1);
    let check = world.sent[1].iter().find(|datagram| datagram.bytes[..2] == [0, 1]).unwrap().bytes.clone();
    let before = world.ends[0].statistics();
    for port in 1..10_000 {
        world.ends[0].on_datagram(
            world.now,
            format!("198.51.100.2:{port}").parse().unwrap(),
            addresses()[0],
            Ecn::NotCapable,
            &check,
        );
    }
    let after = world.ends[0].statistics();
    assert_eq!(after.stun - before.stun, 32, "its own address, and 31 more");
    assert_eq!(after.dropped.too_many_addresses, 9_999 - 32);
    world.outputs(0);
    world.run_for(Span::from_secs(60));
    assert!(world.are_connected());
}

#[test]
fn an_end_that_says_we_are_everywhere_is_believed_a_few_times() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.cut[0] = true;
    world.sent[0].clear();
    world.run_for(Span::from_secs(4));
    let asked = world.sent[0].iter().rfind(|datagram| datagram.bytes[..2] == [0, 1]).unwrap();
    let asked = StunMessage::parse(&asked.bytes).unwrap().trans_id();
    let password = world.ends[1].credentials().password.clone();
    for port in 1..5000 {
        let mapped = format!("192.0.2.77:{port}").parse().unwrap();
        world.give(0, &signed(StunMessage::binding_reply(asked, mapped), &password));
    }
    let dropped = world.ends[0].statistics().dropped;
    assert_eq!(dropped.too_many_addresses, 4999 - 31);
}

#[test]
fn noise_between_the_lines_of_a_handshake_does_not_end_it() {
    for role in [DtlsRole::Server, DtlsRole::Client] {
        for versions in [DtlsVersions::Only12, DtlsVersions::Best] {
            let mut configs = usual();
            configs[0].dtls = role;
            configs[1].dtls = if role == DtlsRole::Client { DtlsRole::Server } else { DtlsRole::Client };
            configs[1].versions = versions;
            // `dimpl` does not tolerate an unencrypted, unparsable handshake record from the peer's address: an
            // attacker who can send from there during the tenth of a second of the handshake can end it.
            let noise: [&[u8]; 5] = [
                &[20],
                &[63; 1200],
                &[22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255],
                &[23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4],
                &[20, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
            ];
            let mut world = World::new(configs, &clean(), 1);
            world.signal();
            for step in 1..40 {
                world.run_until(Time::from_millis(10 * step), |_| false);
                for end in 0..2 {
                    for bytes in noise {
                        world.deliver(end, bytes);
                    }
                }
            }
            assert!(world.run_until(Time::from_millis(5000), World::are_connected), "{versions:?} {:?}", world.events);
        }
    }
}

/// A fragment of a message that never becomes whole: of 16 MB, or with a number that no handshake has.
fn endless(index: u32) -> Vec<u8> {
    let [_, a, b, c] = (index * 100).to_be_bytes();
    let (length, number) = if index.is_multiple_of(2) { ([255; 3], [0, 3]) } else { ([0, 1, 0], [255, index as u8]) };
    let message = [&[11][..], &length, &number, &[a, b, c], &[0, 0, 100], &[7; 100]].concat();
    let [low, high] = (index as u16).to_le_bytes();
    [&[22, 254, 253, 0, 0, 0, 0, 0, 9, high, low, 0, message.len() as u8][..], &message].concat()
}

#[test]
fn thousands_of_fragments_that_never_become_messages_do_not_end_a_handshake() {
    for role in [DtlsRole::Server, DtlsRole::Client] {
        for versions in [DtlsVersions::Only12, DtlsVersions::Only13] {
            let mut configs = usual().map(|config| Config { versions, ..config });
            configs[0].dtls = role;
            configs[1].dtls = if role == DtlsRole::Client { DtlsRole::Server } else { DtlsRole::Client };
            let mut world = World::new(configs, &clean(), 1);
            world.signal();
            for step in 1..40 {
                world.run_until(Time::from_millis(10 * step), |_| false);
                for end in 0..2 {
                    for index in 0..100 {
                        world.deliver(end, &endless(index));
                    }
                }
            }
            assert!(world.run_until(Time::from_millis(5000), World::are_connected), "{versions:?} {:?}", world.events);
            assert!(world.ends[0].statistics().dropped.dtls_refused > 1000);
        }
    }
}

/// Unprotected DTLS records: alerts that close or abort, handshake messages, and fragments.
fn unprotected_records() -> Vec<Vec<u8>> {
    let hello = [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 254, 253];
    let bodies: [&[u8]; 8] = [&[1, 0], &[2, 40], &[2, 80], &[1], &hello, &[0; 12], &[255; 40], &[]];
    let mut records = Vec::new();
    for (kind, epoch, sequence) in
        (20..=26).flat_map(|kind| (0..4).flat_map(move |epoch| [(kind, epoch, 0), (kind, epoch, 200)]))
    {
        for body in bodies {
            records.push([&[kind, 254, 253, 0, epoch, 0, 0, 0, 0, 0, sequence, 0, body.len() as u8], body].concat());
        }
    }
    // The header of DTLS 1.3's protected records, in all its forms (RFC 9147 section 4).
    records.extend((32..64).flat_map(|first| [vec![first], vec![first; 40], [&[first][..], &[0; 60]].concat()]));
    records
}

#[test]
fn nobody_without_its_keys_ends_a_connection_that_stands() {
    for versions in [DtlsVersions::Only12, DtlsVersions::Best] {
        let mut configs = usual();
        configs[1].versions = versions;
        let mut world = World::connected(configs, &clean(), 1);
        for end in 0..2 {
            for record in unprotected_records() {
                let reported = world.give(end, &record);
                assert!(!reported.iter().any(|output| matches!(output, Output::Event(_))), "{record:?} {reported:?}");
            }
        }
        world.run_for(Span::from_secs(5));
        let packet = world.protected(1, &rtp(7, 1, b"x"));
        assert_eq!(world.give(0, &packet), [Output::Event(received(rtp(7, 1, b"x")))]);
        assert!(world.are_connected(), "{versions:?} {:?}", world.events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn no_bytes_at_any_time_panic_or_are_taken_for_media(
        at in 0..400u64, only12: bool, to in 0..2usize, first in prop::sample::select(vec![0u8, 1, 20, 22, 23, 25, 26, 47, 60, 128, 144, 200]),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..20), whole: bool,
    ) {
        let mut configs = usual();
        configs[1].versions = if only12 { DtlsVersions::Only12 } else { DtlsVersions::Best };
        let mut world = World::new(configs, &clean(), 1);
        world.signal();
        world.run_until(Time::from_millis(at), |_| false);
        world.outputs(to);
        for mut bytes in noise {
            if !whole && !bytes.is_empty() {
                bytes[0] = first;
            }
            prop_assert!(!media(&world.give(to, &bytes)));
        }
    }

    #[test]
    fn datagrams_that_were_really_sent_changed_in_one_place_are_never_taken_for_media(
        at in 0..300u64, which: prop::sample::Index, place: prop::sample::Index, bit in 0..8u8, cut: bool,
    ) {
        let mut world = World::new(usual(), &clean(), 1);
        world.signal();
        world.run_until(Time::from_millis(at), |_| false);
        prop_assume!(!world.sent[1].is_empty());
        let mut bytes = which.get(&world.sent[1]).bytes.clone();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if cut {
            bytes.truncate(place + 1);
        }
        world.outputs(0);
        prop_assert!(!media(&world.give(0, &bytes)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn calls_in_any_order_do_not_panic_and_media_that_comes_was_sent(
        // Which call (some are more frequent), at which end, and a value for it.
        calls in prop::collection::vec((0..27u8, 0..2usize, any::<u16>()), 1..80),
    ) {
        let config = Config { disconnect_timeout: Span::from_secs(1), give_up: Span::from_secs(4), ..Config::default() };
        let mut configs = usual();
        configs.iter_mut().for_each(|each| *each = Config { controlling: each.controlling, dtls: each.dtls, ..config.clone() });
        let mut world = World::new(configs, &clean(), 3);
        let mut sent: [Vec<Event>; 2] = Default::default();
        for (call, end, value) in calls {
            match call {
                0..4 => {
                    let remote = world.description(1 - end);
                    let _ = world.ends[end].set_remote(world.now, &remote);
                }
                4 => {
                    let line = format!("candidate:1 1 udp 5 198.51.100.2 {value} typ host");
                    let _ = world.ends[end].add_remote_candidate(&line);
                }
                5 => drop(world.ends[end].restart(world.now).unwrap()),
                6..10 => {
                    if world.ends[end].send_rtp(Ecn::NotCapable, &rtp(7, value, b"x")).is_ok() {
                        sent[end].push(received(rtp(7, value, b"x")));
                    }
                }
                10..12 => {
                    if world.ends[end].send_rtcp(&report(7)).is_ok() {
                        sent[end].push(Event::Rtcp(report(7)));
                    }
                }
                12..20 => world.run_for(Span::from_millis(i64::from(value) % 2000)),
                20..22 => {
                    let replayed = world.sent[1 - end].iter().rev().nth(usize::from(value) % 100);
                    if let Some(bytes) = replayed.map(|datagram| datagram.bytes.clone()) {
                        world.deliver(end, &bytes);
                    }
                }
                22 => world.ends[end].on_timeout(Time::ZERO),
                23 => drop(world.ends[end].add_local(format!("192.0.2.{}:{value}", 10 + end).parse().unwrap())),
                24 => world.ends[end].set_dtls_role(if value % 2 == 0 { DtlsRole::Client } else { DtlsRole::Server }),
                25 => world.cut[end] = value % 10 < 3,
                // Rarely, for nothing can follow it.
                _ if value % 10 == 0 => world.ends[end].close(world.now),
                _ => world.run_for(Span::from_millis(1)),
            }
        }
        world.run_for(Span::from_secs(1));
        for end in 0..2 {
            for (_, event) in &world.events[end] {
                if matches!(event, Event::Rtp(..) | Event::Rtcp(_)) {
                    let place = sent[1 - end].iter().position(|sent| sent == event);
                    prop_assert!(place.is_some(), "what came was sent, and comes once");
                    sent[1 - end].swap_remove(place.unwrap());
                }
            }
            let ends = world.names(end).iter().filter(|name| matches!(**name, "closed" | "failed")).count();
            prop_assert!(ends <= 1, "there is one end");
        }
    }
}
