//! libvpx, the decoder in most browsers.

#[path = "../../common/libvpx.rs"]
pub mod binding;

use super::{OutsideDecoder, Stream};

pub struct Libvpx;

impl OutsideDecoder for Libvpx {
    fn name(&self) -> &'static str {
        "libvpx"
    }

    fn show(&self, streams: &[Stream]) -> Result<Vec<Vec<u8>>, String> {
        let mut shown = Vec::new();
        for stream in streams {
            let mut decoder = binding::Decoder::new();
            for (index, emitted) in stream.frames.iter().enumerate() {
                let place = |error| format!("{}, frame {index}: error {error}", stream.name);
                shown.extend(decoder.decode(&emitted.frame).map_err(place)?.map(|picture| picture.to_i420()));
            }
        }
        Ok(shown)
    }
}
