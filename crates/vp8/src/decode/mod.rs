//! Decoding: a state and a frame make a picture and the next state.

use std::sync::Arc;

use crate::filter::{FilterLevels, LoopFilter, MacroblockFilter};
use crate::image::Image;
use crate::kernels::Kernels;
use crate::predict::{InterPredictor, Interpolation};
use crate::reconstruct::Reconstructor;
use crate::state::{SegmentMap, State};
use crate::syntax::tokens::MacroblockFactors;
use crate::syntax::{Coefficients, Corrupt, FrameHeader, FrameKind, MacroblockReader, OpenFrame};

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
    /// and memory in proportion to the pixels, whatever is in a frame. By default 2^26, four times 4K; a stream of a known size
    /// needs no more than that size.
    pub most_pixels: usize,
    /// The inner loops. By default the fastest this processor runs.
    pub kernels: &'static Kernels,
}

impl Default for DecodeSettings {
    fn default() -> Self {
        Self { most_pixels: 1 << 26, kernels: Kernels::detected() }
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
    /// macroblocks are decoded as if zeros followed, and those that begin after its end have no coefficients. Only the first
    /// frame of a state must be complete.
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
            && key.size.pixels() > self.most_pixels
        {
            return Err(Corrupt::TooLarge { size: key.size, limit: self.most_pixels });
        }
        let mut coding = state.before(&open.header)?;
        let mut image = Image::blank(coding.size);
        let (mut reader, header) = MacroblockReader::new(open, coding.size);
        let new_segments = self.draw(state, &coding, &header, &mut reader, &mut image);
        let is_first = state.size() != Some(coding.size);
        if is_first && reader.is_incomplete() {
            return Err(Corrupt::IncompleteKeyFrame);
        }
        if let Some(segments) = new_segments {
            coding.segments = SegmentMap::of(&segments);
        }
        let image = Arc::new(image);
        let state = state.after(&header, coding, Arc::clone(&image));
        Ok(Decoded { image, is_shown: header.is_shown, state })
    }

    /// Reads all macroblocks and draws them. Returns the segment of each, if the frame says them.
    fn draw(
        &self,
        state: &State,
        coding: &crate::state::Coding,
        header: &FrameHeader,
        reader: &mut MacroblockReader<'_>,
        image: &mut Image,
    ) -> Option<Vec<u8>> {
        let size = coding.size;
        let segments = header.segmentation.is_some().then_some(&coding.segment_values);
        let mut new_segments =
            header.segmentation.is_some_and(|segmentation| segmentation.map.is_some()).then(Vec::new);
        let quantizer =
            |segment| segments.map_or(header.quantizer.luma, |values| values.quantizer(segment, header.quantizer.luma));
        let factors: [MacroblockFactors; 4] =
            std::array::from_fn(|segment| header.quantizer.factors(quantizer(segment)));
        let filter = LoopFilter::new(self.kernels, &header.filter, header.kind.is_key());
        let levels = FilterLevels::new(&header.filter, segments, &coding.filter_deltas);
        let reconstructor = Reconstructor {
            predictor: InterPredictor {
                kernels: self.kernels,
                interpolation: Interpolation::of_version(header.version),
            },
            references: state.references(),
        };
        let mut planes = image.planes_mut();
        let mut coefficients = Coefficients::default();
        // How to filter the row that is read and the one before.
        let mut filters =
            [vec![MacroblockFilter::default(); size.columns()], vec![MacroblockFilter::default(); size.columns()]];
        for row in 0..size.rows() {
            for column in 0..size.columns() {
                let modes = reader.modes(&coding.probabilities);
                let segment = match (&mut new_segments, modes.segment) {
                    (Some(segments), Some(segment)) => {
                        segments.push(segment);
                        segment
                    }
                    _ if segments.is_some() => coding.segments.segment(row * size.columns() + column),
                    _ => 0,
                };
                let factors = &factors[usize::from(segment)];
                let is_coded = reader.coefficients(&modes, &coding.probabilities, factors, &mut coefficients);
                let residual = is_coded.then_some(&mut coefficients);
                reconstructor.reconstruct(&mut planes, (column, row), &modes.prediction, residual);
                if is_coded {
                    coefficients.blocks = [[0; 16]; 25];
                }
                filters[row % 2][column] = levels.of(segment, &modes.prediction, is_coded);
            }
            if let Some(filter) = &filter
                && row > 0
            {
                filter.filter_row(&mut planes, row - 1, &filters[(row - 1) % 2]);
            }
        }
        if let Some(filter) = &filter {
            let last = size.rows() - 1;
            filter.filter_row(&mut planes, last, &filters[last % 2]);
        }
        new_segments
    }
}
