//! The picture a candidate becomes.

use crate::filter::{FilterLevels, LoopFilter, MacroblockFilter};
use crate::image::{Image, PlanesMut};
use crate::kernels::Kernels;
use crate::state::FilterDeltas;
use crate::syntax::Prediction;
use crate::syntax::header::FilterHeader;

/// A picture that is drawn row by row: the predictions from other frames are copied to a row of macroblocks before it
/// is coded, and the row above is filtered afterwards, so that what is worked on stays in the cache.
pub struct Canvas<'a> {
    image: Image,
    /// Where the predictions are; none when they are in the image already.
    predictions: Option<&'a Image>,
    filter: Option<LoopFilter>,
    levels: FilterLevels,
    /// How the row above is to be filtered, and the one that is coded.
    filters: [Vec<MacroblockFilter>; 2],
}

impl<'a> Canvas<'a> {
    /// Before the first row.
    pub fn new(
        kernels: &'static Kernels,
        image: Image,
        predictions: Option<&'a Image>,
        filter: &FilterHeader,
        is_key: bool,
    ) -> Self {
        let mut canvas = Self {
            image,
            predictions,
            filter: LoopFilter::new(kernels, filter, is_key),
            levels: FilterLevels::new(filter, None, &FilterDeltas::default()),
            filters: Default::default(),
        };
        canvas.copy(0);
        canvas
    }

    /// The planes to draw on.
    pub fn planes(&mut self) -> PlanesMut<'_> {
        self.image.planes_mut()
    }

    /// Goes on to the next macroblock after one that is predicted in a way and has levels or not.
    #[inline]
    pub fn end_macroblock(&mut self, prediction: &Prediction, any: bool) {
        self.filters[1].push(self.levels.of(0, prediction, any));
    }

    /// Goes on to the next row after the last macroblock of one.
    pub fn end_row(&mut self, row: usize) {
        let [above, filters] = &mut self.filters;
        if let Some(filter) = &self.filter {
            let mut planes = self.image.planes_mut();
            if row > 0 {
                filter.filter_row(&mut planes, row - 1, above);
            }
            if row + 1 == self.image.size().rows() {
                filter.filter_row(&mut self.image.planes_mut(), row, filters);
            }
        }
        self.filters.swap(0, 1);
        self.filters[1].clear();
        self.copy(row + 1);
    }

    /// Copies a row's predictions.
    fn copy(&mut self, row: usize) {
        let Some(predictions) = self.predictions.filter(|predictions| row < predictions.size().rows()) else { return };
        let source = predictions.planes();
        let stride = source.stride;
        let planes = self.image.planes_mut();
        for (target, source, length) in
            [(planes.y, source.y, 16 * stride), (planes.u, source.u, 4 * stride), (planes.v, source.v, 4 * stride)]
        {
            let range = row * length..(row + 1) * length;
            target[range.clone()].copy_from_slice(&source[range]);
        }
    }

    /// The picture, after its last row.
    pub fn finish(self) -> Image {
        self.image
    }
}
