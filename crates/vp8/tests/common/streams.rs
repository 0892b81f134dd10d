//! Random streams: every field of every header, every mode and vector.
#![allow(dead_code)] // Each test uses some of it.

use proptest::prelude::*;
use thalweg_vp8::Size;
use thalweg_vp8::syntax::header::{
    CoefficientUpdates, DeltaUpdates, FilterHeader, InterHeader, KeyHeader, QuantizerHeader, ReferenceUpdate,
    SegmentUpdates, SegmentationHeader, VectorUpdates,
};
use thalweg_vp8::syntax::{
    BlockMode, Coefficients, Frame, FrameHeader, FrameKind, IntraModes, LumaMode, Macroblock, MacroblockModes, Motion,
    MotionVector, PartMode, Partitions, Prediction, Reference, SignBias, Split, SplitLayout, SubblockMode,
};

/// The size of the streams' pictures, not a multiple of a macroblock.
pub fn size() -> Size {
    Size::new(70, 40).unwrap()
}

/// A key frame and some others.
pub fn any_stream() -> impl Strategy<Value = Vec<Frame>> {
    let key = any_frame(any_header(FrameKind::Key(KeyHeader::new(size()))));
    let inter = any_frame(any_inter().prop_flat_map(any_header));
    (key, prop::collection::vec(inter, 1..5)).prop_map(|(key, inter)| {
        let mut frames = vec![key];
        frames.extend(inter);
        frames
    })
}

fn any_frame(header: impl Strategy<Value = FrameHeader>) -> impl Strategy<Value = Frame> {
    let macroblocks =
        prop::collection::vec((any_prediction(), any_levels(), 0u8..4, any::<bool>()), size().macroblocks());
    (header, any_intra(), macroblocks).prop_map(|(header, intra, macroblocks)| {
        let has_map = header.segmentation.is_some_and(|segmentation| segmentation.map.is_some());
        let macroblocks = macroblocks
            .into_iter()
            .map(|(prediction, mut levels, segment, is_skipped)| {
                let is_intra = matches!(prediction, Prediction::Intra(_));
                let prediction = if header.kind.is_key() && !is_intra { intra } else { prediction };
                let is_skipped = is_skipped && header.skip.is_some();
                fit(&mut levels, prediction.has_y2());
                let modes = MacroblockModes { segment: has_map.then_some(segment), is_skipped, prediction };
                Macroblock { modes, levels: (!is_skipped).then_some(levels) }
            })
            .collect();
        Frame { header, macroblocks }
    })
}

/// Sets the fields that follow from the levels, and removes impossible levels.
fn fit(levels: &mut Coefficients, has_y2: bool) {
    if !has_y2 {
        levels.blocks[24] = [0; 16];
    }
    for (index, (block, end)) in levels.blocks.iter_mut().zip(&mut levels.ends).enumerate() {
        if has_y2 && index < 16 {
            block[0] = 0;
        }
        let last = (0..16).rev().find(|&place| block[usize::from(thalweg_vp8::syntax::tokens::ZIGZAG[place])] != 0);
        *end = last.map_or(0, |last| last as u8 + 1);
    }
}

/// A few levels, most of them small.
fn any_levels() -> impl Strategy<Value = Box<Coefficients>> {
    let level = prop_oneof![20 => -2i16..=2, 4 => -20i16..=20, 1 => -300i16..=300];
    prop::collection::vec((0usize..25, 0usize..16, level), 0..12).prop_map(|some| {
        let mut levels = Box::<Coefficients>::default();
        some.into_iter().for_each(|(block, place, level)| levels.blocks[block][place] = level);
        levels
    })
}

fn any_intra() -> impl Strategy<Value = Prediction> {
    let mode = || prop::sample::select(BlockMode::ALL.to_vec());
    let subblocks = prop::collection::vec(prop::sample::select(SubblockMode::ALL.to_vec()), 16)
        .prop_map(|modes| LumaMode::Subblocks(std::array::from_fn(|i| modes[i])));
    let luma = prop_oneof![mode().prop_map(LumaMode::Whole), subblocks];
    (luma, mode()).prop_map(|(luma, chroma)| Prediction::Intra(IntraModes { luma, chroma }))
}

fn any_prediction() -> impl Strategy<Value = Prediction> {
    // Up to half of the largest difference, so that the difference of any two is valid.
    let vector = || (prop_oneof![-20i16..20, -500i16..=500], prop_oneof![-20i16..20, -500i16..=500]);
    let vector = move || vector().prop_map(|(x, y)| MotionVector::new(x, y));
    let layout = prop::sample::select(vec![
        SplitLayout::UpperLower,
        SplitLayout::LeftRight,
        SplitLayout::Quarters,
        SplitLayout::Sixteenths,
    ]);
    let split = (layout, prop::collection::vec(prop::option::of(vector()), 16)).prop_map(|(layout, vectors)| {
        let part = |part: u8| vectors[usize::from(part)];
        let of = |vector: Option<MotionVector>| if vector.is_some() { PartMode::New } else { PartMode::Zero };
        let count = layout.first_subblocks().len();
        Motion::Split(Split {
            layout,
            modes: std::array::from_fn(|i| if i < count { of(vectors[i]) } else { PartMode::Zero }),
            vectors: layout.parts().map(|index| part(index).unwrap_or_default()),
        })
    });
    let motion = prop_oneof![Just(Motion::Zero), vector().prop_map(Motion::New), split];
    let reference = prop::sample::select(Reference::ALL.to_vec());
    let inter = (reference, motion).prop_map(|(reference, motion)| Prediction::Inter { reference, motion });
    prop_oneof![1 => any_intra(), 3 => inter]
}

/// Any header fields, for frames of any kind.
pub fn any_header(kind: FrameKind) -> impl Strategy<Value = FrameHeader> {
    let signed = |max: i8| prop::option::of(-max..=max);
    let values = (any::<bool>(), prop::array::uniform4(signed(127)), prop::array::uniform4(signed(63)))
        .prop_map(|(are_absolute, quantizers, levels)| SegmentUpdates { are_absolute, quantizers, levels });
    let map = prop::array::uniform3(prop::option::of(1u8..=255));
    let segmentation =
        (prop::option::of(map), prop::option::of(values)).prop_map(|(map, values)| SegmentationHeader { map, values });
    let deltas = (prop::array::uniform4(signed(63)), prop::array::uniform4(signed(63)))
        .prop_map(|(references, modes)| DeltaUpdates { references, modes });
    let filter = (any::<bool>(), 0u8..64, 0u8..8, prop::option::of(prop::option::of(deltas)))
        .prop_map(|(is_simple, level, sharpness, deltas)| FilterHeader { is_simple, level, sharpness, deltas });
    let quantizer = (0u8..128, prop::array::uniform5(signed(15))).prop_map(|(luma, deltas)| {
        let [luma_first, y2_first, y2, chroma_first, chroma] = deltas;
        QuantizerHeader { luma, luma_first, y2_first, y2, chroma_first, chroma }
    });
    let coefficients = prop::collection::btree_map(0u16..1056, 1u8..=255, 0..20)
        .prop_map(|updates| CoefficientUpdates(updates.into_iter().collect()));
    (
        (0u8..8, any::<bool>(), any::<bool>()),
        prop::option::of(segmentation),
        filter,
        prop::sample::select(Partitions::ALL.to_vec()),
        quantizer,
        coefficients,
        prop::option::of(1u8..=255),
    )
        .prop_map(move |(flags, segmentation, filter, partitions, quantizer, coefficients, skip)| FrameHeader {
            version: flags.0,
            is_shown: flags.1,
            kind: kind.clone(),
            segmentation,
            filter,
            partitions,
            quantizer,
            keeps_probabilities: flags.2,
            coefficients,
            skip,
        })
}

pub fn any_inter() -> impl Strategy<Value = FrameKind> {
    use ReferenceUpdate::{Keep, Last, Other, ThisFrame};
    let update = || prop::sample::select(vec![Keep, ThisFrame, Last, Other]);
    let vectors = prop::collection::vec(prop::option::weighted(0.1, (0u8..128).prop_map(|x| (x * 2).max(1))), 38);
    (
        update(),
        update(),
        any::<(bool, bool, bool)>(),
        (1u8..=255, 1u8..=255, 1u8..=255),
        prop::option::of(prop::array::uniform4(1u8..=255)),
        prop::option::of(prop::array::uniform3(1u8..=255)),
        vectors,
    )
        .prop_map(|(golden, altref, flags, probabilities, luma_modes, chroma_modes, vectors)| {
            let (intra, last, golden_not_altref) = probabilities;
            let sign_bias = SignBias { golden: flags.0, altref: flags.1 };
            let vectors = VectorUpdates([0, 19].map(|first| std::array::from_fn(|i| vectors[first + i])));
            FrameKind::Inter(InterHeader {
                golden,
                altref,
                sign_bias,
                refreshes_last: flags.2,
                intra,
                last,
                golden_not_altref,
                luma_modes,
                chroma_modes,
                vectors,
            })
        })
}
