//! Reconstruction of pixels from modes and coefficients, before the loop filter.

use crate::image::{Image, PlanesMut};
use crate::kernels::Kernels;
use crate::predict::{InterPredictor, intra};
use crate::residual;
use crate::state::References;
use crate::syntax::{Coefficients, IntraModes, LumaMode, Prediction, SubblockMode};

/// The coefficients of a macroblock without any.
static NOTHING: Coefficients = Coefficients { blocks: [[0; 16]; 25], ends: [0; 25] };

/// Reconstructs macroblocks.
#[derive(Debug, Clone, Copy)]
pub struct Reconstructor<'a> {
    /// The inter predictor.
    pub predictor: InterPredictor,
    /// The references, of the same size as the reconstructed frame; without them there are no inter macroblocks.
    pub references: Option<&'a References>,
}

impl Reconstructor<'_> {
    /// Reconstructs the macroblock in a column and row: predicts it and adds its coefficients, if it has any; those of
    /// its Y2 block are distributed first. The macroblocks before it must be reconstructed, and those above not
    /// filtered yet.
    #[inline]
    pub fn reconstruct(
        &self,
        planes: &mut PlanesMut<'_>,
        (column, row): (usize, usize),
        prediction: &Prediction,
        coefficients: Option<&mut Coefficients>,
    ) {
        let kernels = self.predictor.kernels;
        match prediction {
            Prediction::Intra(IntraModes { luma, chroma }) => {
                intra::predict_chroma(planes, column, row, *chroma);
                match luma {
                    LumaMode::Whole(mode) => intra::predict_luma(planes, column, row, *mode),
                    LumaMode::Subblocks(modes) => {
                        let coefficients = coefficients.as_deref().unwrap_or(&NOTHING);
                        reconstruct_subblocks(kernels, planes, (column, row), modes, coefficients);
                        residual::add_chroma(kernels, coefficients, planes, column, row);
                        return;
                    }
                }
            }
            Prediction::Inter { reference, motion } => {
                if let Some(references) = self.references {
                    let image: &Image = references.get(*reference);
                    self.predictor.predict(image, motion, planes, column, row);
                }
            }
        }
        if let Some(coefficients) = coefficients {
            if prediction.has_y2() {
                residual::distribute_y2(kernels, coefficients);
            }
            let at = row * 16 * planes.stride + column * 16;
            residual::add_luma(kernels, coefficients, planes.y, at, planes.stride);
            residual::add_chroma(kernels, coefficients, planes, column, row);
        }
    }
}

/// Predicts and adds luma subblock by subblock, as each is predicted from those before it.
fn reconstruct_subblocks(
    kernels: &Kernels,
    planes: &mut PlanesMut<'_>,
    (column, row): (usize, usize),
    modes: &[SubblockMode; 16],
    coefficients: &Coefficients,
) {
    let stride = planes.stride;
    let at = row * 16 * stride + column * 16;
    let edges = intra::SubblockEdges::of(planes.y, stride, column, row);
    for (subblock, &mode) in modes.iter().enumerate() {
        intra::predict_subblock(planes.y, at, stride, &edges, subblock, mode);
        let at = at + subblock / 4 * 4 * stride + subblock % 4 * 4;
        let (block, end) = (&coefficients.blocks[subblock], coefficients.ends[subblock]);
        residual::add_subblock(kernels, block, end, planes.y, at, stride);
    }
}
