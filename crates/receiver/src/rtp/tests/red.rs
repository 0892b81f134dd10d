//! Packets of a browser when nothing better was negotiated: media in RED, with ULPFEC among it.

use super::*;
use crate::rtp::red::open;
use thalweg_units::Seed;
use thalweg_wire::red::{Earlier, Red};
use thalweg_wire::rtp::blank_extensions;
use thalweg_wire::ulpfec;

const RED: u8 = 116;
const ULPFEC: u8 = 117;
const RED_RTX: u8 = 118;
pub(super) const REDUNDANCY: Redundancy = Redundancy { red: RED, ulpfec: ULPFEC, retransmission: Some(RED_RTX) };

fn reception() -> Reception {
    Reception::new(Config { redundancy: Some(REDUNDANCY), ..config() }).unwrap()
}

fn written(red: &Red<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    red.write(&mut out).unwrap();
    out
}

/// A packet with its payload in RED after these blocks.
fn in_red(packet: &[u8], earlier: &[Earlier<'_>]) -> Vec<u8> {
    let mut rtp = Packet::parse(packet).unwrap();
    let payload_type = std::mem::replace(&mut rtp.header.payload_type, RED);
    let payload = written(&Red { earlier: earlier.to_vec(), payload_type, payload: rtp.payload });
    let mut out = Vec::new();
    Packet { payload: &payload, ..rtp }.write(&mut out).unwrap();
    out
}

/// XOR as libwebrtc computes it: over packets before they are put into RED, with extensions that are written last as
/// zeros.
fn sum(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut blanked = packets.to_vec();
    blanked.iter_mut().for_each(|packet| blank_extensions(packet, &[3]).unwrap());
    ulpfec::protect(blanked.iter().map(Vec::as_slice)).unwrap()
}

impl Sender {
    /// A packet of the media stream that carries only this FEC in RED.
    fn fec(&mut self, timestamp: u32, payload: &[u8]) -> Vec<u8> {
        let header = Header { payload_type: RED, ..self.header(false, timestamp) };
        self.packet(header, &written(&Red::alone(ULPFEC, payload)), 0, &[])
    }
}

#[test]
fn fec_among_the_media_makes_what_is_missing_and_leaves_no_hole() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let data = picture(true, 1, 350);
    let packets = sender.frame(0, &data);
    let fec = sender.fec(0, &sum(&packets));
    let next = picture(false, 2, 50);
    let following = sender.frame(3000, &next);
    let red: Vec<Vec<u8>> = packets.iter().map(|packet| in_red(packet, &[])).collect();
    let outputs = give(&mut reception, 0, [&red[0], &red[2], &red[3], &fec]);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.recovered, frame.keyframe), (&data, 1, true));
    let outputs =
        give(&mut reception, 33, following.iter().map(|packet| in_red(packet, &[])).collect::<Vec<_>>().iter());
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.recovered), (&next, 0));
    assert_eq!(requests(&outputs).0, [], "what FEC took of the numbers is not missing");
    let statistics = reception.statistics();
    assert_eq!((statistics.fec_in_red, statistics.video.recovered, statistics.malformed), (1, 1, 0));
}

#[test]
fn fec_that_is_lost_keeps_no_picture_waiting() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let mut shown = 0;
    for step in 0..6 {
        let data = picture(step == 0, step as u8, 250);
        let packets = sender.frame(3000 * step, &data);
        let red: Vec<Vec<u8>> = packets.iter().map(|packet| in_red(packet, &[])).collect();
        shown += frames(&give(&mut reception, 33 * u64::from(step), &red)).len();
        // It is lost, and so is the FEC packet that could replace it.
        sender.fec(3000 * step, &sum(&packets));
    }
    assert_eq!((shown, reception.statistics().video.keyframes_requested), (6, 0));
    // A missing picture is still waited for.
    sender.frame(18_000, &picture(false, 6, 250));
    let next = sender.frame(21_000, &picture(false, 7, 250));
    let next: Vec<Vec<u8>> = next.iter().map(|packet| in_red(packet, &[])).collect();
    assert_eq!(frames(&give(&mut reception, 231, &next)).len(), 0);
}

#[test]
fn fec_may_stand_before_media_in_one_packet_and_media_outside_of_red() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let data = picture(true, 1, 350);
    let packets = sender.frame(0, &data);
    let (sum, next) = (sum(&packets), sender.frame(3000, &picture(false, 2, 50)));
    let carrier = in_red(&next[0], &[Earlier { payload_type: ULPFEC, timestamp_offset: 3000, payload: &sum }]);
    let outputs = give(&mut reception, 0, [&packets[0], &in_red(&packets[1], &[]), &packets[3], &carrier]);
    let shown = frames(&outputs);
    assert_eq!(shown.iter().map(|frame| frame.recovered).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(shown[0].data, data);
}

#[test]
fn a_retransmission_in_red_is_the_packet_it_retransmissions() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let data = picture(true, 1, 250);
    let packets = sender.frame(0, &data);
    let red: Vec<Vec<u8>> = packets.iter().map(|packet| in_red(packet, &[])).collect();
    let outputs = give(&mut reception, 0, [&red[0], &red[2]]);
    assert_eq!(requests(&outputs).0, [65_501]);
    let mut retransmission = sender.retransmission(&red[1]);
    retransmission[1] = retransmission[1] & 0x80 | RED_RTX;
    let outputs = give(&mut reception, 20, [&retransmission]);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.retransmitted), (&data, 1));
}

/// The frames delivered when packet 1 of four is missing and this is the FEC.
fn with_fec(payload: &[u8]) -> Vec<VideoFrame> {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let packets = sender.frame(90_000, &picture(true, 1, 350));
    let fec = sender.fec(90_000, payload);
    let red: Vec<Vec<u8>> = packets.iter().map(|packet| in_red(packet, &[])).collect();
    let outputs = give(&mut reception, 0, [&red[0], &red[2], &red[3], &fec]);
    frames(&outputs).into_iter().cloned().collect()
}

#[test]
fn a_corrupt_fec_makes_no_frame_or_one_that_says_it_was_made() {
    let data = picture(true, 1, 350);
    let good = sum(&Sender::new().frame(90_000, &data));
    assert_eq!(with_fec(&good)[0].data, data);
    // Type, number, timestamp, length, protection length and mask: 2 to 13, and the first byte's P, X and CC.
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut corrupt = good.clone();
            corrupt[at] ^= 1 << bit;
            for frame in with_fec(&corrupt) {
                assert!(frame.data == data || frame.recovered == 1, "byte {at}, bit {bit}");
                // The marker of a packet in the middle does not matter.
                let is_found_out = (1..12).contains(&at) && (at, bit) != (1, 7);
                assert!(frame.data == data || !is_found_out, "byte {at}, bit {bit}: {} bytes", frame.data.len());
                assert_eq!(frame.timestamp, (1 << 32) + 90_000);
            }
        }
    }
}

#[test]
fn forged_fec_shows_nothing_that_does_not_say_it_was_made() {
    let mut random = Seed::new(5).child("forged red").random();
    let (mut reception, mut sender) = (reception(), Sender::new());
    let mut shown = 0;
    for step in 0..4_000u32 {
        let data = picture(step % 50 == 0, step as u8 >> 1, 150);
        let mut packets: Vec<Vec<u8>> =
            sender.frame(step * 3000, &data).iter().map(|packet| in_red(packet, &[])).collect();
        let mut payload = sum(&sender_like(&packets));
        for _ in 0..1 + random.below(4) {
            let place = random.below(payload.len() as u64) as usize;
            payload[place] = random.bits() as u8;
        }
        packets.push(sender.fec(step * 3000, &payload));
        packets.remove(random.below(8).min(packets.len() as u64 - 1) as usize);
        if random.chance(0.1) {
            let place = random.below(packets[0].len() as u64 - 12) as usize + 12;
            packets[0].truncate(place);
        }
        for frame in frames(&give(&mut reception, u64::from(step) * 33, &packets)) {
            shown += 1;
            let tag = frame.data[0] >> 1;
            let is_whole = frame.data == picture(frame.keyframe, tag, 150);
            assert!(is_whole || frame.recovered > 0 || frame.data.len() < 150, "{frame:?}");
        }
    }
    assert!(shown > 50, "{shown}");
}

/// Packets as they were before RED.
fn sender_like(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let without = |packet: &Vec<u8>| {
        let rtp = Packet::parse(packet).unwrap();
        let media = open(REDUNDANCY, VIDEO, rtp.payload).unwrap().media.unwrap();
        crate::rtp::red::without_red(&rtp, packet, VIDEO, media)
    };
    packets.iter().map(without).collect()
}
