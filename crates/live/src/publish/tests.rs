//! The network thread's work without its thread: timeouts of half a minute are simulated.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;

use thalweg_control::fixed;
use thalweg_netsim::{HopConfig, PathConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{self, Capabilities, Direction, Local};
use thalweg_transport::{Connection, Credentials, DtlsRole, Identity, Output};
use thalweg_units::{Ecn, Seed};

use super::messages::State;
use super::sources::camera::{Seen, Taken};
use super::viewers::played;
use super::*;
use crate::joining::stream_ids;
use crate::web::{Condition, Join, Joined, LinkChange, Patched, Refused, RefusedKind, SchemeLine, Snapshot};
use thalweg_emulate::LinkConfig;
use thalweg_emulate::clock::pause;

fn network(max_viewers: usize) -> Network {
    network_of(max_viewers, &["main"], None)
}

fn rate(rate: &str) -> Option<HopConfig> {
    Some(HopConfig::Rate { rate: rate.parse().unwrap(), queue: Default::default() })
}

impl Network {
    fn snapshot_of(&self, id: &str) -> Snapshot {
        self.snapshot(self.clock.now(), id).unwrap()
    }
}

/// A network with these channels, over emulated links with this hop if there is one.
fn network_of(max_viewers: usize, names: &[&str], hop: Option<HopConfig>) -> Network {
    let link = hop.map(|hop| LinkConfig { up: PathConfig { hops: vec![hop] }, ..LinkConfig::default() });
    let channel = |name: &&str| ChannelConfig {
        name: (*name).into(),
        scheme: Arc::new("gcc".parse::<Scheme>().unwrap()),
        bind: "127.0.0.1:0".parse().unwrap(),
        advertise: Vec::new(),
        link: link.clone(),
    };
    let codec = "model".parse().unwrap();
    let config = PublishConfig {
        title: "a test".into(),
        codec: Some(codec),
        channels: names.iter().map(channel).collect(),
        max_viewers,
        ..PublishConfig::new("gcc".parse::<Scheme>().unwrap())
    };
    let codecs = Codecs::of(config.codec.as_ref().unwrap());
    let mut find = |_: &str| -> Result<Arc<Trace>, String> { Err("no trace".into()) };
    let made = (codecs, config.video.scene_format(), Time::ZERO);
    let (network, relays) = Network::open(&config, Clock::new(), made, &mut find).unwrap();
    // They run as long as the test.
    relays.into_iter().for_each(std::mem::forget);
    network
}

/// The peer's parameters, with this ufrag.
fn local(ufrag: &str) -> Local {
    Local {
        credentials: Credentials { ufrag: ufrag.into(), password: "0123456789012345678901".into() },
        fingerprint: Identity::generate().unwrap().fingerprint(),
        candidates: Vec::new(),
        lite: false,
        setup: DtlsRole::Client,
        streams: stream_ids(Seed::new(1)),
        cname: "there".into(),
    }
}

fn join(network: &mut Network) -> Result<Joined, Refused> {
    let offer = sdp::offer(&local("abcd"), &Capabilities::all(Direction::ReceiveOnly)).text;
    network.join(network.clock.now(), &Join { offer, scheme: None, channel: None, name: None, from: None })
}

#[test]
fn a_viewer_may_ask_for_a_sender_that_the_program_has_registered_and_for_no_other() {
    let mut network = network(3);
    let own = "gcc".parse::<Scheme>().unwrap().with_controller("own", || fixed::Fixed::new(fixed::Config::default()));
    network.catalog.registry.add(own).unwrap();
    let line = |name: &str| SchemeLine { name: name.into(), ..SchemeLine::default() };
    network.catalog.about.schemes = network.catalog.registry.names().map(line).collect();
    let offer = sdp::offer(&local("abcd"), &Capabilities::all(Direction::ReceiveOnly)).text;
    let mut ask = |scheme: &str| {
        let asked = Join { offer: offer.clone(), scheme: Some(scheme.into()), channel: None, name: None, from: None };
        network.join(network.clock.now(), &asked)
    };
    let problem = ask("another").unwrap_err().to_string();
    assert!(problem.contains("unknown scheme 'another': expected one of own, "), "{problem}");
    let id = ask("own").unwrap().id;
    assert_eq!(network.audience.find(&id).unwrap().outgoing.scheme().name(), "own");
    assert!(network.switch(network.clock.now(), &id, "vidaptive").is_ok());
    assert!(network.switch(network.clock.now(), &id, "own").is_ok());
}

#[test]
fn where_reports_do_not_suffice_another_scheme_is_played_and_it_is_said() {
    let mut network = network(3);
    let now = network.clock.now();
    let plain = Capabilities { congestion: Vec::new(), ..Capabilities::all(Direction::ReceiveOnly) };
    let offer = sdp::offer(&local("abcd"), &plain).text;
    let line = |name: &str| SchemeLine { name: name.into(), ..SchemeLine::default() };
    network.catalog.about.schemes = network.catalog.registry.names().map(line).collect();
    let asked = Join { offer, scheme: Some("vidaptive".into()), channel: None, name: None, from: None };
    let id = network.join(now, &asked).unwrap().id;
    let played = |network: &Network| (network.snapshot_of(&id).scheme, network.snapshot_of(&id).asked_scheme);
    assert_eq!(played(&network), ("gcc:loss".into(), Some("vidaptive".into())));
    let metrics = network.metrics(now);
    assert!(metrics.contains("thalweg_scheme_replaced{") && metrics.contains("asked=\"vidaptive\"} 1"), "{metrics}");
    network.switch(now, &id, "camel").unwrap();
    assert_eq!(played(&network), ("gcc:loss".into(), Some("camel".into())));
    network.switch(now, &id, "gcc:loss").unwrap();
    assert_eq!(played(&network), ("gcc:loss".into(), None));
    // One that agreed to more and reports seldom.
    let id = join(&mut network).unwrap().id;
    let played = |network: &Network| (network.snapshot_of(&id).scheme, network.snapshot_of(&id).asked_scheme);
    network.audience.find(&id).unwrap().reports = played::Reports::Seldom;
    network.switch(now, &id, "vidaptive").unwrap();
    assert_eq!(played(&network), ("gcc".into(), Some("vidaptive".into())));
    // Another, whose reports have arrivals.
    let id = join(&mut network).unwrap().id;
    assert_eq!(network.snapshot_of(&id).asked_scheme, None);
    assert_eq!(network.snapshot_of(&id).scheme, "gcc");
}

/// Joins from a socket of its own, and connects; returns the session's id.
fn connect(network: &mut Network) -> String {
    let (clock, identity) = (network.clock, Identity::generate().unwrap());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_millis(1))).unwrap();
    let here = socket.local_addr().unwrap();
    let mut peer = Connection::new(Default::default(), &identity, clock.origin()).unwrap();
    peer.add_local(here).unwrap();
    let local = Local {
        credentials: peer.credentials().clone(),
        fingerprint: identity.fingerprint(),
        candidates: vec![here],
        ..local("abcd")
    };
    let offer = sdp::offer(&local, &Capabilities::all(Direction::ReceiveOnly));
    let asked = Join { offer: offer.text.clone(), scheme: None, channel: None, name: None, from: None };
    let joined = network.join(clock.now(), &asked).unwrap();
    let accepted = offer.accept(&joined.answer).unwrap();
    peer.set_dtls_role(accepted.dtls);
    peer.set_remote(clock.now(), &accepted.remote).unwrap();
    let (until, mut buffer) = (clock.now() + Span::from_secs(20), [0; 2000]);
    while network.audience.find(&joined.id).unwrap().state != State::Connected {
        assert!(clock.now() < until, "not connected within 20 s");
        peer.on_timeout(clock.now());
        loop {
            match peer.poll() {
                Output::Transmit(datagram) => drop(socket.send_to(&datagram.bytes, datagram.to)),
                Output::Event(_) => {}
                Output::Wait { .. } => break,
            }
        }
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            peer.on_datagram(clock.now(), from, here, Ecn::NotCapable, &buffer[..length]);
        }
        network.receive(0);
        network.work();
    }
    joined.id
}

#[test]
fn what_the_encoder_of_the_last_scheme_still_makes_is_ignored_before_and_after_the_next_picture() {
    let mut network = network(1);
    let id = connect(&mut network);
    let take_picture = |network: &mut Network, number: u64| {
        network.on_message(Message::Picture(Taken { number, captured: Time::ZERO, seen: Seen::Nothing }));
        network.work();
        // It is made by a thread of its own, and comes here.
        network.inbox.recv_timeout(std::time::Duration::from_secs(20)).unwrap()
    };
    let sent = |network: &Network| network.snapshot_of(&id).frames_sent;
    let first = take_picture(&mut network, 0);
    network.switch(network.clock.now(), &id, "camel").unwrap();
    network.on_message(first);
    let second = take_picture(&mut network, 1);
    network.switch(network.clock.now(), &id, "gcc").unwrap();
    let third = take_picture(&mut network, 2);
    network.on_message(second);
    network.on_message(third);
    let until = network.clock.now() + Span::from_secs(20);
    while sent(&network) == 0 && network.clock.now() < until {
        network.work();
        pause(Span::from_millis(1));
    }
    // Frames of schemes that have gone count as skipped.
    assert_eq!((sent(&network), network.snapshot_of(&id).frames_skipped), (1, 2));
}

#[test]
fn who_joined_and_never_connected_is_forgotten_after_30_seconds_and_another_may_come() {
    let mut network = network(1);
    let clock = network.clock;
    let silent = join(&mut network).unwrap();
    network.work();
    for (seconds, stays) in [(0, true), (29, true), (31, false)] {
        network.clock = clock.later(Span::from_secs(seconds));
        network.work();
        assert_eq!(network.audience.find(&silent.id).is_ok(), stays, "after {seconds} s");
        assert_eq!(network.audience.peers.ufrags().len(), usize::from(stays), "after {seconds} s");
        let another = join(&mut network);
        match another {
            Err(refused) => assert!(stays && refused.kind == RefusedKind::Full, "after {seconds} s: {refused}"),
            Ok(_) => assert!(!stays, "two have come where one may"),
        }
    }
}

#[test]
fn who_join_from_one_address_and_do_not_connect_leave_half_of_the_places_to_others() {
    let mut network = network(6);
    let now = network.clock.now();
    let offer = sdp::offer(&local("abcd"), &Capabilities::all(Direction::ReceiveOnly)).text;
    let mut join = |from: &str| {
        let from = Some(from.parse().unwrap());
        network.join(now, &Join { offer: offer.clone(), scheme: None, channel: None, name: None, from })
    };
    assert!((0..3).all(|_| join("192.0.2.1").is_ok()));
    let refused = join("192.0.2.1").unwrap_err();
    assert!(refused.kind == RefusedKind::Full && refused.message.contains("3 viewers joined from your address"));
    assert!(join("192.0.2.2").is_ok(), "another address");
}

#[test]
fn an_offer_of_ours_that_nobody_answers_is_given_up_and_frees_its_place() {
    let mut network = network(1);
    let clock = network.clock;
    let (states, _) = channel();
    let (key, _) = network.offer(clock.now(), states).unwrap();
    assert_eq!(join(&mut network).unwrap_err().kind, RefusedKind::Full);
    network.clock = clock.later(Span::from_secs(31));
    network.work();
    let late = network.accept(network.clock.now(), key, "v=0").unwrap_err();
    assert!(late.message.contains("too late"), "{late}");
    join(&mut network).unwrap();
}

#[test]
fn who_restarts_ice_again_and_again_is_known_by_one_name() {
    let mut network = network(1);
    let now = network.clock.now();
    let joined = join(&mut network).unwrap();
    let before = network.audience.peers.ufrags()[0].0.to_owned();
    for number in 1..=20 {
        let theirs = format!(
            "m=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=ice-ufrag:new{number}\r\na=ice-pwd:0123456789012345678901\r\n"
        );
        let patched = network.patch(now, &joined.id, &theirs, &Condition::Any).unwrap();
        let Patched::Restarted { fragment, etag } = patched else { panic!("{patched:?}") };
        assert_eq!(etag, format!("ice-{number}"));
        let ours = Fragment::read(&fragment).unwrap().credentials.ufrag;
        assert_ne!(ours, before);
        let named: Vec<&str> = network.audience.peers.ufrags().into_iter().map(|(ufrag, _)| ufrag).collect();
        assert_eq!(named, [ours]);
    }
}

#[test]
fn a_restart_that_cannot_be_leaves_the_session_as_it_was() {
    let mut network = network(1);
    let now = network.clock.now();
    let joined = join(&mut network).unwrap();
    let ours =
        |network: &mut Network| network.audience.find(&joined.id).unwrap().outgoing.connection().credentials().clone();
    let names = |network: &Network| -> Vec<(String, u64)> {
        network.audience.peers.ufrags().into_iter().map(|(ufrag, key)| (ufrag.to_owned(), key)).collect()
    };
    let (before, known) = (ours(&mut network), names(&network));
    let fragment = |ufrag: &str, candidate: &str| {
        let head = "a=ice-options:trickle\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n";
        format!("{head}a=ice-ufrag:{ufrag}\r\na=ice-pwd:0123456789012345678901\r\na={candidate}\r\n")
    };
    let good = "candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host";
    let refused = network.patch(now, &joined.id, &fragment("n", good), &Condition::Any).unwrap_err();
    assert_eq!(refused.kind, RefusedKind::BadOffer, "{refused}");
    assert_eq!((ours(&mut network), names(&network)), (before, known));
    let stale = network.patch(now, &joined.id, &fragment("new1", good), &Condition::Tag("ice-1".into())).unwrap_err();
    assert_eq!(stale.kind, RefusedKind::Stale, "the tag has not changed either");
    // What is of no use here is no reason to refuse the rest.
    for unusable in [
        "candidate:nonsense",
        "candidate:1 1 udp x 192.0.2.7 5 typ host",
        "candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active",
        "candidate:1 1 udp 1 a.local 5 typ host",
    ] {
        let patched = network.patch(now, &joined.id, &fragment("new2", unusable), &Condition::Any).unwrap();
        assert!(matches!(patched, Patched::Restarted { .. } | Patched::Taken), "{patched:?}");
    }
}

#[test]
fn without_a_tag_a_fragment_is_for_the_session_whose_credentials_it_repeats() {
    let mut network = network(1);
    let now = network.clock.now();
    let id = join(&mut network).unwrap().id;
    let fragment = |ufrag: &str| format!("a=ice-ufrag:{ufrag}\r\na=ice-pwd:0123456789012345678901\r\n");
    assert_eq!(network.patch(now, &id, &fragment("abcd"), &Condition::None), Ok(Patched::Taken));
    let refused = network.patch(now, &id, &fragment("nEwU"), &Condition::None).unwrap_err();
    assert_eq!(refused.kind, RefusedKind::Unconditional, "{refused}");
    // A restart by the session's lines alone, as whip-whep sends it, is answered alike.
    let patched = network.patch(now, &id, &fragment("nEwU"), &Condition::Any).unwrap();
    let Patched::Restarted { fragment, .. } = patched else { panic!("{patched:?}") };
    assert!(fragment.contains("a=ice-ufrag:") && fragment.contains("a=candidate:"), "{fragment}");
    assert!(!fragment.contains("m="), "{fragment}");
}

#[test]
fn nobody_joins_a_session() {
    let mut network = network(2);
    let id = join(&mut network).unwrap().id;
    let offer = sdp::offer(&local("abcd"), &Capabilities::all(Direction::ReceiveOnly)).text;
    let mut join = |channel: &str| {
        let join = Join { offer: offer.clone(), scheme: None, channel: Some(channel.into()), name: None, from: None };
        network.join(network.clock.now(), &join).unwrap_err().kind
    };
    assert_eq!([join(&id), join("other")], [RefusedKind::IsSession, RefusedKind::NoSuchChannel]);
}

#[test]
fn who_could_have_audio_alone_is_told_why_it_has_no_video() {
    let mut network = network(1);
    let h264 = Capabilities { video: vec![sdp::VideoCodec::H264], ..Capabilities::all(Direction::ReceiveOnly) };
    let offer = sdp::offer(&local("abcd"), &h264).text;
    let join = Join { offer, scheme: None, channel: None, name: None, from: None };
    let refused = network.join(network.clock.now(), &join).unwrap_err();
    assert_eq!(refused.kind, RefusedKind::BadOffer);
    assert!(refused.message.contains("section 0 (video): offers H264/90000"), "{refused}");
    assert!(refused.message.contains("needed is one of VP8"), "{refused}");
}

#[test]
fn viewers_of_baseline_are_sent_h264_and_servers_are_not_offered_it() {
    let network = network(1);
    let scheme = "gcc".parse::<Scheme>().unwrap();
    let ours = Capabilities { video: vec![sdp::VideoCodec::H264], ..network.catalog.capabilities(&scheme) };
    let constrained = vec![sdp::H264Profile::ConstrainedBaseline];
    let theirs =
        Capabilities { video: ours.video.clone(), h264: constrained, ..Capabilities::all(Direction::ReceiveOnly) };
    let offer = sdp::offer(&local("abcd"), &theirs).text;
    for (profile, answered) in [("=42001f", "=42001f"), ("=42801F", "=42001f"), ("=42e01f", "=42e01f"), ("", "=42000a")]
    {
        let said = if profile.is_empty() { String::new() } else { format!(";profile-level-id{profile}") };
        let offer = offer.replace(";profile-level-id=42e01f", &said);
        let answer = sdp::answer(&offer, &local("efgh"), &ours).unwrap().text;
        assert!(answer.contains(&format!("profile-level-id{answered}")), "{profile}: {answer}");
    }
    assert!(!network.catalog.offered(&scheme).h264.contains(&sdp::H264Profile::Baseline));
}

#[test]
fn a_wildcard_is_every_address_of_its_family_without_those_of_one_link_and_loopback_last() {
    let one = "192.0.2.1:7".parse().unwrap();
    assert_eq!(reached_at(one).unwrap(), [one]);
    for any in ["0.0.0.0:7", "[::]:7"] {
        let any: SocketAddr = any.parse().unwrap();
        let found = reached_at(any).unwrap();
        let is_of_link = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local() || ip.to_ipv4_mapped().is_some(),
        };
        assert!(
            found.iter().all(|at| at.is_ipv4() == any.is_ipv4() && at.port() == 7 && !is_of_link(at.ip())),
            "{found:?}"
        );
        assert!(found.is_sorted_by_key(|at| at.ip().is_loopback()), "{found:?}");
        let mut all = found.clone();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), found.len());
        assert!(any.is_ipv6() || !found.is_empty(), "a machine has its loopback");
    }
}

#[test]
fn sessions_have_unguessable_addresses_and_names_that_tell_nothing_of_each_other() {
    let mut network = network(8);
    let joined: Vec<_> = (0..8).map(|_| join(&mut network).unwrap()).collect();
    let name = |answer: &str| {
        answer.lines().find_map(|line| line.split_once(" cname:").map(|(_, name)| name.to_owned())).unwrap()
    };
    let names: std::collections::BTreeSet<_> = joined.iter().map(|joined| name(&joined.answer)).collect();
    let ids: std::collections::BTreeSet<_> = joined.iter().map(|joined| joined.id.as_str()).collect();
    assert_eq!((names.len(), ids.len()), (8, 8));
    assert!(joined.iter().all(|joined| joined.id.len() == 32), "128 bits");
    assert!(names.iter().all(|name| name.len() == 16), "64 bits: {names:?}");
    // Of two publishers, too.
    let other = join(&mut self::network(1)).unwrap();
    assert!(!names.contains(&name(&other.answer)));
}

#[test]
fn the_restart_of_what_we_offered_speaks_of_the_transport_of_picture_and_audio() {
    let mut network = network(1);
    let now = network.clock.now();
    let (states, _states) = channel();
    let (key, offer) = network.offer(now, states).unwrap();
    let answer = sdp::answer(&offer, &local("abcd"), &Capabilities::all(Direction::ReceiveOnly)).unwrap();
    network.accept(now, key, &answer.text).unwrap();
    let fragment = Fragment::read(&network.restart(now, key).unwrap()).unwrap();
    assert_eq!((fragment.kind.as_str(), fragment.mid.as_str(), fragment.bundle.len()), ("video", "0", 2));
    assert_eq!(network.audience.peers.ufrags(), [(fragment.credentials.ufrag.as_str(), key)]);
    assert_eq!(fragment.candidates.len(), 1);
    let theirs = Fragment { credentials: local("efgh").credentials, ..fragment };
    assert!(network.restarted(now, key, &theirs.to_string()));
    assert_eq!(network.audience.viewers.get(key).unwrap().remote.credentials.ufrag, "efgh");
    assert!(!network.restarted(now, key + 1, &theirs.to_string()), "there is no such connection");
}

#[test]
fn a_viewer_changes_the_links_of_all_channels_and_without_a_link_reads_how_to_have_one() {
    let mut plain = network(1);
    let id = join(&mut plain).unwrap().id;
    let change = LinkChange { rate_bps: Some(Some(5e5)), delay_ms: Some(40.0), loss: Some(0.01) };
    let refused = plain.change_link(&id, &change).unwrap_err();
    assert!(refused.kind == RefusedKind::BadChange && refused.message.contains("publish with --rate"), "{refused}");
    assert_eq!(plain.snapshot_of(&id).link, None);

    let delay = HopConfig::delay(Span::from_millis(5));
    let mut unlimited = network_of(1, &["main"], Some(delay));
    let id = join(&mut unlimited).unwrap().id;
    let refused = unlimited.change_link(&id, &change).unwrap_err();
    assert!(refused.kind == RefusedKind::BadChange && refused.message.contains("no rate to change"), "{refused}");
    unlimited.change_link(&id, &LinkChange { rate_bps: None, ..change.clone() }).unwrap();

    let mut network = network_of(1, &["left", "right"], rate("2Mbps"));
    let id = join(&mut network).unwrap().id;
    assert_eq!(network.change_link("nobody", &change).unwrap_err().kind, RefusedKind::NoSuchViewer);
    let given = network.snapshot_of(&id).link.unwrap();
    assert_eq!((given.capacity_bps, given.rate_bps, given.delay_ms, given.loss), (Some(2e6), None, 0.0, 0.0));
    network.change_link(&id, &change).unwrap();
    for channel in 0..2 {
        let state = || network.channels[channel].link.as_ref().unwrap().state();
        // The relay's own thread does it.
        let until = network.clock.now() + Span::from_secs(5);
        while state().loss == 0.0 && network.clock.now() < until {
            pause(Span::from_millis(1));
        }
        let state = state();
        assert_eq!((state.rate, state.delay, state.loss), (Some(Rate::from_kbps(500)), Span::from_millis(40), 0.01));
    }
    let link = network.snapshot_of(&id).link.unwrap();
    assert_eq!((link.capacity_bps, link.rate_bps, link.delay_ms), (Some(5e5), Some(5e5), 40.0));
}

#[test]
fn a_camera_that_misses_frames_is_said_to_be_too_slow_until_it_misses_none() {
    let mut network = network(1);
    let id = join(&mut network).unwrap().id;
    let clock = network.clock;
    let mut number = 0;
    let mut play = |network: &mut Network, seconds: u64, every: u64| {
        for _ in 0..seconds * 30 / every {
            number += every;
            network.clock = clock.later(Span::from_micros(33_333 * number as i64));
            network.on_message(Message::Picture(Taken {
                number: number - 1,
                captured: Time::ZERO,
                seen: Seen::Nothing,
            }));
        }
        network.work();
        network.snapshot_of(&id).too_slow
    };
    assert_eq!(play(&mut network, 7, 1), Vec::<String>::new());
    let slow = play(&mut network, 7, 2);
    // 75 of 150, or one more or fewer, as the clock goes on while this runs.
    assert!(slow.len() == 1 && slow[0].starts_with("the camera missed 7"), "{slow:?}");
    let metrics = network.metrics(network.clock.now());
    for (part, count) in [("camera", 1), ("encoder", 0), ("pacer", 0)] {
        assert!(metrics.contains(&format!("thalweg_too_slow{{part=\"{part}\"}} {count}\n")), "{metrics}");
    }
    assert_eq!(play(&mut network, 7, 1), Vec::<String>::new());
}
