//! Two endpoints connect, exchange packets, lose the path and close.

mod world;

use proptest::prelude::*;
use thalweg_transport::{
    Config, Connection, DtlsRole, DtlsVersions, Event, Fingerprint, Output, Profile, SendError, TransportError,
    ufrag_of,
};
use thalweg_units::{Bytes, Span, Time};
use world::{World, addresses, bad, candidate, clean, identities, origin, report, rtp, usual};

#[test]
fn two_ends_connect_within_a_second_whichever_begins_in_either_version_of_dtls() {
    let (client, server) = (DtlsRole::Client, DtlsRole::Server);
    for (role, other, learns) in [(server, client, false), (client, server, false), (server, client, true)] {
        for (versions, expected) in [
            ([DtlsVersions::Best, DtlsVersions::Best], "1.3"),
            ([DtlsVersions::Best, DtlsVersions::Only12], "1.2"),
            ([DtlsVersions::Only12, DtlsVersions::Best], "1.2"),
            ([DtlsVersions::Only13, DtlsVersions::Best], "1.3"),
            ([DtlsVersions::Best, DtlsVersions::Only13], "1.3"),
        ] {
            let mut configs = usual();
            configs[1].dtls = other;
            configs[0].versions = versions[0];
            configs[1].versions = versions[1];
            // An offerer may learn its part in the handshake from the answer.
            configs[0].dtls = if learns { other } else { role };
            let mut world = World::new(configs, &clean(), 1);
            if learns {
                world.ends[0].set_dtls_role(role);
            }
            world.signal();
            assert!(world.run_until(Time::from_millis(999), World::are_connected), "{versions:?}");
            assert_eq!(world.ends.each_ref().map(Connection::dtls_version), [Some(expected); 2], "{versions:?}");
            assert_eq!(world.ends[0].profile(), Some(Profile::AeadAes256Gcm));
            assert_eq!(world.ends[0].srtp_overhead(), Bytes::new(16));
            assert_eq!(world.ends[0].remote_address(), Some(addresses()[1]));
            assert_eq!((world.names(0), world.names(1)), (vec!["connected"], vec!["connected"]));
            world.exchange(5);
        }
    }
}

#[test]
fn a_connection_may_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<Connection>();
}

#[test]
fn a_candidate_signalled_again_is_not_another_one() {
    let mut world = World::new(usual(), &clean(), 1);
    world.signal();
    for _ in 0..100 {
        world.ends[0].add_remote_candidate(&candidate(addresses()[1])).unwrap();
        world.signal();
    }
    let line = |port| candidate(format!("192.0.2.9:{port}").parse().unwrap());
    assert!((5001..5032).all(|port| world.ends[0].add_remote_candidate(&line(port)).is_ok()));
    assert_eq!(world.ends[0].add_remote_candidate(&line(5032)), Err(TransportError::Candidates { max: 32 }));
}

#[test]
fn an_end_whose_address_nobody_signalled_is_found_by_its_own_checks() {
    let mut world = World::new(usual(), &clean(), 1);
    let [mut first, mut second] = [world.description(0), world.description(1)];
    second.candidates = vec!["candidate:1 1 udp 2113937151 0f3b2c1a-6f0e-4f4f.local 51234 typ host".to_owned()];
    first.candidates.clear();
    world.ends[0].set_remote(Time::ZERO, &second).unwrap();
    world.ends[1].set_remote(Time::ZERO, &first).unwrap();
    world.ends[1].add_remote_candidate(&candidate(addresses()[0])).unwrap();
    assert!(world.run_until(Time::from_millis(5000), World::are_connected));
    assert_eq!(world.ends[0].statistics().unusable_candidates, 1);
}

#[test]
fn checks_that_come_before_the_answer_does_are_not_lost() {
    let mut world = World::new(usual(), &clean(), 1);
    let offer = world.description(0);
    world.ends[1].set_remote(Time::ZERO, &offer).unwrap();
    world.run_for(Span::from_millis(700));
    assert!(world.ends[0].statistics().datagrams > 0);
    let answer = world.description(1);
    world.ends[0].set_remote(world.now, &answer).unwrap();
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
}

#[test]
fn a_request_says_whom_it_is_for() {
    let mut world = World::new(usual(), &clean(), 1);
    world.signal();
    world.run_for(Span::from_millis(10));
    let ufrag = world.ends[1].credentials().ufrag.clone();
    assert_eq!(ufrag_of(&world.sent[0][0].bytes), Some(&*ufrag));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn two_ends_connect_despite_loss_and_reordering_and_delay(seed: u64, only12: bool, swap: bool) {
        let mut configs = usual();
        for config in &mut configs {
            config.versions = if only12 { DtlsVersions::Only12 } else { DtlsVersions::Best };
            // One in 1,500 handshakes of 1.2 takes longer than the default 30 s here: its last flight is lost each
            // time.
            config.connect = Span::from_secs(120);
        }
        if swap {
            (configs[0].dtls, configs[1].dtls) = (DtlsRole::Client, DtlsRole::Server);
        }
        let mut world = World::connected(configs, &bad(0.2), seed);
        for sequence in 0..200 {
            world.ends[0].send_rtp(&rtp(7, sequence, b"x")).unwrap();
            world.run_for(Span::from_millis(10));
        }
        world.run_for(Span::from_secs(1));
        let came = world.names(1).iter().filter(|name| **name == "rtp").count();
        prop_assert!((100..200).contains(&came), "{came} of 200");
        prop_assert_eq!(world.ends[1].statistics().rtp, came as u64);
    }
}

#[test]
fn a_certificate_that_was_not_announced_is_refused_by_both_ends_and_no_packet_passes() {
    for wrong in 0..2 {
        for versions in [DtlsVersions::Only12, DtlsVersions::Only13] {
            let mut configs = usual();
            configs.iter_mut().for_each(|config| config.versions = versions);
            let mut world = World::new(configs, &clean(), 1);
            let mut descriptions = [world.description(1), world.description(0)];
            let expected = Fingerprint::new([9; 32]);
            descriptions[wrong].fingerprint = expected;
            for (end, remote) in descriptions.iter().enumerate() {
                world.ends[end].set_remote(Time::ZERO, remote).unwrap();
            }
            world.run_until(Time::from_millis(40_000), |_| false);
            let found = identities()[1 - wrong].fingerprint();
            let failed = Event::Failed(TransportError::Fingerprint { expected, found });
            let events: Vec<_> = world.events[wrong].iter().map(|(_, event)| event.clone()).collect();
            assert_eq!(events, [failed], "{versions:?}");
            assert!(!world.ends[wrong].is_connected());
            assert_eq!(world.ends[wrong].send_rtp(&rtp(7, 1, b"x")), Err(SendError::NotConnected));
            // The deceived endpoint may have finished its part; nothing it sends then is accepted.
            let _ = world.ends[1 - wrong].send_rtp(&rtp(7, 1, b"x"));
            world.run_for(Span::from_secs(1));
            assert_eq!(world.names(wrong), ["failed"]);
        }
    }
}

#[test]
fn nothing_is_sent_before_there_are_keys_nor_after_the_end() {
    let mut world = World::new(usual(), &clean(), 1);
    assert_eq!(world.ends[0].send_rtp(&rtp(7, 1, b"x")), Err(SendError::NotConnected));
    assert_eq!(world.ends[0].send_rtcp(&report(7)), Err(SendError::NotConnected));
    world.signal();
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
    world.ends[0].close(world.now);
    assert_eq!(world.ends[0].send_rtp(&rtp(7, 1, b"x")), Err(SendError::NotConnected));
}

#[test]
fn an_end_that_says_goodbye_is_closed_at_once_and_so_is_the_other() {
    for versions in [DtlsVersions::Only12, DtlsVersions::Only13] {
        let mut configs = usual();
        configs.iter_mut().for_each(|config| config.versions = versions);
        let mut world = World::connected(configs, &clean(), 1);
        world.ends[0].close(world.now);
        let at = world.now;
        world.run_for(Span::from_millis(100));
        assert_eq!(world.names(0), ["connected", "closed"], "{versions:?}");
        assert_eq!(world.names(1), ["connected", "closed"], "{versions:?}");
        assert_eq!(world.events[1][1].0, at + Span::from_millis(20));
        assert_eq!(world.ends[0].poll(), Output::Wait { until: Time::NEVER });
        let before = world.sent[0].len() + world.sent[1].len();
        world.run_for(Span::from_secs(60));
        assert_eq!(world.sent[0].len() + world.sent[1].len(), before, "nothing is sent after the end");
    }
}

#[test]
fn an_end_that_vanishes_is_disconnected_after_the_silence_and_closed_when_consent_has_expired() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.run_for(Span::from_secs(60));
    assert_eq!(world.names(0), ["connected"], "a quiet path is no silence");
    let cut = world.now;
    world.cut = [true; 2];
    world.run_for(Span::from_secs(60));
    for end in 0..2 {
        assert_eq!(world.names(end), ["connected", "disconnected", "closed"]);
        let [(_, _), (disconnected, _), (closed, _)] = world.events[end][..] else { unreachable!() };
        let config = Config::default();
        assert!(
            disconnected > cut && disconnected <= cut + config.disconnect_timeout + Span::from_millis(20),
            "{disconnected}"
        );
        assert!(closed > cut + config.give_up - Span::from_millis(3500), "{closed}");
        assert!(closed <= cut + config.give_up + Span::from_millis(20), "{closed}");
    }
}

#[test]
fn an_outage_shorter_than_consent_is_survived() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.cut = [true; 2];
    world.run_for(Span::from_secs(20));
    world.cut = [false; 2];
    world.run_for(Span::from_secs(10));
    for end in 0..2 {
        assert_eq!(world.names(end), ["connected", "disconnected", "reconnected"]);
    }
    world.exchange(5);
}

#[test]
fn hearing_without_being_heard_ends_with_consent() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.cut[0] = true;
    let cut = world.now;
    let mut sequence = 0;
    while world.now < cut + Span::from_secs(40) && world.ends[1].send_rtp(&rtp(7, sequence, b"x")).is_ok() {
        sequence += 1;
        world.run_for(Span::from_millis(100));
    }
    assert_eq!(world.names(0).last(), Some(&"closed"), "media came all the time, answers did not");
    assert!(!world.names(0).contains(&"disconnected"));
}

#[test]
fn a_restart_finds_a_path_again_and_keeps_the_keys() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.exchange(5);
    let before = world.ends.each_ref().map(|end| end.credentials().clone());
    for (end, before) in world.ends.iter_mut().zip(&before) {
        end.restart(world.now).unwrap();
        assert_ne!(end.credentials(), before);
    }
    world.exchange(6);
    world.signal();
    let stun = world.ends[0].statistics().stun;
    world.run_for(Span::from_secs(1));
    assert!(world.ends[0].statistics().stun > stun);
    world.exchange(7);
    assert!(world.names(0).iter().all(|name| *name != "connected"), "no second handshake");
    world.run_for(Span::from_secs(100));
    assert!(world.are_connected(), "and consent goes on");
}

#[test]
fn a_restart_with_another_certificate_is_refused() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.ends[0].restart(world.now).unwrap();
    let mut remote = world.description(1);
    let before = std::mem::replace(&mut remote.fingerprint, Fingerprint::new([1; 32]));
    let after = remote.fingerprint;
    assert_eq!(world.ends[0].set_remote(world.now, &remote), Err(TransportError::OtherIdentity { before, after }));
}

#[test]
fn nobody_there_is_a_failure_that_says_so() {
    let mut world = World::new(usual(), &clean(), 1);
    world.cut = [true; 2];
    world.signal();
    world.run_for(Span::from_secs(40));
    let error = TransportError::NotConnected(Span::from_secs(30));
    assert_eq!(world.events[0], [(Time::from_millis(30_000), Event::Failed(error))]);
}

#[test]
fn what_signalling_says_is_checked_before_anything_changes() {
    let mut world = World::new(usual(), &clean(), 1);
    let good = world.description(1);
    let mut bad = good.clone();
    bad.credentials.password = "short".to_owned();
    assert!(matches!(world.ends[0].set_remote(Time::ZERO, &bad), Err(TransportError::Credentials { .. })));
    let mut bad = good.clone();
    bad.candidates.push("candidate:nonsense".to_owned());
    assert!(matches!(world.ends[0].set_remote(Time::ZERO, &bad), Err(TransportError::Candidate { .. })));
    let mut bad = good.clone();
    bad.candidates = (1..100).map(|port| candidate(format!("192.0.2.9:{}", 5000 + port).parse().unwrap())).collect();
    assert_eq!(world.ends[0].set_remote(Time::ZERO, &bad), Err(TransportError::Candidates { max: 32 }));
    assert_eq!(world.ends[0].poll(), Output::Wait { until: Time::NEVER });
    let config = Config { max_streams: 0, ..Config::default() };
    assert!(Connection::new(config, &identities()[0], origin()).is_err());
    for address in ["0.0.0.0:5", "192.0.2.1:0"] {
        assert!(world.ends[0].add_local(address.parse().unwrap()).is_err());
    }
}
