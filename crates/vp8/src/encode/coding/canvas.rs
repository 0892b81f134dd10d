//! The picture of a candidate.

use crate::filter::{FilterLevels, LoopFilter, MacroblockFilter};
use crate::image::{Image, PlanesMut};
use crate::kernels::Kernels;
use crate::state::FilterDeltas;
use crate::syntax::Prediction;
use crate::syntax::header::FilterHeader;

/// A picture that is drawn row by row: inter predictions are copied into a row of macroblocks before it is coded, and
/// the row above is filtered afterwards, so that the working set stays in the cache.
pub struct Canvas<'a> {
    image: Image,
    /// The inter predictions; `None` if they are in the image already.
    predictions: Option<&'a Image>,
    filter: Option<LoopFilter>,
    levels: FilterLevels,
    /// The filter parameters of the row above, and of the row being coded.
    filters: [Vec<MacroblockFilter>; 2],
}

impl<'a> Canvas<'a> {
    /// A canvas before the first row.
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

    /// Advances to the next macroblock; `any` is whether the finished one has levels.
    #[inline]
    pub fn end_macroblock(&mut self, prediction: &Prediction, any: bool) {
        self.filters[1].push(self.levels.of(0, prediction, any));
    }

    /// Advances to the next row after the last macroblock of a row.
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

    /// The finished picture.
    pub fn finish(self) -> Image {
        self.image
    }
}
