//! Still pictures that every browser shows: a VP8 key frame in WebP's container.

use thalweg_video::Picture;
use thalweg_vp8::State;
use thalweg_vp8::encode::{Analysis, Plan, Settings};

use crate::functional::to_image;

/// The picture as a lossy WebP file ("simple file format", RFC 9649 section 2.5), coded with this quantiser, 0..=127;
/// `None` for a size that VP8 has not.
pub fn webp(picture: &Picture, quantizer: u8) -> Option<Vec<u8>> {
    let (start, image) = (State::new(), to_image(picture)?);
    let frame =
        Analysis::new(&start, &image, &Plan::key(quantizer), &Settings::default()).ok()?.finish(quantizer).frame;
    let length = u32::try_from(frame.len()).ok()?;
    // A chunk of odd length is followed by a byte that its length does not count.
    let padding = length % 2;
    let mut file = Vec::with_capacity(frame.len() + 21);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(4 + 8 + length + padding).to_le_bytes());
    file.extend_from_slice(b"WEBPVP8 ");
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&frame);
    file.resize(file.len() + padding as usize, 0);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    #[test]
    fn a_still_is_a_file_whose_frame_decodes_to_the_picture() {
        for size in [Size::new(64, 48), Size::new(33, 17)] {
            let file = webp(&Picture::filled(size, 90, 120, 140), 10).unwrap();
            let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
            assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WEBPVP8 "[..]));
            assert_eq!((word(4) + 8, word(16).next_multiple_of(2) + 20), (file.len(), file.len()));
            let decoded = thalweg_vp8::decode(&State::new(), &file[20..20 + word(16)]).unwrap();
            let shown = decoded.image;
            assert_eq!((shown.size().width(), shown.size().height()), (size.width.into(), size.height.into()));
            let luma = shown.to_i420()[..size.pixels() as usize].to_vec();
            assert!(luma.iter().all(|luma| luma.abs_diff(90) <= 2), "{size}");
        }
    }
}
