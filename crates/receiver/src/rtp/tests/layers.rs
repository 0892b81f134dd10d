//! Frames in temporal layers, some of which are lost.

use super::*;
use thalweg_units::{Random, Seed};
use thalweg_wire::rtp::dependency::{DependencyDescriptor, Structure};
use thalweg_wire::vp9;

/// For the pattern of four pictures per group in three layers: the layer of the frame at a place, and the distance of
/// its reference.
fn place(number: u32) -> (u8, u32) {
    match number % 4 {
        0 => (0, 4),
        2 => (1, 2),
        _ => (2, 1),
    }
}

/// TL0PICIDX, TID and Y.
fn vp8(number: u32) -> Descriptor {
    let layer = place(number).0;
    let base_only = number == 0 || layer > 0 && number % 4 != 3;
    Descriptor {
        base_layer_index: Some((number / 4) as u8),
        temporal_layer: Some((layer, base_only)),
        ..Descriptor::default()
    }
}

fn header(sequence: u32, timestamp: u32) -> Header {
    Header { marker: true, payload_type: VIDEO, sequence: sequence as u16, timestamp, ssrc: MEDIA_SSRC }
}

/// Random legal subsets: which frames are decodable, and which of these arrive.
struct Losses {
    random: Random,
    came: Vec<bool>,
}

impl Losses {
    fn new() -> Losses {
        Losses { random: Seed::new(3).random(), came: Vec::new() }
    }

    fn next(&mut self, number: u32) -> bool {
        let (layer, back) = place(number);
        let decodable = number == 0 || self.came[(number - back) as usize];
        let comes = decodable && !(layer > 0 && self.random.chance(0.3));
        self.came.push(comes);
        comes
    }
}

/// The numbers of the delivered frames; each has its number in its second to fifth byte.
fn numbers(outputs: &[Output]) -> Vec<u32> {
    frames(outputs)
        .iter()
        .map(|frame| u32::from_be_bytes([frame.data[1], frame.data[2], frame.data[3], frame.data[4]]))
        .collect()
}

fn data(first: u8, number: u32) -> Vec<u8> {
    [&[first][..], &number.to_be_bytes(), &[9; 200]].concat()
}

#[test]
fn the_base_comes_out_whatever_is_missing_of_the_layers_above() {
    let (mut reception, mut sender, mut losses) = (Reception::new(config()).unwrap(), Sender::new(), Losses::new());
    let mut came = Vec::new();
    let mut out = Vec::new();
    for number in 0..4_000 {
        let first = u8::from(number > 0);
        let packets = sender.frame_described(3000 * number, &data(first, number), vp8(number), |_, _| Vec::new());
        if losses.next(number) {
            came.push(number);
            out.extend(numbers(&give(&mut reception, 33 * u64::from(number), &packets)));
        }
    }
    // From layers alone it is unknown whether the missing frame is the reference of an odd frame after one of layer 1.
    let certain = |number: &u32| number % 4 != 3 || losses.came[*number as usize - 2];
    let expected: Vec<u32> = came.into_iter().filter(certain).collect();
    assert!(expected.len() > 2_500 && out == expected, "{} of {}", out.len(), expected.len());
    assert_eq!(reception.statistics().video.keyframes_requested, 0);
}

#[test]
fn every_legal_subset_of_vp9_comes_out_because_frames_say_what_they_refer_to() {
    let config = with_video(|video| video.codec = Codec::Vp9);
    let (mut reception, mut losses) = (Reception::new(config).unwrap(), Losses::new());
    let (mut came, mut out) = (Vec::new(), Vec::new());
    let mut sequence = 0;
    for number in 0..40_000u32 {
        let (layer, back) = place(number);
        let references = if number == 0 { Vec::new() } else { vec![back as u8] };
        let descriptor = |start| vp9::Descriptor {
            picture_id: Some(PictureId::Long((number & 0x7fff) as u16)),
            inter_predicted: number > 0,
            layer: Some(vp9::Layer { temporal: layer, switching_point: true, ..Default::default() }),
            mode: vp9::Mode::Flexible { references: references.clone() },
            frame_start: start,
            frame_end: !start,
            ..Default::default()
        };
        // Frame marker, profile 0, then whether it is a keyframe (VP9 bitstream section 6.2).
        let frame = data(if number == 0 { 0x80 } else { 0x84 }, number);
        let packets = [(true, &frame[..100]), (false, &frame[100..])].map(|(start, part)| {
            let mut payload = Vec::new();
            descriptor(start).write(&mut payload).unwrap();
            payload.extend_from_slice(part);
            let mut packet = Vec::new();
            let header = Header { marker: !start, ..header(sequence, 3000 * number) };
            sequence += 1;
            Packet::new(header, &payload).write(&mut packet).unwrap();
            packet
        });
        if losses.next(number) {
            came.push(number);
            out.extend(numbers(&give(&mut reception, 33 * u64::from(number), &packets)));
        }
    }
    assert!(came.len() > 20_000 && out == came, "{} of {}", out.len(), came.len());
}

#[test]
fn without_a_frame_of_the_base_nothing_goes_on_until_it_is_retransmitted() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let mut packets = (0..12).map(|number| {
        sender.frame_described(3000 * number, &data(u8::from(number > 0), number), vp8(number), |_, _| Vec::new())
    });
    let packets: Vec<Vec<Vec<u8>>> = packets.by_ref().collect();
    let mut out = Vec::new();
    for (number, packets) in packets.iter().enumerate().filter(|(number, _)| *number != 4) {
        out.extend(numbers(&give(&mut reception, 33 * number as u64, packets)));
    }
    assert_eq!(out, [0, 1, 2, 3]);
    let retransmissions: Vec<Vec<u8>> = packets[4].iter().map(|packet| sender.retransmission(packet)).collect();
    assert_eq!(numbers(&give(&mut reception, 420, &retransmissions)), [4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn with_dependency_descriptors_every_legal_subset_of_vp8_comes_out_too() {
    let config = with_video(|video| video.extensions.dependencies = Some(9));
    let (mut reception, mut sender, mut losses) = (Reception::new(config).unwrap(), Sender::new(), Losses::new());
    let structure = Structure::hierarchical(3).unwrap();
    let (mut came, mut out) = (Vec::new(), Vec::new());
    for number in 0..70_000u32 {
        let template = match number % 4 {
            _ if number == 0 => 0,
            0 => 1,
            2 => 2,
            1 => 3,
            _ => 4,
        };
        let said = |index: u16, count: u16| {
            let new = (number == 0 && index == 0).then(|| structure.clone());
            let descriptor = DependencyDescriptor {
                starts: index == 0,
                ends: index + 1 == count,
                structure: new,
                ..DependencyDescriptor::new(template, number as u16)
            };
            vec![(9, descriptor.to_bytes(Some(&structure)).unwrap())]
        };
        let first = u8::from(number > 0);
        let packets = sender.frame_described(3000 * (number % 1000), &data(first, number), vp8(number), said);
        if losses.next(number) {
            came.push(number);
            out.extend(numbers(&give(&mut reception, 33 * u64::from(number), &packets)));
        }
    }
    assert!(came.len() > 40_000 && out == came, "{} of {}", out.len(), came.len());
}
