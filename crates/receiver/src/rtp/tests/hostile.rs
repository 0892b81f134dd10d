//! Input that no honest sender produces.

use super::*;
use proptest::prelude::*;
use thalweg_types::StatefulReceiver;
use thalweg_units::{Ecn, Random, Seed};

/// A packet of one of our streams, with random content.
fn forged(random: &mut Random) -> Vec<u8> {
    let (payload_type, ssrc) = match random.below(5) {
        0 => (VIDEO, MEDIA_SSRC),
        1 => (RTX, RTX_SSRC),
        2 => (AUDIO, AUDIO_SSRC),
        3 => (VIDEO, MEDIA_SSRC),
        _ => (random.below(128) as u8, random.bits() as u32),
    };
    // Small steps, and jumps.
    let number =
        |random: &mut Random| (random.bits() >> [48, 52, 60][random.below(3) as usize] << random.below(3)) as u16;
    let header = Header {
        marker: random.chance(0.5),
        payload_type,
        sequence: number(random),
        timestamp: (random.bits() >> [32, 62][random.below(2) as usize]) as u32,
        ssrc,
    };
    let mut payload: Vec<u8> = (0..random.below(40)).map(|_| random.bits() as u8).collect();
    if payload_type == RTX && payload.len() > 2 {
        payload[..2].copy_from_slice(&number(random).to_be_bytes());
    }
    if let Some(first) = payload.get_mut(if payload_type == RTX { 2 } else { 0 }).filter(|_| random.chance(0.7)) {
        *first = [0x10, 0x00][random.below(2) as usize];
    }
    let data: Vec<Vec<u8>> =
        [4, 11, 16].map(|length| (0..length).map(|_| (random.bits() >> random.below(64)) as u8).collect()).into();
    let elements: Vec<Extension<'_>> =
        (3..6).zip(&data).filter(|_| random.chance(0.6)).map(|(id, data)| Extension { id, data }).collect();
    let block = ExtensionBuffer::of(&elements).unwrap();
    let mut out = Vec::new();
    let padding = if random.chance(0.1) { random.below(256) as u8 } else { 0 };
    let packet = Packet { extensions: Some(block.as_extensions()), padding, ..Packet::new(header, &payload) };
    packet.write(&mut out).unwrap();
    out
}

#[test]
fn forged_packets_take_bounded_memory_and_ask_for_little() {
    let styles = [
        config(),
        with_video(|video| video.feedback.congestion = true),
        with_video(|video| (video.ssrcs, video.extensions.transport_on_request) = (Ssrcs::default(), true)),
        with_video(|video| video.stateful = Some(StatefulReceiver::default())),
    ];
    for (style, config) in styles.into_iter().enumerate() {
        let mut random = Seed::new(style as u64).child("forged").random();
        let mut reception = Reception::new(config).unwrap();
        let mut keyframes = 0;
        for step in 0..20_000u64 {
            let packet = forged(&mut random);
            let outputs = give(&mut reception, step / 10, [&packet]);
            // Jumps of half the number range are reported packet by packet, within the size of 32768 of them.
            let reported: usize =
                outputs.iter().map(|output| if let Output::Rtcp(bytes) = output { bytes.len() } else { 0 }).sum();
            assert!(reported < 300_000, "style {style}: {reported} bytes");
            keyframes += rtcp(&outputs).iter().filter(|packet| matches!(packet, Rtcp::Pli(_))).count();
        }
        assert!(keyframes <= 11, "style {style}: {keyframes} keyframes asked for in 2 s");
        let statistics = reception.statistics();
        println!("style {style}: {statistics:?}");
    }
}

#[test]
fn a_flood_of_frames_without_a_keyframe_is_given_up_within_bounds() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let mut abandoned = 0;
    for index in 0..3000 {
        let packets = sender.frame(index * 3000, &picture(false, 1, 60));
        for output in give(&mut reception, 33 * u64::from(index), &packets) {
            abandoned += if let Output::Abandoned(frames) = output { frames } else { 0 };
        }
    }
    // 801 at a time.
    assert_eq!((abandoned, reception.statistics().video.abandoned), (2403, 2403));
    let data = picture(true, 1, 60);
    let outputs = give(&mut reception, 100_000, &sender.frame(9_000_001, &data));
    assert_eq!(frames(&outputs).iter().map(|frame| &frame.data).collect::<Vec<_>>(), [&data]);
}

#[test]
fn a_retransmission_of_what_was_never_sent_makes_no_room_for_itself() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let packet = sender.frame(0, &picture(true, 1, 10)).remove(0);
    // Before the first media packet there is nothing to retransmit.
    assert!(frames(&give(&mut reception, 0, [&sender.retransmission(&packet)])).is_empty());
    assert_eq!(frames(&give(&mut reception, 1, [&packet])).len(), 1);
    // Far ahead of all other packets.
    sender.sequence = sender.sequence.wrapping_add(20_000);
    let ahead = sender.frame(0, &picture(true, 2, 10)).remove(0);
    assert!(frames(&give(&mut reception, 2, [&sender.retransmission(&ahead)])).is_empty());
    sender.sequence = 65_501;
    assert_eq!(frames(&give(&mut reception, 3, &sender.frame(3000, &picture(false, 3, 10)))).len(), 1);
}

#[test]
fn a_configuration_that_cannot_be_is_refused_with_what_to_do() {
    let wrong = [
        (Config { cname: String::new(), ..config() }, "1 to 255 bytes"),
        (Config { report_interval: thalweg_units::Span::ZERO, ..config() }, "above 0ms"),
        (with_video(|video| video.payload_type = 128), "0 to 127"),
        (with_video(|video| video.fec = Some(AUDIO)), "no two alike"),
        (with_video(|video| video.ssrcs.media = Some(OURS)), "no two alike"),
        (
            Config { redundancy: Some(Redundancy { red: VIDEO, ulpfec: 117, retransmission: None }), ..config() },
            "alike",
        ),
        (Config { redundancy: Some(super::red::REDUNDANCY), video: None, ..config() }, "leave redundancy out"),
        (
            Config {
                redundancy: Some(super::red::REDUNDANCY),
                ..with_video(|video| (video.retransmission, video.ssrcs.retransmission) = (None, None))
            },
            "with retransmissions",
        ),
        (
            with_video(|video| {
                video.extensions.grace = None;
                video.stateful = Some(StatefulReceiver::default());
            }),
            "leave stateful out",
        ),
    ];
    for (config, says) in wrong {
        let message = Reception::new(config).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(packets in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..60)), 0..30)) {
        let mut reception = Reception::new(config()).unwrap();
        for (index, (is_rtcp, bytes)) in packets.iter().enumerate() {
            if *is_rtcp {
                reception.on_rtcp(at(index as u64), bytes);
            } else {
                reception.on_rtp(at(index as u64), Ecn::NotCapable, bytes);
                reception.on_recovered(at(index as u64), bytes);
            }
            prop_assert!(frames(&drain(&mut reception)).is_empty());
        }
    }
}
