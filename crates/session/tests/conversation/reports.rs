//! The RTCP of both ends: which packets are in a datagram, and what comes of those of the peer (RFC 3550 section 6, RFC
//! 5506, RFC 8834).

use thalweg_wire::rtcp::{Fir, FirRequest, Item, Packet, Pli, ReceiverReport};

use super::*;

/// A world whose RTCP is captured, with the offer changed on its way.
fn captured(change: impl Fn(&str) -> String) -> World {
    let receiver = Capabilities::all(Direction::ReceiveOnly);
    let mut world = World::with(known("gcc"), &path(0.02), &receiver, change, Config::default());
    world.outgoing.capture();
    world.run(Span::from_secs(6));
    world
}

/// The datagrams of RTCP since the last call that the sender sent, or received.
fn datagrams(world: &mut World, leaves: bool) -> Vec<Vec<Packet>> {
    let all = world.outgoing.take_plain().into_iter();
    let ours = all.filter(|plain| plain.leaves == leaves && (192..=223).contains(&plain.bytes[1]));
    ours.map(|plain| rtcp::parse(&plain.bytes).expect("RTCP")).collect()
}

/// Returns true if the first packet is a report and another names its sender.
fn is_compound(packets: &[Packet]) -> bool {
    let sender = match packets.first() {
        Some(Packet::SenderReport(report)) => report.ssrc,
        Some(Packet::ReceiverReport(report)) => report.ssrc,
        _ => return false,
    };
    let name = |packet: &Packet| match packet {
        Packet::Sdes(sdes) => sdes
            .chunks
            .iter()
            .any(|chunk| chunk.source == sender && chunk.items.iter().any(|item| item.kind == Item::CNAME)),
        _ => false,
    };
    packets.iter().any(name)
}

fn without_reduced_size(offer: &str) -> String {
    offer.replace("a=rtcp-rsize\r\n", "")
}

#[test]
fn only_who_agreed_to_it_is_sent_rtcp_of_reduced_size() {
    let mut agreed = captured(str::to_owned);
    let feedback = datagrams(&mut agreed, false);
    assert!(feedback.iter().any(|packets| !is_compound(packets)), "feedback goes alone");
    let mut whole = captured(without_reduced_size);
    let feedback = datagrams(&mut whole, false);
    assert!(feedback.len() > 50 && feedback.iter().all(|packets| is_compound(packets)));
    let asks = |packet: &Packet| matches!(packet, Packet::Nack(_) | Packet::TransportFeedback(_));
    assert!(feedback.iter().any(|packets| packets.iter().any(asks)), "and feedback is among it");
    assert!(whole.shown.len() > 100, "{}", whole.shown.len());
}

#[test]
fn a_sender_reports_every_second_and_names_all_its_streams_alike() {
    let mut world = captured(str::to_owned);
    let reports = datagrams(&mut world, true);
    assert!((6..=8).contains(&reports.len()), "{}", reports.len());
    for packets in &reports {
        assert!(is_compound(packets), "{packets:?}");
        let Some(Packet::Sdes(sdes)) = packets.iter().find(|packet| matches!(packet, Packet::Sdes(_))) else {
            panic!()
        };
        let names: BTreeSet<_> = sdes.chunks.iter().flat_map(|chunk| &chunk.items).map(|item| &item.text).collect();
        assert_eq!((sdes.chunks.len(), names.len()), (4, 1));
    }
    let Packet::SenderReport(last) = &reports[reports.len() - 1][0] else { panic!("{reports:?}") };
    assert!(last.packets > 100 && last.payload_bytes > 10_000);
}

#[test]
fn who_receives_reports_on_every_stream_that_it_receives() {
    let mut world = captured(str::to_owned);
    let blocks = |packets: &Vec<Packet>| match packets.first() {
        Some(Packet::ReceiverReport(report)) => report.blocks.iter().map(|block| block.ssrc).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let reported: BTreeSet<u32> = datagrams(&mut world, false).iter().flat_map(blocks).collect();
    assert!(reported.contains(&100) && reported.contains(&103), "video and audio: {reported:?}");
}

#[test]
fn a_goodbye_ends_a_compound_of_either_end() {
    for leaves in [true, false] {
        let mut world = captured(str::to_owned);
        let now = world.now();
        datagrams(&mut world, leaves);
        if leaves {
            world.outgoing.close(now)
        } else {
            world.incoming.close(now)
        }
        world.run(Span::from_millis(200));
        let last = datagrams(&mut world, leaves).pop().expect("a goodbye");
        assert!(is_compound(&last), "{last:?}");
        let Some(Packet::Bye(Bye { sources, .. })) = last.last() else { panic!("{last:?}") };
        assert_eq!(sources, if leaves { &[100, 101, 102, 103][..] } else { &[200] });
    }
}

#[test]
fn packets_of_kinds_that_nobody_knows_are_passed_over_and_those_around_them_are_used() {
    let mut world = captured(str::to_owned);
    let before = world.outgoing.figures();
    let mut compound = Vec::new();
    let report = ReceiverReport { ssrc: 200, ..ReceiverReport::default() };
    rtcp::write(&[Packet::ReceiverReport(report)], &mut compound).expect("in range");
    // A packet type and a format of feedback that are not assigned, and a block of extended reports.
    compound.extend([0x80, 210, 0, 1, 0, 0, 0, 200]);
    compound.extend([0x9e, 205, 0, 2, 0, 0, 0, 200, 0, 0, 0, 100]);
    compound.extend([0x80, 207, 0, 2, 0, 0, 0, 200, 250, 0, 0, 0]);
    rtcp::write(&[Packet::Pli(Pli { sender_ssrc: 200, media_ssrc: 100 })], &mut compound).expect("in range");
    world.say(|connection| connection.send_rtcp(&compound).expect("connected"));
    let after = world.outgoing.figures();
    assert_eq!((after.keyframe_requests, after.malformed), (before.keyframe_requests + 1, before.malformed));
}

#[test]
fn a_lost_picture_and_a_full_intra_request_are_both_answered_by_a_keyframe() {
    let requests = [
        Packet::Pli(Pli { sender_ssrc: 200, media_ssrc: 100 }),
        Packet::Fir(Fir { sender_ssrc: 200, requests: vec![FirRequest { ssrc: 100, sequence: 1 }] }),
    ];
    for request in requests {
        let mut world = captured(str::to_owned);
        let keyframes = |world: &World| world.encoded.iter().filter(|frame| frame[0] & 1 == 0).count();
        let before = keyframes(&world);
        let mut datagram = Vec::new();
        rtcp::write(std::slice::from_ref(&request), &mut datagram).expect("in range");
        world.say(|connection| connection.send_rtcp(&datagram).expect("connected"));
        world.run(Span::from_secs(1));
        assert_eq!(keyframes(&world), before + 1, "{request:?}");
    }
}

#[test]
fn no_more_is_sent_than_the_peers_sdp_says_that_it_receives() {
    // `b=` stands before the attributes of a section.
    let limited = |offer: &str, kbps: u64| {
        let line = offer.lines().find(|line| line.starts_with("c=")).expect("a connection line").to_owned() + "\r\n";
        offer.replacen(&line, &format!("{line}b=AS:{kbps}\r\n"), 1)
    };
    // At 0 no media should be sent (RFC 3264 section 5.1), once the first packet has left; the connection and audio stay.
    let mut none = captured(|offer| limited(offer, 0));
    none.run(Span::from_secs(40));
    let heard = none.audio_received.len();
    assert!(none.shown.len() <= 1 && heard > 1800, "{} pictures, {heard} packets of audio", none.shown.len());
    let mut endless = captured(|offer| limited(offer, u64::MAX));
    endless.run(Span::from_secs(1));
    assert!(!endless.shown.is_empty());
    let mut world = captured(|offer| limited(offer, 300));
    assert_eq!(world.outgoing.ceiling(), Some(Rate::from_kbps(300)));
    let before = world.sent.1;
    world.run(Span::from_secs(10));
    let rate = Rate::from_bps((world.sent.1 - before).get() * 8 / 10);
    // RTCP comes on top.
    assert!((Rate::from_kbps(150)..=Rate::from_kbps(310)).contains(&rate), "{rate}");
    let now = world.now();
    world.outgoing.set_ceiling(now, Some(Rate::from_kbps(900)));
    assert_eq!(world.outgoing.ceiling(), Some(Rate::from_kbps(300)));
    world.outgoing.set_ceiling(now, Some(Rate::from_kbps(200)));
    assert_eq!(world.outgoing.ceiling(), Some(Rate::from_kbps(200)));
}
