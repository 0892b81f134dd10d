//! Reading and writing a frame's macroblocks in raster order.

use super::corrupt::WriteError;
use super::header::{FrameHeader, FrameKind, Partitions};
use super::layout::{FrameWriter, OpenFrame};
use super::modes::{MacroblockModes, ModeCoding, Neighbours};
use super::motion::SignBias;
use super::probabilities::Probabilities;
use super::tokens::{self, Coefficients, EdgeContext, MacroblockFactors};
use crate::bool_coder::Reader;
use crate::image::Size;

impl ModeCoding {
    /// The coding of modes for a frame with this header.
    #[must_use]
    pub fn of(header: &FrameHeader) -> Self {
        let segments = header.segmentation.and_then(|segmentation| segmentation.map_probabilities());
        let skip = header.skip;
        match &header.kind {
            FrameKind::Key(_) => {
                Self { is_key: true, segments, skip, intra: 0, last: 0, golden: 0, sign_bias: SignBias::default() }
            }
            FrameKind::Inter(inter) => Self {
                is_key: false,
                segments,
                skip,
                intra: inter.intra,
                last: inter.last,
                golden: inter.golden_not_altref,
                sign_bias: inter.sign_bias,
            },
        }
    }
}

/// Which blocks around the next macroblock have coefficients.
#[derive(Debug, Clone)]
pub struct Edges {
    above: Vec<EdgeContext>,
    left: EdgeContext,
}

impl Edges {
    /// The contexts before a frame's first macroblock.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { above: vec![EdgeContext::default(); size.columns()], left: EdgeContext::default() }
    }

    /// The contexts of the macroblock in a column, the one above first; reading, writing or skipping the macroblock
    /// updates them. Column 0 begins a row.
    #[inline]
    pub fn at(&mut self, column: usize) -> (&mut EdgeContext, &mut EdgeContext) {
        if column == 0 {
            self.left = EdgeContext::default();
        }
        (&mut self.above[column], &mut self.left)
    }
}

/// Reads a frame's macroblocks.
#[derive(Debug, Clone)]
pub struct MacroblockReader<'a> {
    coding: ModeCoding,
    neighbours: Neighbours,
    edges: Edges,
    modes: Reader<'a>,
    partitions: Vec<Reader<'a>>,
    split: Partitions,
}

impl<'a> MacroblockReader<'a> {
    /// A reader of the macroblocks of a frame of this size; also returns the frame's header.
    #[must_use]
    pub fn new(frame: OpenFrame<'a>, size: Size) -> (Self, FrameHeader) {
        let OpenFrame { header, modes, partitions, .. } = frame;
        let coding = ModeCoding::of(&header);
        let (neighbours, edges) = (Neighbours::new(size), Edges::new(size));
        (Self { coding, neighbours, edges, modes, partitions, split: header.partitions }, header)
    }

    /// Reads the modes of the next macroblock. Its [coefficients](Self::coefficients) are to be read next.
    #[inline]
    pub fn modes(&mut self, probabilities: &Probabilities) -> MacroblockModes {
        self.coding.read(&mut self.modes, probabilities, &self.neighbours)
    }

    /// Reads the coefficients of the macroblock whose modes were read last, dequantised, into blocks that must be zero,
    /// and advances to the next. Returns whether any are coded. If the data is truncated they count as coded, but are
    /// 0, as in libvpx.
    #[inline]
    pub fn coefficients(
        &mut self,
        modes: &MacroblockModes,
        probabilities: &Probabilities,
        factors: &MacroblockFactors,
        coefficients: &mut Coefficients,
    ) -> bool {
        let (column, row) = self.neighbours.position();
        self.neighbours.advance(&modes.prediction);
        let (above, left) = self.edges.at(column);
        let has_y2 = modes.prediction.has_y2();
        if modes.is_skipped {
            tokens::skip(above, left, has_y2);
            return false;
        }
        let reader = &mut self.partitions[self.split.of_row(row)];
        reader.is_past_end()
            || tokens::read(reader, &probabilities.coefficients, (above, left), has_y2, factors, coefficients)
    }

    /// Returns true if the frame's data is incomplete.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.modes.is_past_end() || self.partitions.iter().any(Reader::is_past_end)
    }
}

/// Writes a frame's macroblocks.
#[derive(Debug, Clone)]
pub struct MacroblockWriter {
    coding: ModeCoding,
    neighbours: Neighbours,
    edges: Edges,
    frame: FrameWriter,
    split: Partitions,
}

impl MacroblockWriter {
    /// A writer for a frame of this size; writes the header at once.
    #[must_use]
    pub fn new(header: FrameHeader, size: Size) -> Self {
        Self {
            coding: ModeCoding::of(&header),
            neighbours: Neighbours::new(size),
            edges: Edges::new(size),
            split: header.partitions,
            frame: FrameWriter::new(header),
        }
    }

    /// The neighbours of the next macroblock, from which its modes and vectors are coded.
    #[must_use]
    pub const fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Writes the next macroblock: its modes and, unless it is skipped, its levels.
    pub fn write(&mut self, modes: &MacroblockModes, probabilities: &Probabilities, levels: &Coefficients) {
        let (column, row) = self.neighbours.position();
        self.coding.write(&mut self.frame.modes, probabilities, &self.neighbours, modes);
        self.neighbours.advance(&modes.prediction);
        let (above, left) = self.edges.at(column);
        let has_y2 = modes.prediction.has_y2();
        if modes.is_skipped && self.coding.skip.is_some() {
            tokens::skip(above, left, has_y2);
        } else {
            let writer = &mut self.frame.partitions[self.split.of_row(row)];
            tokens::write(writer, &probabilities.coefficients, (above, left), has_y2, levels);
        }
    }

    /// The frame, after its last macroblock.
    ///
    /// # Errors
    /// See [`FrameWriter::finish`].
    pub fn finish(self) -> Result<Vec<u8>, WriteError> {
        self.frame.finish()
    }
}
