//! FlexFEC against webrtc-rs: each side recovers packets from the other's FEC.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rtc_interceptor::{FlexFec03Decoder, FlexFec03Encoder};
use rtc_shared::marshal::{Marshal, Unmarshal};
use thalweg_wire::flexfec::{Fec, Recovery, parse, protect};
use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header, Packet};

const MEDIA: u32 = 0x1122_3344;
const FEC: u32 = 0x5566_7788;

fn theirs(bytes: &[u8]) -> rtc_rtp::Packet {
    rtc_rtp::Packet::unmarshal(&mut &bytes[..]).unwrap()
}

fn written(packet: &Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.write(&mut out).unwrap();
    out
}

/// Consecutive packets of one stream, each with an extension; realistic packet sizes would only be slower.
fn any_stream() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let packet = (any::<bool>(), any::<u32>(), prop::collection::vec(any::<u8>(), 1..60), any::<[u8; 3]>());
    (any::<u16>(), prop::collection::vec(packet, 2..40)).prop_map(|(first, packets)| {
        let packet = |(index, (marker, timestamp, payload, element)): (usize, (bool, u32, Vec<u8>, [u8; 3]))| {
            let sequence = first.wrapping_add(index as u16);
            let header = Header { marker, payload_type: 96, sequence, timestamp, ssrc: MEDIA };
            let block = ExtensionBuffer::of(&[Extension { id: 3, data: &element }]).unwrap();
            written(&Packet { extensions: Some(block.as_extensions()), ..Packet::new(header, &payload) })
        };
        packets.into_iter().enumerate().map(packet).collect()
    })
}

proptest! {
    #[test]
    fn they_recover_what_we_protect(packets in any_stream(), lost: prop::sample::Index, stride in 1usize..3) {
        let set: Vec<&[u8]> = packets.iter().step_by(stride).map(Vec::as_slice).collect();
        let payload = protect(set.iter().copied()).unwrap();
        let header = Header { marker: false, payload_type: 118, sequence: 7, timestamp: 1, ssrc: FEC };
        let fec = written(&Packet::new(header, &payload));
        let lost = lost.index(set.len());
        let mut decoder = FlexFec03Decoder::new(FEC, MEDIA);
        for (index, packet) in set.iter().enumerate() {
            if index != lost {
                prop_assert!(decoder.decode(theirs(packet)).is_empty());
            }
        }
        let recovered: Vec<Vec<u8>> =
            decoder.decode(theirs(&fec)).iter().map(|packet| packet.marshal().unwrap().to_vec()).collect();
        prop_assert_eq!(recovered, [set[lost].to_vec()]);
    }

    #[test]
    fn we_recover_what_they_protect(packets in any_stream(), lost: prop::sample::Index, fec_packets in 1u32..4) {
        let media: Vec<_> = packets.iter().map(|packet| theirs(packet)).collect();
        let mut encoder = FlexFec03Encoder::new(118, FEC);
        let repair = encoder.encode(&media, fec_packets);
        prop_assert!(!repair.is_empty());
        let lost = lost.index(packets.len());
        let number = media[lost].header.sequence_number;
        let first = media[0].header.sequence_number;
        let held = |sequence: u16| {
            (sequence != number).then(|| packets[usize::from(sequence.wrapping_sub(first))].as_slice())
        };
        let mut recovered = 0;
        for packet in repair {
            let bytes = packet.marshal().unwrap();
            let fec = parse(Packet::parse(&bytes).unwrap().payload).unwrap();
            prop_assert_eq!(fec.ssrc, MEDIA);
            let expected = if fec.mask.contains(number) {
                recovered += 1;
                Recovery::Packet(packets[lost].clone())
            } else {
                Recovery::Complete
            };
            prop_assert_eq!(fec.recover(held), Ok(expected));
        }
        prop_assert_eq!(recovered, 1, "each of theirs covers packets of its own");
    }

    #[test]
    fn what_is_lost_under_several_parities_comes_back_to_both_of_us(
        packets in any_stream(), fec_packets in 2u32..6, losses in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        let media: Vec<_> = packets.iter().map(|packet| theirs(packet)).collect();
        let first = media[0].header.sequence_number;
        let repair = FlexFec03Encoder::new(118, FEC).encode(&media, fec_packets);
        let repair: Vec<Vec<u8>> = repair.iter().map(|packet| packet.marshal().unwrap().to_vec()).collect();
        let lost: BTreeSet<usize> = losses.iter().map(|loss| loss.index(packets.len())).collect();

        let mut decoder = FlexFec03Decoder::new(FEC, MEDIA);
        let mut to_them = BTreeSet::new();
        let came = packets.iter().enumerate().filter(|(place, _)| !lost.contains(place)).map(|(_, packet)| packet);
        for packet in came.chain(&repair) {
            for made in decoder.decode(theirs(packet)) {
                to_them.insert(made.marshal().unwrap().to_vec());
            }
        }

        let mut held: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
        for (place, packet) in packets.iter().enumerate().filter(|(place, _)| !lost.contains(place)) {
            held.insert(first.wrapping_add(place as u16), packet.clone());
        }
        let mut to_us = BTreeSet::new();
        let fec_packets: Vec<Fec> =
            repair.iter().map(|bytes| parse(Packet::parse(bytes).unwrap().payload).unwrap()).collect();
        for fec in fec_packets.iter().cycle().take(fec_packets.len() * fec_packets.len()) {
            let recovery = fec.recover(|sequence| held.get(&sequence).map(Vec::as_slice));
            if let Recovery::Packet(packet) = recovery.unwrap() {
                held.insert(u16::from_be_bytes([packet[2], packet[3]]), packet.clone());
                to_us.insert(packet);
            }
        }
        prop_assert!(to_us.iter().all(|made| lost.iter().any(|place| &packets[*place] == made)));
        prop_assert_eq!(to_us, to_them);
    }
}
