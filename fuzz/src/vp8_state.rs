//! VP8 decoders' states.

use thalweg_vp8::{DecodeSettings, State};

/// Takes the first two bytes for the length of a frame, which follows, and what is after it for a state; decodes the one from the other.
/// What was read of a state is written as the same state.
pub fn vp8_state(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk() else { return };
    let Some((frame, bytes)) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))) else { return };
    match State::from_bytes(bytes) {
        Ok(state) => {
            let again = State::from_bytes(&state.to_bytes()).expect("what was written can be read");
            assert_eq!((&again, again.hash()), (&state, state.hash()));
            let settings = DecodeSettings { max_pixels: 1 << 16, ..DecodeSettings::default() };
            assert_eq!(settings.decode(&state, frame), settings.decode(&again, frame));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
