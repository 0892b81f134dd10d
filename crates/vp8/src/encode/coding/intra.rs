//! Intra macroblocks: modes are tried in place, on the reconstruction so far.

use super::IntraVariety;
use super::macroblocks::{MacroblockCoder, Terms};
use super::mode_costs;
use super::quantizers::MacroblockQuantizer;
use super::residual::{Residual, Transform};
use crate::encode::cost::{self, Cost};
use crate::encode::weights::Weights;
use crate::image::{Planes, PlanesMut};
use crate::kernels::Kernels;
use crate::predict::intra::{SubblockEdges, predict_chroma, predict_luma, predict_subblock};
use crate::residual;
use crate::syntax::intra_modes::{
    CHROMA_TREE, KEY_CHROMA_MODES, KEY_LUMA_MODES, KEY_LUMA_TREE, LUMA_TREE, modes_beside,
};
use crate::syntax::tokens::Y2;
use crate::syntax::{BlockMode, IntraModes, LumaMode, Neighbours, Probabilities, SubblockMode};

impl MacroblockCoder<'_> {
    /// Chooses the modes of the next macroblock and reconstructs it; returns the modes and whether it has any levels.
    pub fn code_intra(&mut self) -> (IntraModes, bool) {
        let position = self.position;
        let Terms { kernels, source, quantizer, weights, probabilities, is_key, .. } = self.terms;
        let attempt = IntraAttempt {
            kernels,
            source: source.planes(),
            quantizer,
            weights,
            probabilities,
            neighbours: &self.neighbours,
            is_key,
            position,
            drops_levels: self.terms.drops_levels,
        };
        let mut planes = self.canvas.planes();
        let residual = &mut self.residual;
        let ((whole, cost), chroma) = match self.terms.intra {
            IntraVariety::One => ((BlockMode::Dc, 0), BlockMode::Dc),
            _ => (attempt.choose_luma(&mut planes), attempt.choose_chroma(&mut planes)),
        };
        if self.terms.intra == IntraVariety::All
            && let Some((modes, any)) = attempt.code_subblocks(&mut planes, residual, chroma, cost)
        {
            return (IntraModes { luma: LumaMode::Subblocks(modes), chroma }, any);
        }
        let any = attempt.code_whole(&mut planes, residual, whole, chroma);
        (IntraModes { luma: LumaMode::Whole(whole), chroma }, any)
    }
}

/// The inputs of the choice of a macroblock's intra modes.
struct IntraAttempt<'a> {
    kernels: &'static Kernels,
    source: Planes<'a>,
    quantizer: &'a MacroblockQuantizer,
    weights: &'a Weights,
    probabilities: &'a Probabilities,
    neighbours: &'a Neighbours,
    is_key: bool,
    position: (usize, usize),
    drops_levels: bool,
}

impl IntraAttempt<'_> {
    /// Where the macroblock starts in luma and in chroma.
    const fn starts(&self) -> (usize, usize) {
        let (column, row) = self.position;
        (16 * (row * self.source.stride + column), 8 * (row * self.source.stride / 2 + column))
    }

    const fn transform(&self) -> Transform<'_> {
        Transform::of(self.kernels, self.source, self.position)
    }

    /// Converts bits to sums of absolute Hadamard coefficients.
    const fn weigh(&self, bits: Cost) -> u32 {
        (bits * self.weights.transformed_per_bit) >> 16
    }

    /// The best mode for the whole luma block, and its cost.
    fn choose_luma(&self, planes: &mut PlanesMut<'_>) -> (BlockMode, u32) {
        let (column, row) = self.position;
        let (at, _) = self.starts();
        let stride = self.source.stride;
        let costs = BlockMode::ALL.map(|mode| {
            predict_luma(planes, column, row, mode);
            let left = self.kernels.satd_16x16(&self.source.y[at..], stride, &planes.y[at..], stride);
            (mode, left + self.weigh(self.luma_bits(Some(mode))))
        });
        cheapest(costs)
    }

    fn luma_bits(&self, mode: Option<BlockMode>) -> Cost {
        let mut bits = 0;
        let (tree, probabilities) =
            if self.is_key { (KEY_LUMA_TREE, &KEY_LUMA_MODES) } else { (LUMA_TREE, &self.probabilities.luma_modes) };
        tree.walk(mode, |node, bool| bits += cost::of_bool(probabilities[node], bool));
        bits
    }

    /// The best mode for both chroma planes.
    fn choose_chroma(&self, planes: &mut PlanesMut<'_>) -> BlockMode {
        let (column, row) = self.position;
        let (_, at) = self.starts();
        let stride = self.source.stride / 2;
        let probabilities = if self.is_key { &KEY_CHROMA_MODES } else { &self.probabilities.chroma_modes };
        let costs = BlockMode::ALL.map(|mode| {
            predict_chroma(planes, column, row, mode);
            let left = self.kernels.satd_8x8(&self.source.u[at..], stride, &planes.u[at..], stride)
                + self.kernels.satd_8x8(&self.source.v[at..], stride, &planes.v[at..], stride);
            let mut bits = 0;
            CHROMA_TREE.walk(mode, |node, bool| bits += cost::of_bool(probabilities[node], bool));
            (mode, left + self.weigh(bits))
        });
        cheapest(costs).0
    }

    /// Codes luma in one mode, and chroma.
    fn code_whole(
        &self,
        planes: &mut PlanesMut<'_>,
        residual: &mut Residual,
        luma: BlockMode,
        chroma: BlockMode,
    ) -> bool {
        let (column, row) = self.position;
        predict_luma(planes, column, row, luma);
        predict_chroma(planes, column, row, chroma);
        let mut coefficients = [[0; 16]; 25];
        self.transform().all(&planes.as_planes(), true, &mut coefficients);
        let any = !self.drops_levels && residual.quantize(self.kernels, &coefficients, self.quantizer, true);
        if any {
            residual.add(self.kernels, planes, self.position, true);
        }
        any
    }

    /// Codes chroma alone.
    fn code_chroma(&self, planes: &mut PlanesMut<'_>, residual: &mut Residual, mode: BlockMode) -> bool {
        let (column, row) = self.position;
        predict_chroma(planes, column, row, mode);
        let mut coefficients = [[0; 16]; 25];
        self.transform().chroma(&planes.as_planes(), &mut coefficients);
        let any = residual.quantize_blocks(self.kernels, &coefficients, &self.quantizer.chroma, 16..24);
        residual.set_ends();
        residual::add_chroma(self.kernels, &residual.restored, planes, column, row);
        any
    }

    /// Codes luma subblock by subblock, each in its best mode, unless the cost exceeds `limit`, and chroma. Returns the
    /// modes and whether there are any levels.
    fn code_subblocks(
        &self,
        planes: &mut PlanesMut<'_>,
        residual: &mut Residual,
        chroma: BlockMode,
        limit: u32,
    ) -> Option<([SubblockMode; 16], bool)> {
        let (column, row) = self.position;
        let (at, _) = self.starts();
        let stride = planes.stride;
        let edges = SubblockEdges::of(planes.y, stride, column, row);
        let (above, left) = (self.neighbours.above().lower_modes, self.neighbours.left().right_modes);
        let mut modes = [SubblockMode::Dc; 16];
        let mut total = self.weigh(self.luma_bits(None) + self.weights.subblock_bits);
        let mut coefficients = [[0; 16]; 25];
        let mut any = false;
        for subblock in 0..16 {
            let start = at + subblock / 4 * 4 * stride + subblock % 4 * 4;
            let source = &self.source.y[start..];
            let bits = if self.is_key {
                let (above, left) = modes_beside(&modes, subblock, &above, &left);
                mode_costs::in_key_frame(above, left)
            } else {
                mode_costs::in_other_frames()
            };
            let costs = SubblockMode::ALL.map(|mode| {
                predict_subblock(planes.y, at, stride, &edges, subblock, mode);
                let left = self.kernels.satd_4x4(source, stride, &planes.y[start..], stride);
                (mode, left + self.weigh(bits[mode as usize]))
            });
            let (mode, cost) = cheapest(costs);
            total += cost;
            if total >= limit {
                return None;
            }
            modes[subblock] = mode;
            predict_subblock(planes.y, at, stride, &edges, subblock, mode);
            coefficients[subblock] = self.kernels.forward_dct(source, stride, &planes.y[start..], stride);
            any |= residual.quantize_blocks(self.kernels, &coefficients, &self.quantizer.luma, subblock..subblock + 1);
            let (restored, end) = (&residual.restored.blocks[subblock], 16 - residual.coded[subblock].leading_zeros());
            residual::add_subblock(self.kernels, restored, end as u8, planes.y, start, stride);
        }
        residual.coded[Y2] = 0;
        let any = self.code_chroma(planes, residual, chroma) | any;
        Some((modes, any))
    }
}

/// The value with the lowest cost; the first of several.
fn cheapest<T: Copy, const N: usize>(costs: [(T, u32); N]) -> (T, u32) {
    costs.into_iter().reduce(|best, other| if other.1 < best.1 { other } else { best }).expect("at least one value")
}
