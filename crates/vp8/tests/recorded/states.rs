//! States of recorded streams: restored, compared, hashed.

use thalweg_vp8::{State, decode};

use crate::streams::{Vector, vectors};

pub fn going_back_to_an_older_state_is_an_ordinary_call() {
    let vector = vectors().swap_remove(0);
    let mut states = vec![State::new()];
    let mut pictures = Vec::new();
    for frame in &vector.frames {
        let decoded = decode(states.last().unwrap(), frame).unwrap();
        pictures.push(decoded.image.to_i420());
        states.push(decoded.state);
    }
    for (index, frame) in vector.frames.iter().enumerate().rev() {
        assert!(decode(&states[index], frame).unwrap().image.to_i420() == pictures[index], "frame {index}");
    }
}

pub fn states_are_equal_and_hash_alike_exactly_when_they_decode_alike() {
    let mut hashes = std::collections::BTreeMap::new();
    for Vector { name, frames, .. } in vectors().iter().step_by(7) {
        let (mut state, mut again) = (State::new(), State::new());
        for frame in frames {
            (state, again) = (decode(&state, frame).unwrap().state, decode(&again, frame).unwrap().state);
            assert_eq!((&state, state.hash()), (&again, again.hash()), "{name}");
            if let Some(other) = hashes.insert(state.hash(), state.clone()) {
                assert_eq!(other, state, "{name}");
            }
        }
    }
}
