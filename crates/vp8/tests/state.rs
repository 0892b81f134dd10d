//! States as values: compared, hashed, serialised, restored; and malformed frames.

use std::sync::Arc;

use proptest::prelude::*;
use thalweg_vp8::syntax::header::{
    CoefficientUpdates, FilterHeader, InterHeader, KeyHeader, QuantizerHeader, ReferenceUpdate,
};
use thalweg_vp8::syntax::{
    BlockMode, Frame, FrameHeader, FrameKind, IntraModes, LumaMode, Macroblock, MacroblockModes, Motion, Partitions,
    Prediction, Reference,
};
use thalweg_vp8::{Corrupt, DecodeSettings, Image, Size, State, StateError, decode};

/// A key frame of grey macroblocks, predicted in one mode.
fn key_frame(size: Size, mode: BlockMode) -> Vec<u8> {
    let prediction = Prediction::Intra(IntraModes { luma: LumaMode::Whole(mode), chroma: BlockMode::Dc });
    let modes = MacroblockModes { segment: None, is_skipped: true, prediction };
    let macroblocks = vec![Macroblock { modes, levels: None }; size.macroblocks()];
    let header = header(FrameKind::Key(KeyHeader::new(size)));
    Frame { header, macroblocks }.write(&State::new()).unwrap()
}

fn header(kind: FrameKind) -> FrameHeader {
    FrameHeader {
        version: 0,
        is_shown: true,
        kind,
        segmentation: None,
        filter: FilterHeader::default(),
        partitions: Partitions::One,
        quantizer: QuantizerHeader::default(),
        keeps_probabilities: true,
        coefficients: CoefficientUpdates::default(),
        skip: Some(128),
    }
}

/// A frame without motion.
fn still_frame(size: Size, golden: ReferenceUpdate, altref: ReferenceUpdate, refreshes_last: bool) -> Frame {
    let prediction = Prediction::Inter { reference: Reference::Last, motion: Motion::Zero };
    let modes = MacroblockModes { segment: None, is_skipped: true, prediction };
    let inter = InterHeader { golden, altref, refreshes_last, intra: 1, last: 255, ..InterHeader::default() };
    let header = header(FrameKind::Inter(inter));
    Frame { header, macroblocks: vec![Macroblock { modes, levels: None }; size.macroblocks()] }
}

fn size(width: usize, height: usize) -> Size {
    Size::new(width, height).unwrap()
}

#[test]
fn a_hash_is_the_same_on_every_machine_and_in_every_version() {
    let empty = State::new();
    let grey = decode(&empty, &key_frame(size(16, 16), BlockMode::Dc)).unwrap().state;
    assert_eq!([empty.hash().to_string(), grey.hash().to_string()], ["08a782e0c216fd37", "696e1616326ca82f"]);
}

#[test]
fn a_kept_state_costs_its_pictures_and_less_than_20_kilobytes() {
    for size in [size(1280, 720), size(1920, 1088)] {
        let before = decode(&State::new(), &key_frame(size, BlockMode::Dc)).unwrap().state;
        let references = before.references().unwrap();
        assert!(Arc::ptr_eq(&references.last, &references.golden) && Arc::ptr_eq(&references.last, &references.altref));
        let planes = size.pixels() * 3 / 2;
        assert!(before.to_bytes().len() <= planes + 20_000);
        // Outside of the bytes there are only the pointers to their contents.
        assert!(size_of::<State>() <= 2_000, "{}", size_of::<State>());

        let frame = still_frame(size, ReferenceUpdate::Keep, ReferenceUpdate::Last, true).write(&before).unwrap();
        let after = decode(&before, &frame).unwrap().state;
        let [old, new] = [&before, &after].map(|state| state.references().unwrap());
        assert!(Arc::ptr_eq(&old.golden, &new.golden) && Arc::ptr_eq(&old.last, &new.altref));
        // The new picture happens to equal the old one, so it is sent only once.
        assert!(after.to_bytes().len() <= planes + 20_000);
    }
}

#[test]
fn references_are_replaced_in_the_order_of_libvpx() {
    use ReferenceUpdate::{Keep, Last, Other, ThisFrame};
    let size = size(16, 16);
    let image = |mode| decode(&State::new(), &key_frame(size, mode)).unwrap().state;
    // Three states with different pictures, combined into one: the last frame is `a`, golden `b`, altref `c`.
    let [a, b, c] = [BlockMode::Dc, BlockMode::Vertical, BlockMode::Horizontal].map(image);
    let picture = |state: &State| state.references().unwrap().last.clone();
    let update = |state: &State, golden, altref, last| {
        let frame = still_frame(size, golden, altref, last).write(state).unwrap();
        decode(state, &frame).unwrap().state
    };
    // No function combines states, so this is done on their bytes.
    let mut bytes = a.to_bytes();
    let list = bytes.len() - 16 * 16 * 3 / 2 - 2;
    bytes[list..list + 2].copy_from_slice(&[1, 2]);
    for state in [&b, &c] {
        bytes.extend(&state.to_bytes()[list + 2..]);
    }
    let mixed = State::from_bytes(&bytes).unwrap();
    let [a, b, c] = [a, b, c].map(|state| picture(&state));
    for (golden, altref, expected) in [
        (Keep, Keep, [&b, &c]),
        (Last, Other, [&a, &b]),
        (Other, Last, [&a, &a]),
        (Other, Keep, [&c, &c]),
        (Other, Other, [&b, &b]),
        (ThisFrame, Other, [&a, &b]),
        (Keep, ThisFrame, [&b, &a]),
    ] {
        let after = update(&mixed, golden, altref, false);
        let references = after.references().unwrap();
        assert_eq!([&references.golden, &references.altref], expected, "{golden:?}, {altref:?}");
        assert_eq!(references.last, a);
    }
}

#[test]
fn a_frame_of_no_bytes_changes_nothing() {
    assert_eq!(decode(&State::new(), &[]), Err(Corrupt::NoKeyFrame));
    let state = decode(&State::new(), &key_frame(size(20, 20), BlockMode::TrueMotion)).unwrap().state;
    let decoded = decode(&state, &[]).unwrap();
    assert_eq!((decoded.is_shown, &decoded.state), (false, &state));
}

#[test]
fn a_larger_key_frame_than_allowed_is_refused_before_anything_is_drawn() {
    let settings = DecodeSettings { max_pixels: 64 * 64, ..DecodeSettings::default() };
    assert!(settings.decode(&State::new(), &key_frame(size(64, 64), BlockMode::Dc)).is_ok());
    // Sixteen thousand pixels in each direction, in a few bytes.
    let mut frame = key_frame(size(64, 64), BlockMode::Dc);
    frame[6..10].copy_from_slice(&[0xff, 0x3f, 0xff, 0x3f]);
    let error = settings.decode(&State::new(), &frame).unwrap_err();
    assert_eq!(error, Corrupt::TooLarge { size: size(16383, 16383), limit: 4096 });
    assert!(error.to_string().contains("16383x16383"));
}

#[test]
fn frames_that_are_cut_off_say_what_is_missing() {
    let frame = key_frame(size(64, 64), BlockMode::Dc);
    let error = |length: usize| decode(&State::new(), &frame[..length]).unwrap_err().to_string();
    assert_eq!(error(2), "the frame tag is truncated: the frame has 2 bytes, and it ends after 3");
    assert_eq!(error(9), "the key frame's header is truncated: the frame has 9 bytes, and it ends after 10");
    assert!(error(20).starts_with("the first partition is truncated: the frame has 20 bytes"), "{}", error(20));
    let still = still_frame(size(64, 64), ReferenceUpdate::Keep, ReferenceUpdate::Keep, true);
    let state = decode(&State::new(), &frame).unwrap().state;
    assert_eq!(decode(&State::new(), &still.write(&state).unwrap()), Err(Corrupt::NoKeyFrame));
    let copies = [frame[..3].to_vec(), vec![1, 2, 3], frame[6..].to_vec()].concat();
    assert_eq!(decode(&state, &copies), Err(Corrupt::StartCode { bytes: [1, 2, 3] }));
}

#[test]
fn bytes_that_are_no_state_say_why() {
    let state = decode(&State::new(), &key_frame(size(16, 16), BlockMode::Dc)).unwrap().state;
    let bytes = state.to_bytes();
    assert_eq!(State::from_bytes(&State::new().to_bytes()), Ok(State::new()));
    for length in [0, 4, 5, 1000, 1130, bytes.len() - 1] {
        assert!(State::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    assert_eq!(State::from_bytes(&[&bytes[..], &[0]].concat()), Err(StateError::Surplus { surplus: 1 }));
    let mut other = bytes;
    other[4] = 2;
    assert!(State::from_bytes(&other).unwrap_err().to_string().contains("version 1"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_frame_is_read_as_it_was_written_and_decoded_by_all_kernels_alike(
        stream in super::streams::any_stream(),
    ) {
        let mut state = State::new();
        for frame in stream {
            let written = frame.write(&state).unwrap();
            prop_assert_eq!(Frame::read(&state, &written), Ok(frame));
            let decoded = decode(&state, &written).unwrap();
            let kernels = thalweg_vp8::kernels::Kernels::scalar();
            let plain = DecodeSettings { kernels, ..DecodeSettings::default() }.decode(&state, &written).unwrap();
            prop_assert_eq!(&decoded, &plain);
            state = decoded.state;
            prop_assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state.clone()));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_decoded(
        mut frame in prop::collection::vec(any::<u8>(), 0..400),
        start: bool,
        width in 1u8..100,
        height in 1u8..100,
    ) {
        if start && frame.len() > 10 {
            // The tag of a key frame with a complete first partition.
            let first = (frame.len() as u32 - 10) / 2;
            frame[..3].copy_from_slice(&(first << 5 | 0x10).to_le_bytes()[..3]);
            frame[3..10].copy_from_slice(&[0x9d, 0x01, 0x2a, width, 0, height, 0]);
        }
        let settings = DecodeSettings { max_pixels: 10_000, ..DecodeSettings::default() };
        if let Ok(decoded) = settings.decode(&State::new(), &frame) {
            prop_assert_eq!(decoded.image.size(), decoded.state.size().unwrap());
            let image = Image::from_i420(decoded.image.size(), &decoded.image.to_i420()).unwrap();
            prop_assert_eq!(image.to_i420(), decoded.image.to_i420());
        }
    }
}
