//! VP8 decoders' states.

use thalweg_vp8::{DecodeSettings, State};

/// The first two bytes are the length of a frame, which follows; the rest is a state. Decodes the frame from the state.
/// A state that was parsed must be the same after writing.
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
