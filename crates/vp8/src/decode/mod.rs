//! Decoding: a state and a frame make a picture and the next state.

mod drawing;

use std::sync::Arc;

use drawing::Drawing;

use crate::image::Image;
use crate::kernels::Kernels;
use crate::state::{SegmentMap, State};
use crate::syntax::{Corrupt, FrameKind, MacroblockReader, OpenFrame};

/// What a frame decodes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The picture.
    pub image: Arc<Image>,
    /// Whether it is to be shown; it may be there only to predict others from.
    pub is_shown: bool,
    /// The state that the next frame is decoded from.
    pub state: State,
}

/// How to decode.
#[derive(Debug, Clone, Copy)]
pub struct DecodeSettings {
    /// The most pixels a picture may have; a larger key frame is refused before memory is taken for it. Decoding takes time
    /// and memory in proportion to the pixels, whatever is in a frame. By default 2^24, twice as many as 4K has; a stream of a known
    /// size needs no more than that size.
    pub max_pixels: usize,
    /// The inner loops. By default the fastest this processor runs.
    pub kernels: &'static Kernels,
}

impl Default for DecodeSettings {
    fn default() -> Self {
        Self { max_pixels: 1 << 24, kernels: Kernels::detected() }
    }
}

/// Decodes a frame with the [default settings](DecodeSettings::default).
///
/// A frame of no bytes stands for one that the encoder dropped: nothing is shown, and the state stays as it is.
///
/// # Errors
/// When the frame is corrupt, or predicted from others and the state has none: see [`DecodeSettings::decode`].
pub fn decode(state: &State, frame: &[u8]) -> Result<Decoded, Corrupt> {
    DecodeSettings::default().decode(state, frame)
}

impl DecodeSettings {
    /// Decodes a frame.
    ///
    /// Frames are refused where libvpx refuses them. As there, missing data at the end of a partition is no error: its
    /// macroblocks are decoded as if zeros followed, and those that begin after its end have no coefficients. Only a
    /// key frame that is a state's first, or of another size, must be complete.
    ///
    /// # Errors
    /// When the frame is corrupt, larger than allowed, or predicted from others and the state has none.
    pub fn decode(&self, state: &State, frame: &[u8]) -> Result<Decoded, Corrupt> {
        if frame.is_empty() {
            let references = state.references().ok_or(Corrupt::NoKeyFrame)?;
            let image = Arc::clone(&references.last);
            return Ok(Decoded { image, is_shown: false, state: state.clone() });
        }
        let open = OpenFrame::new(frame)?;
        if let FrameKind::Key(key) = &open.header.kind
            && key.size.pixels() > self.max_pixels
        {
            return Err(Corrupt::TooLarge { size: key.size, limit: self.max_pixels });
        }
        let mut coding = state.before(&open.header)?;
        let mut image = Image::blank(coding.size);
        let (mut reader, header) = MacroblockReader::new(open, coding.size);
        let mut drawing = Drawing::new(self.kernels, state, &coding, &header);
        drawing.draw(&mut reader, image.planes_mut());
        let is_first = state.size() != Some(coding.size);
        if is_first && reader.is_incomplete() {
            return Err(Corrupt::IncompleteKeyFrame);
        }
        if let Some(segments) = drawing.into_segments() {
            coding.segments = SegmentMap::of(&segments);
        }
        let image = Arc::new(image);
        let state = state.after(&header, coding, Arc::clone(&image));
        Ok(Decoded { image, is_shown: header.is_shown, state })
    }
}
