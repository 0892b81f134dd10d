//! Connectivity checks as they are on the wire, read byte by byte (RFC 8489), and when they are sent (RFC 8445, RFC 7675).

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::world::{World, addresses, bad, candidate, clean, identities, report, rtp, usual};
use thalweg_transport::{Config, Connection, Datagram, Remote};
use thalweg_units::{Ecn, Span, Time};

const REQUEST: u16 = 0x0001;
const INDICATION: u16 = 0x0011;
const SUCCESS: u16 = 0x0101;
const ERROR: u16 = 0x0111;

const USERNAME: u16 = 0x0006;
const INTEGRITY: u16 = 0x0008;
const ERROR_CODE: u16 = 0x0009;
const MAPPED: u16 = 0x0020;
const PRIORITY: u16 = 0x0024;
const USE_CANDIDATE: u16 = 0x0025;
const FINGERPRINT: u16 = 0x8028;
const CONTROLLED: u16 = 0x8029;
const CONTROLLING: u16 = 0x802a;

/// A STUN message.
struct Stun {
    kind: u16,
    transaction: Vec<u8>,
    /// Type and value, in order.
    attributes: Vec<(u16, Vec<u8>)>,
}

impl Stun {
    /// Reads a message; `None` for any other datagram.
    fn read(bytes: &[u8]) -> Option<Stun> {
        let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        if bytes.len() < 20 || bytes[0] > 3 || bytes[4..8] != [0x21, 0x12, 0xa4, 0x42] {
            return None;
        }
        assert_eq!(usize::from(number(2)), bytes.len() - 20);
        let (mut attributes, mut at) = (Vec::new(), 20);
        while at < bytes.len() {
            let length = usize::from(number(at + 2));
            attributes.push((number(at), bytes[at + 4..at + 4 + length].to_vec()));
            at += 4 + length.next_multiple_of(4);
        }
        Some(Stun { kind: number(0), transaction: bytes[8..20].to_vec(), attributes })
    }

    fn get(&self, kind: u16) -> Option<&[u8]> {
        self.attributes.iter().find(|(found, _)| *found == kind).map(|(_, value)| value.as_slice())
    }

    fn kinds(&self) -> Vec<u16> {
        self.attributes.iter().map(|(kind, _)| *kind).collect()
    }
}

/// The STUN messages of this kind that an endpoint sent, with their datagrams.
fn sent(world: &World, end: usize, kind: u16) -> impl Iterator<Item = (&Datagram, Stun)> {
    let messages = world.sent[end].iter().filter_map(|datagram| Some((datagram, Stun::read(&datagram.bytes)?)));
    messages.filter(move |(_, message)| message.kind == kind)
}

/// Runs in steps of a millisecond, and calls `each` after each of them.
fn step(world: &mut World, span: Span, mut each: impl FnMut(&mut World)) {
    let end = world.now + span;
    while world.now < end {
        world.run_for(Span::from_millis(1));
        each(world);
    }
}

/// When an endpoint sent its checks in this time, to a millisecond, each with its local and its remote address.
fn checks(world: &mut World, end: usize, span: Span) -> Vec<(Time, SocketAddr, SocketAddr)> {
    let mut found = Vec::new();
    world.sent[end].clear();
    step(world, span, |world| {
        found.extend(sent(world, end, REQUEST).map(|(datagram, _)| (world.now, datagram.from, datagram.to)));
        world.sent[end].clear();
    });
    found
}

#[test]
fn a_check_says_who_asks_in_which_role_with_which_priority_and_is_signed() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.run_for(Span::from_secs(20));
    for (end, role, other) in [(0, CONTROLLING, CONTROLLED), (1, CONTROLLED, CONTROLLING)] {
        let name = format!("{}:{}", world.ends[1 - end].credentials().ufrag, world.ends[end].credentials().ufrag);
        let mut tiebreakers = BTreeSet::new();
        let mut asked = 0;
        for (_, check) in sent(&world, end, REQUEST) {
            asked += 1;
            assert_eq!(check.get(USERNAME), Some(name.as_bytes()));
            tiebreakers.insert(check.get(role).expect("its role").to_vec());
            assert_eq!(check.get(other), None);
            // The priority as a peer-reflexive candidate, whose type preference is 110, of component 1.
            let [kind, _, _, component] = check.get(PRIORITY).expect("a priority") else { panic!("four bytes") };
            assert_eq!((*kind, *component), (110, 255));
            let kinds = check.kinds();
            assert_eq!(kinds[kinds.len() - 2..], [INTEGRITY, FINGERPRINT]);
        }
        assert!(asked > 3 && tiebreakers.len() == 1, "{asked} checks, {tiebreakers:?}");
        let nominating = sent(&world, end, REQUEST).filter(|(_, check)| check.get(USE_CANDIDATE).is_some()).count();
        assert_eq!(nominating > 0, end == 0, "only the controlling end nominates");
    }
}

#[test]
fn an_answer_says_where_the_check_came_from_and_is_signed_and_nothing_else() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.run_for(Span::from_secs(5));
    for end in 0..2 {
        let asked: BTreeSet<_> = sent(&world, 1 - end, REQUEST).map(|(_, check)| check.transaction).collect();
        let mut answers = 0;
        for (_, answer) in sent(&world, end, SUCCESS) {
            answers += 1;
            assert!(asked.contains(&answer.transaction));
            assert_eq!(answer.kinds(), [MAPPED, INTEGRITY, FINGERPRINT]);
            let from = addresses()[1 - end];
            let SocketAddr::V4(from) = from else { unreachable!() };
            let port = (from.port() ^ 0x2112).to_be_bytes();
            let ip = (from.ip().to_bits() ^ 0x2112_a442).to_be_bytes();
            assert_eq!(answer.get(MAPPED), Some(&[&[0, 1][..], &port, &ip].concat()[..]));
        }
        assert!(answers > 1, "{answers}");
    }
}

#[test]
fn the_transactions_of_checks_are_all_different_and_follow_from_no_number_that_a_peer_could_know() {
    let transactions = || {
        // Where the library's generator stands is known to who has seen its numbers.
        fastrand::seed(7);
        let mut world = World::connected(usual(), &clean(), 1);
        world.run_for(Span::from_secs(60));
        let of = |end| sent(&world, end, REQUEST).map(|(_, check)| check.transaction).collect::<Vec<_>>();
        let tiebreaker = |end| {
            sent(&world, end, REQUEST)
                .find_map(|(_, check)| check.get([CONTROLLING, CONTROLLED][end]).map(<[u8]>::to_vec))
        };
        ([of(0), of(1)].concat(), [tiebreaker(0), tiebreaker(1)])
    };
    let ((first, first_roles), (second, second_roles)) = (transactions(), transactions());
    let all: BTreeSet<_> = first.iter().chain(&second).collect();
    assert_eq!(all.len(), first.len() + second.len());
    assert!(first.len() > 20 && first_roles != second_roles);
}

#[test]
fn a_path_in_use_is_checked_every_four_to_six_seconds_and_never_at_a_fixed_interval() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.run_for(Span::from_secs(10));
    for end in 0..2 {
        let times: Vec<_> = checks(&mut world, end, Span::from_secs(300)).into_iter().map(|(at, _, _)| at).collect();
        let between: Vec<_> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
        assert!(between.len() >= 45, "{}", between.len());
        assert!(between.iter().all(|millis| (3999..=6060).contains(millis)), "{between:?}");
        let (least, most) = (between.iter().min().unwrap(), between.iter().max().unwrap());
        assert!(*least < 4700 && *most > 5300, "{least} to {most} ms");
    }
}

#[test]
fn a_check_that_nobody_answers_is_repeated_after_half_a_second_and_then_less_often() {
    let mut world = World::new(usual(), &clean(), 1);
    world.cut = [true; 2];
    world.signal();
    let times = checks(&mut world, 0, Span::from_secs(20));
    let between: Vec<_> = times.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
    assert!(between.len() >= 6 && (499..=560).contains(&between[0]), "{between:?}");
    assert!(between.windows(2).all(|pair| pair[0] <= pair[1] + 60), "{between:?}");
}

/// Endpoint 0 with four addresses, and a peer that names thirty-two, of which none answers.
fn crowd() -> World {
    let mut world = World::new(usual(), &clean(), 1);
    for host in 10..13 {
        world.ends[0].add_local(SocketAddr::from(([192, 0, 2, host], 1000))).expect("an address");
    }
    let candidates = (0..32).map(|host| candidate(([198, 51, 100, 100 + host], 2000).into())).collect();
    let remote = Remote { candidates, ..world.description(1) };
    world.ends[0].set_remote(Time::ZERO, &remote).expect("a good description");
    world
}

#[test]
fn no_more_than_a_hundred_pairs_are_checked_and_one_every_fifty_milliseconds() {
    let found = checks(&mut crowd(), 0, Span::from_secs(29));
    let pairs: BTreeSet<_> = found.iter().map(|(_, from, to)| (*from, *to)).collect();
    assert_eq!(pairs.len(), 100);
    let closest = found.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).min();
    assert!(closest >= Some(49), "{closest:?} ms");
}

#[test]
fn ends_that_take_the_same_role_agree_on_one_and_who_gives_way_takes_another_number() {
    /// Its role and its number in it.
    fn role(check: &Stun) -> (bool, Vec<u8>) {
        let number = check.get(CONTROLLING).or(check.get(CONTROLLED)).expect("a role");
        (check.get(CONTROLLING).is_some(), number.to_vec())
    }
    let mut gave_way = 0;
    for (controlling, seed) in [true, false].into_iter().flat_map(|role| (0..8).map(move |seed| (role, seed))) {
        let configs = usual().map(|config| Config { controlling, ..config });
        let mut world = World::new(configs, &clean(), seed);
        // For two seconds only the first end is heard: it learns of the conflict by an error, or the second gives way.
        world.between = Box::new(|way, datagram| {
            let asks = Stun::read(&datagram.bytes).is_some_and(|message| message.kind == REQUEST);
            (way == 0 || !asks).then_some(datagram)
        });
        world.signal();
        world.run_for(Span::from_secs(2));
        world.between = Box::new(|_, datagram| Some(datagram));
        assert!(world.run_until(Time::from_millis(9000), World::are_connected), "{:?}", world.events);
        world.exchange(5);
        let roles = |end| sent(&world, end, REQUEST).map(|(_, check)| role(&check)).collect::<Vec<_>>();
        let (first, second) = (roles(0), roles(1));
        assert_ne!(first[first.len() - 1].0, second[second.len() - 1].0, "one controls, one does not");
        let conflicts: Vec<_> = sent(&world, 1, ERROR).map(|(_, conflict)| conflict).collect();
        for conflict in &conflicts {
            assert_eq!(conflict.get(ERROR_CODE).map(|code| (code[2], code[3])), Some((4, 87)));
            assert_eq!(conflict.kinds()[conflict.kinds().len() - 2..], [INTEGRITY, FINGERPRINT]);
        }
        if !conflicts.is_empty() {
            gave_way += 1;
            let (before, after) = (&first[0], &first[first.len() - 1]);
            assert!(before.0 == controlling && after.0 != controlling);
            assert_ne!(before.1, after.1, "the number it lost with");
        }
    }
    assert!(gave_way > 2, "{gave_way} of 16 learned of the conflict by an error");
}

#[test]
fn a_restart_keeps_the_roles() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.ends.iter_mut().for_each(|end| drop(end.restart(world.now).expect("random numbers")));
    world.sent.iter_mut().for_each(Vec::clear);
    world.signal();
    world.run_for(Span::from_secs(5));
    for (end, role) in [(0, CONTROLLING), (1, CONTROLLED)] {
        assert!(sent(&world, end, REQUEST).count() > 0);
        assert!(sent(&world, end, REQUEST).all(|(_, check)| check.get(role).is_some()));
    }
}

#[test]
fn candidates_of_before_a_restart_are_not_asked_again() {
    let mut world = World::new(usual(), &clean(), 1);
    let gone: SocketAddr = ([198, 51, 100, 77], 7).into();
    world.signal();
    world.ends[0].add_remote_candidate(&candidate(gone)).expect("a candidate");
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
    assert!(sent(&world, 0, REQUEST).any(|(datagram, _)| datagram.to == gone));
    world.ends.iter_mut().for_each(|end| drop(end.restart(world.now).expect("random numbers")));
    world.sent[0].clear();
    world.signal();
    world.run_for(Span::from_secs(20));
    assert!(sent(&world, 0, REQUEST).count() > 2);
    assert!(!sent(&world, 0, REQUEST).any(|(datagram, _)| datagram.to == gone));
}

#[test]
fn a_restart_that_the_peer_never_answers_ends_what_is_sent_half_a_minute_after_its_last_consent() {
    let mut world = World::connected(usual(), &clean(), 1);
    world.run_for(Span::from_secs(10));
    let at = world.now;
    world.ends[0].restart(at).expect("random numbers");
    let mut last = at;
    for sequence in 0..400 {
        if world.ends[0].send_rtp(Ecn::NotCapable, &rtp(7, sequence, b"media")).is_ok() {
            last = world.now;
        }
        world.run_for(Span::from_millis(100));
    }
    assert!(last > at + Span::from_secs(20), "media goes on for a while: {}", last - at);
    assert!(last <= at + Span::from_secs(30), "{}", last - at);
    assert_eq!(world.names(0).last(), Some(&"closed"));
}

#[test]
fn a_path_whose_consent_has_expired_is_not_used_again_before_a_restart() {
    let mut world = World::new(usual(), &clean(), 1);
    let [lost, other] = [addresses()[1], "198.51.100.3:3000".parse().unwrap()];
    world.ends[1].add_local(other).unwrap();
    world.signal();
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
    world.run_for(Span::from_secs(10));
    assert_eq!(world.ends[0].remote_address(), Some(lost));
    // The peer hears at both addresses, and answers at one.
    world.between = Box::new(move |way, datagram| {
        let is_lost = way == 1 && datagram.from == lost && datagram.bytes[..2] == SUCCESS.to_be_bytes();
        (!is_lost).then_some(datagram)
    });
    world.run_for(Span::from_secs(45));
    assert_eq!(world.ends[0].remote_address(), Some(other), "{:?}", world.names(0));
    // It would answer again.
    world.between = Box::new(|_, datagram| Some(datagram));
    world.sent[0].clear();
    for sequence in 0..600 {
        world.ends[0].send_rtp(Ecn::NotCapable, &rtp(7, sequence, b"media")).expect("connected");
        world.run_for(Span::from_millis(100));
    }
    let media = world.sent[0].iter().filter(|datagram| datagram.bytes[0] >= 128);
    assert_eq!(media.map(|datagram| datagram.to).collect::<BTreeSet<_>>(), [other].into());
    world.ends.iter_mut().for_each(|end| drop(end.restart(world.now).expect("random numbers")));
    world.signal();
    world.run_for(Span::from_secs(5));
    assert!(sent(&world, 0, REQUEST).any(|(datagram, _)| datagram.to == lost), "new credentials, a new beginning");
}

#[test]
fn media_leaves_by_the_selected_pair_alone_and_checks_of_the_others_are_answered() {
    let mut world = World::new(usual(), &clean(), 1);
    world.ends[0].add_local("192.0.2.3:3000".parse().unwrap()).unwrap();
    world.signal();
    assert!(world.run_until(Time::from_millis(3000), World::are_connected));
    world.run_for(Span::from_secs(3));
    world.sent.iter_mut().for_each(Vec::clear);
    for sequence in 0..100 {
        for end in 0..2 {
            world.ends[end].send_rtp(Ecn::NotCapable, &rtp(7, sequence, b"media")).expect("connected");
            world.ends[end].send_rtcp(&report(7)).expect("connected");
        }
        world.run_for(Span::from_millis(100));
    }
    for end in 0..2 {
        let media = world.sent[end].iter().filter(|datagram| datagram.bytes[0] >= 128);
        let pairs: BTreeSet<_> = media.map(|datagram| (datagram.from, datagram.to)).collect();
        assert_eq!(pairs.len(), 1, "{pairs:?}");
    }
    let mut answered: BTreeMap<_, usize> = BTreeMap::new();
    sent(&world, 1, SUCCESS).for_each(|(datagram, _)| *answered.entry(datagram.to).or_default() += 1);
    assert_eq!(answered.len(), 2, "{answered:?}");
}

#[test]
fn an_indication_is_no_consent_and_a_message_without_its_fingerprint_is_none() {
    let mut world = World::connected(usual(), &clean(), 1);
    let check = sent(&world, 1, REQUEST).next().expect("a check").0.bytes.clone();
    let before = world.ends[0].statistics();
    let mut indication = vec![0, INDICATION as u8, 0, 0, 0x21, 0x12, 0xa4, 0x42];
    indication.extend([7; 12]);
    for bytes in [
        &indication[..],
        &check[..check.len() - 8],
        &[&check[..check.len() - 1], &[check[check.len() - 1] ^ 1]].concat(),
    ] {
        assert_eq!(world.give(0, bytes), []);
    }
    let after = world.ends[0].statistics();
    assert_eq!((after.stun, after.dropped.total()), (before.stun, before.dropped.total() + 3));
}

#[test]
fn no_two_checks_of_a_handshake_over_a_bad_path_come_at_once() {
    for seed in 0..5 {
        let mut world = World::new(usual(), &bad(0.2), seed);
        world.signal();
        let mut times: [Vec<Time>; 2] = Default::default();
        step(&mut world, Span::from_secs(10), |world| {
            for (end, times) in times.iter_mut().enumerate() {
                times.extend(sent(world, end, REQUEST).map(|_| world.now));
                world.sent[end].clear();
            }
        });
        for times in times {
            let closest = times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).min();
            assert!(closest >= Some(5), "{closest:?} ms of {}", times.len());
        }
    }
}

#[test]
fn an_address_of_one_link_is_paired_with_none() {
    let mut world = World::new(usual(), &clean(), 1);
    let identity = &identities()[0];
    let mut end = Connection::new(usual()[0].clone(), identity, super::world::origin()).expect("a connection");
    end.add_local("[2001:db8::1]:1000".parse().unwrap()).expect("an address");
    let candidates =
        vec![candidate("[fe80::7]:5000".parse().unwrap()), candidate("[2001:db8::2]:5000".parse().unwrap())];
    end.set_remote(Time::ZERO, &Remote { candidates, ..world.description(1) }).expect("a good description");
    assert_eq!(end.remote_candidates().collect::<Vec<_>>(), ["[2001:db8::2]:5000".parse().unwrap()]);
    assert_eq!(end.statistics().unusable_candidates, 1);
    world.run_for(Span::from_millis(1));
}
