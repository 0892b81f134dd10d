//! VP8 streams.

use thalweg_vp8::kernels::Kernels;
use thalweg_vp8::syntax::Frame;
use thalweg_vp8::{DecodeSettings, State, ivf};

/// Maximum number of frames decoded per input.
const MAX_FRAMES: usize = 4;

/// Maximum number of pixels of a picture: the smaller half of the conformance streams.
const MAX_PIXELS: usize = 1 << 16;

/// Decodes an IVF file, or any other bytes as a single frame, with the fastest kernels and the plain ones, which must
/// agree. Every frame that can be decoded must be the same after writing and parsing, and every state can be
/// serialised.
pub fn vp8_decode(data: &[u8]) {
    let frames: Vec<Vec<u8>> = match ivf::Reader::new(data, &[ivf::VP8]) {
        Ok(reader) => reader.map_while(Result::ok).take(MAX_FRAMES).map(|frame| frame.bytes).collect(),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            vec![data.to_vec()]
        }
    };
    let settings = DecodeSettings { max_pixels: MAX_PIXELS, ..DecodeSettings::default() };
    let plain = DecodeSettings { kernels: Kernels::scalar(), ..settings };
    let mut state = State::new();
    for frame in &frames {
        let decoded = settings.decode(&state, frame);
        assert_eq!(decoded, plain.decode(&state, frame));
        let Ok(decoded) = decoded else { continue };
        if !frame.is_empty() {
            let read = Frame::read(&state, frame).expect("what can be decoded can be read");
            // Corrupt modes may need more bytes than a frame has space for.
            if let Ok(written) = read.write(&state) {
                assert_eq!(Frame::read(&state, &written), Ok(read));
            }
        }
        state = decoded.state;
    }
    assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state));
}
