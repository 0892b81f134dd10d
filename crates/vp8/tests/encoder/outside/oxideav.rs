//! oxideav-vp8, a decoder in pure Rust.

use super::{OutsideDecoder, Stream};

pub struct Oxideav;

impl OutsideDecoder for Oxideav {
    fn name(&self) -> &'static str {
        "oxideav-vp8"
    }

    fn show(&self, streams: &[Stream]) -> Result<Vec<Vec<u8>>, String> {
        let mut shown = Vec::new();
        for stream in streams {
            let mut decoder = oxideav_vp8::Vp8DecoderState::new();
            for (index, emitted) in stream.frames.iter().enumerate() {
                let place = |error| format!("{}, frame {index}: {error}", stream.name);
                let decoded = decoder.decode_frame(&emitted.frame).map_err(place)?;
                // It returns hidden pictures as well, marked as such.
                if decoder.last_frame_shown() == Some(true) {
                    shown.push([decoded.y, decoded.u, decoded.v].concat());
                }
            }
        }
        Ok(shown)
    }
}
