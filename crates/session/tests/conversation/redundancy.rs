//! FEC in the media stream: RED and ULPFEC, for a peer without flexfec-03.

use std::sync::Arc;

use thalweg_control::fixed;
use thalweg_sender::repair;
use thalweg_sender::repair::fec::{self, Amount};
use thalweg_session::outgoing::Plain;
use thalweg_units::Size;
use thalweg_wire::red::Red;
use thalweg_wire::rtp::Packet;

use super::*;

/// A world in which `scheme` has run for 20 s with RED and without flexfec-03. The amount of padding is subject to
/// chance, also in the handshake.
fn without_flexfec(scheme: Scheme, loss: f64, change: impl Fn(&mut Capabilities)) -> World {
    played(scheme, &path(loss), 20, |receiver| {
        receiver.fec = false;
        change(receiver);
    })
}

/// The kind of an unprotected packet; `None` for padding.
fn kind(world: &World, bytes: &[u8]) -> Option<&'static str> {
    let video = world.outgoing.video();
    let packet = Packet::parse(bytes).expect("RTP");
    let types = video.redundancy;
    match packet.header.payload_type {
        _ if packet.payload.is_empty() => None,
        kind if kind == video.payload_type => Some("media"),
        kind if Some(kind) == video.fec => Some("FEC"),
        kind if Some(kind) == video.retransmission => Some("retransmission"),
        kind if Some(kind) == types.and_then(|types| types.retransmission) => Some("retransmission of RED"),
        kind if types.is_some_and(|types| types.red == kind) => {
            let red = Red::parse(packet.payload).expect("RED");
            let is_fec = types.is_some_and(|types| types.ulpfec == red.payload_type);
            assert!(red.earlier.is_empty() && (is_fec || red.payload_type == video.payload_type));
            Some(if is_fec { "FEC in RED" } else { "media in RED" })
        }
        _ => Some("another"),
    }
}

/// The unprotected RTP packets sent since the last call.
fn rtp_sent(world: &mut World) -> Vec<Vec<u8>> {
    let is_rtp = |plain: &Plain| plain.leaves && !(64..=95).contains(&(plain.bytes[1] & 0x7f));
    world.outgoing.take_plain().into_iter().filter(is_rtp).map(|plain| plain.bytes).collect()
}

/// The size of a packet on the wire: with IPv4, UDP, and the tag of AES-GCM.
fn weight(bytes: &[u8]) -> u64 {
    bytes.len() as u64 + 28 + 16
}

/// The number of packets sent since the last call: media, RED with media, RED with FEC, retransmissions of media,
/// retransmissions of RED.
fn left(world: &mut World) -> [usize; 5] {
    assert!(world.outgoing.video().redundancy.is_some());
    let sent = rtp_sent(world);
    let kinds: Vec<_> = sent.iter().filter_map(|bytes| kind(world, bytes)).collect();
    ["media", "media in RED", "FEC in RED", "retransmission", "retransmission of RED"]
        .map(|kind| kinds.iter().filter(|other| **other == kind).count())
}

#[test]
fn fec_in_red_makes_what_is_lost_whatever_kind_of_feedback_was_agreed_on() {
    for kind in [CongestionFeedback::TransportOnRequest, CongestionFeedback::PerStream, CongestionFeedback::Transport] {
        let mut world = without_flexfec(known("vidaptive+fec"), 0.03, |receiver| receiver.congestion = vec![kind]);
        assert_exact(&world);
        let statistics = world.incoming.statistics();
        assert_eq!((statistics.malformed, statistics.unknown), (0, 0), "{kind:?}");
        assert!(statistics.fec_in_red > 30 && world.shown.len() > 500, "{kind:?}: {statistics:?}");
        assert!(statistics.video.recovered > 4, "{kind:?}: {statistics:?}");
        let [media, in_red, fec, retransmissions, in_red_again] = left(&mut world);
        assert!(media == 0 && retransmissions == 0, "{kind:?}: {media} and {retransmissions} outside of RED");
        assert!(in_red > 2000 && fec > 30 && in_red_again > 0, "{kind:?}: {in_red}, {fec}, {in_red_again}");
    }
}

#[test]
fn nothing_is_taken_for_lost_on_a_clean_path_and_what_is_charged_is_what_leaves() {
    for scheme in ["vidaptive+fec", "gcc"] {
        let mut world = without_flexfec(known(scheme), 0.0, |_| {});
        assert_exact(&world);
        assert_eq!(world.outgoing.figures().nacks, 0, "{scheme}");
        let (lost, charged) = counted(&mut world);
        assert_eq!(lost, 0, "{scheme}");
        let (charged, left) =
            (charged.iter().sum::<u64>(), rtp_sent(&mut world).iter().map(|bytes| weight(bytes)).sum::<u64>());
        let share = charged as f64 / left as f64;
        assert!((1.0..1.005).contains(&share), "{scheme}: {charged} bytes charged, {left} left");
    }
}

#[test]
fn media_and_fec_weigh_to_the_byte_what_the_engine_charges_in_either_format() {
    let filled = known("vidaptive+fec");
    let mut beforehand = known("gcc");
    let fec = fec::Config { amount: Amount::Share(0.05), packets: 40, ..fec::Config::default() };
    beforehand.repair = Some(repair::Config { fec: Some(fec), ..repair::Config::default() });
    // With audio: each of the engine's packets is one on the wire. The same extensions in every packet.
    let plain = |receiver: &mut Capabilities| {
        receiver.congestion = vec![CongestionFeedback::Transport];
        (receiver.functional, receiver.playout_delay, receiver.mid) = (false, false, false);
    };
    for (scheme, flexfec) in [(&filled, true), (&filled, false), (&beforehand, true), (&beforehand, false)] {
        let mut world = without_flexfec(scheme.clone(), 0.03, |receiver| {
            plain(receiver);
            receiver.fec = flexfec;
        });
        let name = format!("{}, flexfec: {flexfec}", scheme.name);
        let ((_, charged), left) = (counted(&mut world), rtp_sent(&mut world));
        assert_eq!(charged.len(), left.len(), "{name}");
        let (mut headers, mut media) = (BTreeSet::new(), 0);
        for (charged, bytes) in charged.into_iter().zip(&left) {
            match kind(&world, bytes) {
                Some("media" | "media in RED") => media += 1,
                Some("FEC" | "FEC in RED") => {
                    let payload = Packet::parse(bytes).expect("RTP").payload;
                    headers.insert(if flexfec { payload[18] >> 7 == 1 } else { payload[1] & 0x40 != 0 });
                }
                _ => continue,
            }
            assert_eq!(charged, weight(bytes), "{name}: {:?}", kind(&world, bytes));
        }
        assert!(media > 500, "{name}: {media}");
        if scheme.name == "gcc" {
            assert_eq!(headers, BTreeSet::from([false, true]), "{name}: masks of both lengths");
        }
    }
}

#[test]
fn a_scheme_without_fec_sends_media_as_it_is_and_a_change_of_schemes_changes_that() {
    let mut world = without_flexfec(known("gcc"), 0.02, |_| {});
    let [media, in_red, fec, retransmissions, in_red_again] = left(&mut world);
    assert!(media > 300 && retransmissions > 5, "{media}, {retransmissions}");
    assert_eq!((in_red, fec, in_red_again), (0, 0, 0));
    let now = world.now();
    world.outgoing.change_scheme(now, Arc::new(known("vidaptive+fec"))).expect("a good scheme");
    world.run(Span::from_secs(20));
    let [media, in_red, fec, ..] = left(&mut world);
    assert!(in_red > 2000 && fec > 20, "{in_red}, {fec}");
    assert!(media < 5, "{media}");
    assert_exact(&world);
    assert!(world.incoming.statistics().video.recovered > 0);
}

#[test]
fn fec_sent_unasked_recovers_and_no_number_of_it_is_retransmitted() {
    let fec = fec::Config { amount: Amount::Share(0.2), ..fec::Config::default() };
    let mut scheme = known("gcc");
    scheme.repair = Some(repair::Config { fec: Some(fec), ..repair::Config::default() });
    let world = without_flexfec(scheme, 0.03, |_| {});
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.video.recovered > 50 && world.shown.len() > 500, "{statistics:?}");
    assert_eq!((statistics.malformed, statistics.unknown), (0, 0));
}

#[test]
fn without_retransmissions_of_red_media_is_retransmitted_outside_of_it_and_without_any_fec_fills() {
    let receiver = Capabilities { fec: false, ..Capabilities::all(Direction::ReceiveOnly) };
    let no_red_rtx = |offer: &str| offer.replace("a=rtpmap:120 rtx/90000\r\n", "");
    let config = Config::default();
    let mut world = World::with(known("vidaptive+fec"), &path(0.03), &receiver, no_red_rtx, config);
    world.outgoing.capture();
    world.run(Span::from_secs(20));
    assert_exact(&world);
    let [media, in_red, fec, retransmissions, in_red_again] = left(&mut world);
    assert!(in_red > 2000 && fec > 20 && retransmissions > 0, "{in_red}, {fec}, {retransmissions}");
    assert_eq!((media, in_red_again), (0, 0));
    // Losses are other ones each time: of some two hundred fifteen to forty are made by FEC.
    let world = without_flexfec(known("vidaptive+fec"), 0.03, |receiver| receiver.retransmission = false);
    assert_exact(&world);
    let statistics = world.incoming.statistics();
    assert!(statistics.video.recovered > 0 && statistics.video.retransmitted == 0, "{statistics:?}");
}

#[test]
fn h264_whose_frames_are_not_numbered_leaves_as_it_is_where_retransmissions_mend_it() {
    let world = without_flexfec(known("vidaptive+fec"), 0.0, |receiver| receiver.video = vec![VideoCodec::H264]);
    assert!(world.outgoing.video().redundancy.is_some());
    let fitted = world.outgoing.fitted_scheme().expect("a good scheme");
    let fitted = fitted.as_scheme().expect("a scheme of this project");
    assert!(fitted.padding_content.is_none() && world.incoming.statistics().fec_in_red == 0, "{fitted:?}");
}

#[test]
fn a_sender_of_another_program_is_fitted_to_the_path_as_a_scheme_is() {
    let world = without_flexfec(known("gcc"), 0.0, |_| {});
    let gcc = world.outgoing.fitted_scheme().expect("a good scheme");
    let mut world = world;
    let mine = known("gcc").with_controller("mine", || fixed::Fixed::new(fixed::Config::default()));
    world.outgoing.change_scheme(world.now(), Arc::new(mine)).expect("a good scheme");
    let mine = world.outgoing.fitted_scheme().expect("a good scheme");
    assert!(mine.name() == "mine" && mine.as_scheme().is_none());
    let sizes = |scheme: &dyn SenderFactory| scheme.parts(Size::HD).expect("a good scheme").packets;
    assert_eq!(sizes(&*mine), sizes(&*gcc));
    assert_ne!(sizes(&*mine), sizes(&known("gcc")));
}
