//! The 61 conformance streams: every picture, every byte, every state.

use thalweg_vp8::syntax::Frame;
use thalweg_vp8::{State, decode};

use crate::streams::{md5, vectors};

pub fn every_picture_of_the_conformance_streams_is_the_standards() {
    let mut wrong = Vec::new();
    for vector in vectors() {
        let mut state = State::new();
        let mut pictures = Vec::new();
        for frame in &vector.frames {
            let decoded = decode(&state, frame).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
            if decoded.is_shown {
                pictures.push(decoded.image.to_i420());
            }
            state = decoded.state;
        }
        let digests: Vec<String> = if vector.digests.len() == 1 {
            vec![md5(&pictures.concat())]
        } else {
            pictures.iter().map(|picture| md5(picture)).collect()
        };
        if digests != vector.digests {
            let first = digests.iter().zip(&vector.digests).position(|(ours, theirs)| ours != theirs);
            wrong.push(format!(
                "{} ({} of {} pictures, the first wrong is {first:?})",
                vector.name,
                digests.len(),
                vector.digests.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub fn every_frame_is_written_as_the_bytes_it_was_read_from() {
    for vector in vectors() {
        let mut state = State::new();
        for (index, bytes) in vector.frames.iter().enumerate() {
            let frame = Frame::read(&state, bytes).unwrap();
            let written = frame.write(&state).unwrap();
            let first = written.iter().zip(bytes).position(|(ours, theirs)| ours != theirs);
            assert!(
                written == *bytes,
                "{}, frame {index}: {} bytes became {}, the first that differs is {first:?}",
                vector.name,
                bytes.len(),
                written.len()
            );
            state = decode(&state, bytes).unwrap().state;
        }
    }
}

pub fn a_state_that_was_sent_goes_on_as_the_one_that_stayed() {
    for vector in vectors() {
        let (mut state, mut sent) = (State::new(), State::new());
        for frame in &vector.frames {
            let bytes = sent.to_bytes();
            sent = State::from_bytes(&bytes).unwrap();
            assert_eq!((&sent, sent.hash(), sent.to_bytes()), (&state, state.hash(), bytes), "{}", vector.name);
            let (here, there) = (decode(&state, frame).unwrap(), decode(&sent, frame).unwrap());
            assert_eq!(here, there, "{}", vector.name);
            (state, sent) = (here.state, there.state);
        }
    }
}
