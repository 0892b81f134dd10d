//! Decoding: a state and a frame make a picture and the next state.

mod drawing;

use std::sync::Arc;

use drawing::Drawing;

use crate::image::Image;
use crate::kernels::Kernels;
use crate::state::{SegmentMap, State};
use crate::syntax::{Corrupt, FrameKind, MacroblockReader, OpenFrame};

/// The result of decoding a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The picture.
    pub image: Arc<Image>,
    /// True if the picture is to be shown; hidden pictures only serve as references.
    pub is_shown: bool,
    /// The state that the next frame is decoded from.
    pub state: State,
}

/// Decoder settings.
#[derive(Debug, Clone, Copy)]
pub struct DecodeSettings {
    /// Maximum number of pixels of a picture; a larger key frame is rejected before memory is allocated for it. Time
    /// and memory are proportional to the number of pixels, whatever a frame contains. By default 2^24, twice 4K; for a
    /// stream of known size that size is enough.
    pub max_pixels: usize,
    /// The inner loops. By default the fastest that this processor supports.
    pub kernels: &'static Kernels,
}

impl Default for DecodeSettings {
    fn default() -> Self {
        Self { max_pixels: 1 << 24, kernels: Kernels::detected() }
    }
}

/// Decodes a frame with the [default settings](DecodeSettings::default).
///
/// An empty frame stands for one that the encoder dropped: nothing is shown, and the state does not change.
///
/// # Errors
/// When the frame is corrupt, or is an inter frame and the state has no references: see [`DecodeSettings::decode`].
pub fn decode(state: &State, frame: &[u8]) -> Result<Decoded, Corrupt> {
    DecodeSettings::default().decode(state, frame)
}

impl DecodeSettings {
    /// Decodes a frame.
    ///
    /// Frames are rejected where libvpx rejects them. As there, missing data at the end of a partition is no error: its
    /// macroblocks are decoded as if zeros followed, and those that begin after its end have no coefficients. Only the
    /// first key frame of a stream, or one that changes the size, must be complete.
    ///
    /// # Errors
    /// When the frame is corrupt, larger than allowed, or is an inter frame and the state has no references.
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
