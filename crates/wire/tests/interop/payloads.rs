//! Payloads of H.264, VP9 and AV1 against webrtc-rs: each side reassembles the other's packets.

use bytes::Bytes as TheirBytes;
use proptest::prelude::*;
use rtc_rtp::codec::av1::{Av1Depacketizer, Av1Payloader};
use rtc_rtp::codec::{h264::H264Packet, h264::H264Payloader, vp9::Vp9Packet, vp9::Vp9Payloader};
use rtc_rtp::packetizer::{Depacketizer, Payloader};
use thalweg_units::{Bytes, Size};
use thalweg_wire::{av1, h264, vp9};

/// An access unit of NAL units that webrtc-rs neither drops nor delays: slices and SEI of three bytes or more, without
/// anything that looks like a start code.
fn any_access_unit() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![Just(1u8), Just(5), Just(6)];
    let unit = (0u8..4, kind, prop_oneof![2usize..40, 1000usize..3000], 2u8..=255);
    prop::collection::vec(unit, 1..6).prop_map(|units| {
        let bytes = |(importance, kind, length, fill): (u8, u8, usize, u8)| {
            [&[0, 0, 0, 1, importance << 5 | kind][..], &vec![fill; length]].concat()
        };
        units.into_iter().flat_map(bytes).collect()
    })
}

/// A temporal unit of up to five OBUs with their sizes: a sequence header or none, then frames, tile groups and metadata.
fn any_temporal_unit() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![Just(3u8), Just(4), Just(5), Just(6)];
    let obu = (kind, prop_oneof![1usize..40, 1000usize..3000], any::<u8>());
    (any::<bool>(), prop::collection::vec(obu, 1..5)).prop_map(|(begins, obus)| {
        let sequence = begins.then_some([0x0a, 3, 0, 1, 2]);
        let bytes = |(kind, length, fill): (u8, usize, u8)| {
            [&[kind << 3 | 2, length as u8 | 0x80, (length >> 7) as u8][..], &vec![fill; length]].concat()
        };
        sequence.into_iter().flatten().chain(obus.into_iter().flat_map(bytes)).collect()
    })
}

/// Descriptors that webrtc-rs also parses: with at most five spatial layers, and at most two references where RFC 9628
/// allows three.
fn any_descriptor() -> impl Strategy<Value = vp9::Descriptor> {
    let layer = prop::option::of((0u8..8, any::<bool>(), 0u8..5, any::<bool>()));
    let picture = (1u8..3, any::<bool>(), prop::collection::vec(any::<u8>(), 0..4)).prop_map(
        |(temporal, switching_point, references)| vp9::GroupPicture { temporal, switching_point, references },
    );
    let structure = prop::option::of((1u8..=5, any::<bool>(), prop::collection::vec(picture, 0..5)));
    (0u16..32_768, any::<[bool; 5]>(), layer, any::<u8>(), prop::collection::vec(0u8..128, 1..3), structure).prop_map(
        |(
            id,
            [inter_predicted, frame_start, frame_end, not_for_higher_layers, flexible],
            layer,
            index,
            references,
            structure,
        )| {
            let layer = layer.map(|(temporal, switching_point, spatial, inter_layer)| vp9::Layer {
                temporal,
                switching_point,
                spatial,
                inter_layer,
            });
            let structure = structure.map(|(spatial_layers, sized, group)| {
                let size = |layer| Size::new(320u16 << layer, 180u16 << layer);
                let sizes = sized.then(|| (0..spatial_layers).map(size).collect());
                vp9::Structure { spatial_layers, sizes, group: (!group.is_empty()).then_some(group) }
            });
            let mode = if flexible {
                vp9::Mode::Flexible { references: if inter_predicted { references } else { Vec::new() } }
            } else {
                vp9::Mode::Fixed { base_layer_index: layer.map(|_| index) }
            };
            vp9::Descriptor {
                picture_id: Some(vp9::PictureId::Long(id)),
                inter_predicted,
                layer,
                mode,
                frame_start,
                frame_end,
                structure,
                not_for_higher_layers,
            }
        },
    )
}

proptest! {
    #[test]
    fn they_put_our_h264_together_and_we_theirs(access_unit in any_access_unit(), limit in 50u64..1300) {
        let mut reader = H264Packet::default();
        let mut read = Vec::new();
        for fragment in h264::fragments(&access_unit, Bytes::new(limit)).unwrap() {
            let mut payload = Vec::new();
            fragment.payload.write(&mut payload).unwrap();
            read.extend_from_slice(&reader.depacketize(&TheirBytes::from(payload)).unwrap());
        }
        prop_assert_eq!(&read, &access_unit);

        let payloads = H264Payloader::default().payload(limit as usize, &TheirBytes::from(access_unit.clone())).unwrap();
        prop_assert_eq!(h264::assemble(payloads.iter().map(|payload| &payload[..])), Ok(access_unit));
    }

    #[test]
    fn vp9_descriptors_mean_the_same(descriptor in any_descriptor(), data in prop::collection::vec(any::<u8>(), 1..20)) {
        let mut bytes = Vec::new();
        descriptor.write(&mut bytes).unwrap();
        bytes.extend_from_slice(&data);
        let mut other = Vp9Packet::default();
        prop_assert_eq!(&other.depacketize(&TheirBytes::from(bytes)).unwrap()[..], &data[..]);

        let vp9::Descriptor { picture_id, inter_predicted, layer, mode, .. } = &descriptor;
        let flags = (other.p, other.b, other.e, other.z, other.v);
        let ours = (descriptor.frame_start, descriptor.frame_end, descriptor.not_for_higher_layers);
        prop_assert_eq!(flags, (*inter_predicted, ours.0, ours.1, ours.2, descriptor.structure.is_some()));
        prop_assert_eq!(Some(vp9::PictureId::Long(other.picture_id)), *picture_id);
        let (temporal, spatial) = (other.tid, other.sid);
        let their_layer = vp9::Layer { temporal, switching_point: other.u, spatial, inter_layer: other.d };
        prop_assert_eq!(other.l.then_some(their_layer), *layer);
        let their_mode = if other.f {
            vp9::Mode::Flexible { references: other.pdiff.clone() }
        } else {
            vp9::Mode::Fixed { base_layer_index: other.l.then_some(other.tl0picidx) }
        };
        prop_assert_eq!(&their_mode, mode);
        if let Some(structure) = &descriptor.structure {
            prop_assert_eq!(other.ns + 1, structure.spatial_layers);
            let sizes = other.width.iter().zip(&other.height).map(|(width, height)| Size::new(*width, *height)).collect();
            prop_assert_eq!(other.y.then_some(sizes), structure.sizes.clone());
            let picture = |at: usize| vp9::GroupPicture {
                temporal: other.pgtid[at],
                switching_point: other.pgu[at],
                references: other.pgpdiff[at].clone(),
            };
            let group = other.g.then(|| (0..usize::from(other.ng)).map(picture).collect());
            prop_assert_eq!(group, structure.group.clone());
        }
    }

    #[test]
    fn we_put_their_vp9_together(frame in prop::collection::vec(any::<u8>(), 1..5000), limit in 4usize..1300) {
        let payloads = Vp9Payloader::default().payload(limit, &TheirBytes::from(frame.clone())).unwrap();
        prop_assert_eq!(vp9::assemble(payloads.iter().map(|payload| &payload[..])), Ok(frame));
    }
    #[test]
    fn they_put_our_av1_together_and_we_theirs(unit in any_temporal_unit(), limit in 50u64..1300) {
        let mut reader = Av1Depacketizer::default();
        let mut read = vec![0x12, 0];
        let payloads = av1::fragments(&unit, Bytes::new(limit)).unwrap();
        for payload in &payloads {
            read.extend_from_slice(&reader.depacketize(&TheirBytes::from(payload.clone())).unwrap());
        }
        // Sizes are written in as few bytes as possible, by both.
        let ours = av1::assemble(payloads.iter().map(|payload| &payload[..]));
        prop_assert_eq!(&ours, &Ok(read));

        let payloads = Av1Payloader::default().payload(limit as usize, &TheirBytes::from(unit)).unwrap();
        prop_assert_eq!(av1::assemble(payloads.iter().map(|payload| &payload[..])), ours);
    }
}
