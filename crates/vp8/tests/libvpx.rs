//! Comparison with libvpx on random streams.

use super::encoder::outside::libvpx::binding as libvpx;
use super::streams;
use proptest::prelude::*;
use thalweg_vp8::{State, decode};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn streams_that_are_made_up_are_drawn_as_libvpx_does(stream in streams::any_stream()) {
        let (mut state, mut other) = (State::new(), libvpx::Decoder::new());
        let mut is_version_3 = false;
        for (number, frame) in stream.iter().enumerate() {
            let bytes = frame.write(&state).unwrap();
            let ours = decode(&state, &bytes).unwrap();
            let theirs = other.decode(&bytes).map(|picture| picture.map(|picture| picture.to_i420()));
            prop_assert_eq!(theirs.as_ref().map(Option::is_some), Ok(ours.is_shown));
            is_version_3 |= frame.header.version == 3;
            if let Ok(Some(theirs)) = theirs {
                let ours = ours.image.to_i420();
                let length = if is_version_3 { streams::size().pixels() } else { ours.len() };
                let first = ours[..length].iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
                prop_assert_eq!(first, None, "in frame {}", number);
            }
            state = ours.state;
        }
    }
}
