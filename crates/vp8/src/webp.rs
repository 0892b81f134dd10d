//! Lossy WebP: a VP8 key frame in a RIFF file. Any key frame becomes an image that every browser shows, and the other way round.
//!
//! ```no_run
//! use thalweg_vp8::{State, decode, webp};
//!
//! let file = std::fs::read("picture.webp")?;
//! let image = decode(&State::new(), webp::read(&file)?)?.image;
//! println!("{} pixels", image.size());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::syntax::Corrupt;
use crate::syntax::header::FrameTag;

/// How many bytes a chunk's name and length take.
const CHUNK_HEADER: usize = 8;

/// Bytes that are no lossy WebP file, or a frame that cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebpError {
    /// They begin otherwise.
    #[error("not a WebP file: it does not begin with \"RIFF\", a length and \"WEBP\"")]
    Start,
    /// There is no lossy image in the file.
    #[error("this WebP file has no lossy image (a chunk named \"VP8 \"): it is lossless, animated or cut off")]
    NoLossyImage,
    /// A chunk ends after the file.
    #[error("the WebP file's chunk {name:02x?} has {length} bytes, but only {left} are left")]
    Truncated {
        /// The chunk's name.
        name: [u8; 4],
        /// How long it is said to be.
        length: usize,
        /// How many bytes there are.
        left: usize,
    },
    /// The frame is no key frame.
    #[error("a frame that is predicted from others is no image: take a key frame")]
    NotKey,
    /// The frame is not to be shown, which image decoders refuse.
    #[error("a frame that is not to be shown is no image")]
    NotShown,
    /// The frame is corrupt at its beginning.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// The key frame in a WebP file. Transparency, colour profiles and other metadata are passed over.
///
/// # Errors
/// When there is none.
pub fn read(file: &[u8]) -> Result<&[u8], WebpError> {
    let start: &[u8; 12] = file.first_chunk().ok_or(WebpError::Start)?;
    if !start.starts_with(b"RIFF") || !start.ends_with(b"WEBP") {
        return Err(WebpError::Start);
    }
    let mut rest = &file[start.len()..];
    while let Some((&[a, b, c, d, length @ ..], data)) = rest.split_first_chunk::<CHUNK_HEADER>() {
        let (name, length) = ([a, b, c, d], u32::from_le_bytes(length) as usize);
        let Some((chunk, after)) = data.split_at_checked(length) else {
            return Err(WebpError::Truncated { name, length, left: data.len() });
        };
        if name == *b"VP8 " {
            return Ok(chunk);
        }
        // Chunks begin at even places.
        rest = after.get(length % 2..).unwrap_or_default();
    }
    Err(WebpError::NoLossyImage)
}

/// The WebP file of a key frame.
///
/// # Errors
/// When the frame is no key frame, or not to be shown.
pub fn write(frame: &[u8]) -> Result<Vec<u8>, WebpError> {
    let (tag, _) = FrameTag::read(frame)?;
    if tag.key.is_none() {
        return Err(WebpError::NotKey);
    }
    if !tag.is_shown {
        return Err(WebpError::NotShown);
    }
    let padding = frame.len() % 2;
    let length = |bytes: usize| (bytes as u32).to_le_bytes();
    let mut file = Vec::with_capacity(12 + CHUNK_HEADER + frame.len() + padding);
    file.extend(b"RIFF");
    file.extend(length(4 + CHUNK_HEADER + frame.len() + padding));
    file.extend(b"WEBPVP8 ");
    file.extend(length(frame.len()));
    file.extend(frame);
    file.extend(&[0][..padding]);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tag of a key frame of 16x16 pixels, and some more bytes.
    const FRAME: [u8; 13] = [0x10, 0, 0, 0x9d, 0x01, 0x2a, 16, 0, 16, 0, 1, 2, 3];

    #[test]
    fn a_key_frame_goes_in_and_comes_out_again() {
        let file = write(&FRAME).unwrap();
        assert_eq!((file.len() % 2, u32::from_le_bytes(file[4..8].try_into().unwrap())), (0, file.len() as u32 - 8));
        assert_eq!(read(&file).unwrap(), FRAME);
    }

    #[test]
    fn other_chunks_are_passed_over() {
        let file = write(&FRAME).unwrap();
        let extended = [&file[..12], b"VP8X\x01\x00\x00\x00\xff\x00", &file[12..]].concat();
        assert_eq!(read(&extended).unwrap(), FRAME);
        assert_eq!(read(&extended[..22]), Err(WebpError::NoLossyImage));
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let mut frame = FRAME;
        frame[0] = 0;
        assert_eq!(write(&frame), Err(WebpError::NotShown));
        frame[0] = 0x11;
        assert_eq!(write(&frame), Err(WebpError::NotKey));
        assert!(matches!(write(&frame[..2]), Err(WebpError::Corrupt(_))));
        let file = write(&FRAME).unwrap();
        assert_eq!(read(&file[..11]), Err(WebpError::Start));
        let truncated = WebpError::Truncated { name: *b"VP8 ", length: 13, left: 12 };
        assert_eq!(read(&file[..file.len() - 2]), Err(truncated));
    }
}
