//! How strong the loop filter is.

use super::plan::PlanKind;
use crate::filter::{FilterLevels, LoopFilter};
use crate::image::Image;
use crate::kernels::Kernels;
use crate::state::Coding;
use crate::syntax::{FrameHeader, MacroblockModes};

/// The level for a quantiser.
pub fn filter_level(quantizer: u8, _kind: PlanKind) -> u8 {
    quantizer * 3 / 8
}

/// Filters a reconstructed image as a decoder will.
pub fn apply(
    kernels: &'static Kernels,
    header: &FrameHeader,
    coding: &Coding,
    modes: &[MacroblockModes],
    image: &mut Image,
) {
    let Some(filter) = LoopFilter::new(kernels, &header.filter, header.kind.is_key()) else { return };
    let levels = FilterLevels::new(&header.filter, None, &coding.filter_deltas);
    let mut row_filters = Vec::with_capacity(coding.size.columns());
    let mut planes = image.planes_mut();
    for (row, modes) in modes.chunks_exact(coding.size.columns()).enumerate() {
        row_filters.clear();
        row_filters.extend(modes.iter().map(|modes| levels.of(0, &modes.prediction, !modes.is_skipped)));
        filter.filter_row(&mut planes, row, &row_filters);
    }
}
