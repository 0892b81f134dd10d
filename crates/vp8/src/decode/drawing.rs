//! From a frame's macroblocks to its pixels.

use crate::filter::{FilterLevels, LoopFilter, MacroblockFilter};
use crate::image::PlanesMut;
use crate::kernels::Kernels;
use crate::predict::{InterPredictor, Interpolation};
use crate::reconstruct::Reconstructor;
use crate::state::{Coding, State};
use crate::syntax::tokens::MacroblockFactors;
use crate::syntax::{Coefficients, FrameHeader, MacroblockModes, MacroblockReader};

/// Reads and draws macroblocks in order, and applies the loop filter one row behind.
pub struct Drawing<'a> {
    coding: &'a Coding,
    reconstructor: Reconstructor<'a>,
    /// By segment.
    factors: [MacroblockFactors; 4],
    levels: FilterLevels,
    filter: Option<LoopFilter>,
    /// True if segments have different values.
    is_segmented: bool,
    /// The segment map of the frame, if it codes one.
    segments: Option<Vec<u8>>,
}

impl<'a> Drawing<'a> {
    /// A drawing before the frame's first macroblock.
    pub fn new(kernels: &'static Kernels, state: &'a State, coding: &'a Coding, header: &FrameHeader) -> Self {
        let values = header.segmentation.is_some().then_some(&coding.segment_values);
        let (quantizer, interpolation) = (&header.quantizer, Interpolation::of_version(header.version));
        let index = |segment| values.map_or(quantizer.luma, |values| values.quantizer(segment, quantizer.luma));
        Self {
            coding,
            reconstructor: Reconstructor {
                predictor: InterPredictor { kernels, interpolation },
                references: state.references(),
            },
            factors: std::array::from_fn(|segment| quantizer.factors(index(segment))),
            levels: FilterLevels::new(&header.filter, values, &coding.filter_deltas),
            filter: LoopFilter::new(kernels, &header.filter, header.kind.is_key()),
            is_segmented: values.is_some(),
            segments: header.segmentation.and_then(|segmentation| segmentation.map).map(|_| Vec::new()),
        }
    }

    /// Draws the frame.
    pub fn draw(&mut self, reader: &mut MacroblockReader<'_>, mut planes: PlanesMut<'_>) {
        let (columns, rows) = (self.coding.size.columns(), self.coding.size.rows());
        let mut coefficients = Coefficients::default();
        let mut filters = vec![MacroblockFilter::default(); columns];
        let mut filters_above = filters.clone();
        for row in 0..rows {
            for (column, filter) in filters.iter_mut().enumerate() {
                *filter = self.draw_macroblock(reader, &mut planes, (column, row), &mut coefficients);
            }
            if let Some(filter) = &self.filter {
                if row > 0 {
                    filter.filter_row(&mut planes, row - 1, &filters_above);
                }
                if row == rows - 1 {
                    filter.filter_row(&mut planes, row, &filters);
                }
            }
            std::mem::swap(&mut filters, &mut filters_above);
        }
    }

    /// The segment of each macroblock, if the frame codes a segment map.
    pub fn into_segments(self) -> Option<Vec<u8>> {
        self.segments
    }

    /// Draws a macroblock; `coefficients` must be zero and are zero again afterwards. Returns how the macroblock is to
    /// be filtered.
    #[inline]
    fn draw_macroblock(
        &mut self,
        reader: &mut MacroblockReader<'_>,
        planes: &mut PlanesMut<'_>,
        (column, row): (usize, usize),
        coefficients: &mut Coefficients,
    ) -> MacroblockFilter {
        let probabilities = &self.coding.probabilities;
        let modes = reader.modes(probabilities);
        let segment = self.segment(&modes, row * self.coding.size.columns() + column);
        let factors = &self.factors[usize::from(segment & 3)];
        let is_coded = reader.coefficients(&modes, probabilities, factors, coefficients);
        let residual = is_coded.then_some(&mut *coefficients);
        self.reconstructor.reconstruct(planes, (column, row), &modes.prediction, residual);
        if is_coded {
            coefficients.blocks = Default::default();
        }
        self.levels.of(segment, &modes.prediction, is_coded)
    }

    /// The segment of a macroblock.
    fn segment(&mut self, modes: &MacroblockModes, macroblock: usize) -> u8 {
        match (modes.segment, &mut self.segments) {
            (Some(segment), Some(segments)) => {
                segments.push(segment);
                segment
            }
            _ if self.is_segmented => self.coding.segments.segment(macroblock),
            _ => 0,
        }
    }
}
