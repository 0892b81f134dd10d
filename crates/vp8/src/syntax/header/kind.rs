//! The fields of key frames and of inter frames (RFC 6386 sections 9.2, 9.7, 9.10 and 9.11).

use super::super::corrupt::Corrupt;
use super::super::motion::SignBias;
use super::probabilities::VectorUpdates;
use crate::bool_coder::{Probability, Reader, Writer};
use crate::image::Size;

/// How a player is to enlarge the picture in each direction: 0 not at all, 1 by 5/4, 2 by 5/3, 3 by 2. It has no effect
/// on decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scaling {
    /// Horizontally, 0 to 3.
    pub across: u8,
    /// Vertically, 0 to 3.
    pub down: u8,
}

/// The fields of key frames only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHeader {
    /// The size of the picture, from this frame on.
    pub size: Size,
    /// How a player is to enlarge it.
    pub scaling: Scaling,
    /// The colour space bit; 0 is ITU-R BT.601, the only one.
    pub color_space: bool,
    /// True if the encoder guarantees that no pixel needs clamping to 0 to 255. It is ignored here: superfluous
    /// clamping is harmless.
    pub needs_no_clamping: bool,
}

impl KeyHeader {
    /// The header of a key frame of this size, with default values.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { size, scaling: Scaling::default(), color_space: false, needs_no_clamping: false }
    }

    pub(super) fn read((size, scaling): (Size, Scaling), reader: &mut Reader<'_>) -> Self {
        Self { size, scaling, color_space: reader.flag(), needs_no_clamping: reader.flag() }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.flag(self.color_space);
        writer.flag(self.needs_no_clamping);
    }
}

/// The update of the golden or the altref frame.
///
/// Decoders disagree on one pair: golden becomes altref while altref becomes the last frame or golden. libvpx replaces
/// altref first and copies the new altref to golden, and so do this crate's states; ffmpeg and oxideav copy from the
/// references before the frame, and show different pictures from then on. The encoder never writes that pair, but the
/// [equivalent one](Self::unambiguous) that all decoders agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReferenceUpdate {
    /// It is kept.
    #[default]
    Keep,
    /// It becomes this frame.
    ThisFrame,
    /// It becomes the previous last frame.
    Last,
    /// Golden becomes the altref frame, or altref becomes golden. If both do, altref is replaced first, so that both
    /// become the golden frame.
    Other,
}

impl ReferenceUpdate {
    /// The updates of the golden and the altref frame in a form on which all decoders agree, whichever of the two they
    /// replace first: the pair itself, or the equivalent of replacing altref first.
    ///
    /// ```
    /// use thalweg_vp8::syntax::header::ReferenceUpdate::{self, Keep, Last, Other};
    ///
    /// assert_eq!(ReferenceUpdate::unambiguous(Other, Other), (Keep, Other));
    /// assert_eq!(ReferenceUpdate::unambiguous(Other, Last), (Last, Last));
    /// ```
    #[must_use]
    pub const fn unambiguous(golden: Self, altref: Self) -> (Self, Self) {
        match (golden, altref) {
            (Self::Other, Self::Other) => (Self::Keep, Self::Other),
            (Self::Other, Self::Last) => (Self::Last, Self::Last),
            pair => pair,
        }
    }

    /// Reads the two bits of the reference to copy.
    fn copied(reader: &mut Reader<'_>, which: &'static str) -> Result<Self, Corrupt> {
        match reader.small(2) {
            0 => Ok(Self::Keep),
            1 => Ok(Self::Last),
            2 => Ok(Self::Other),
            _ => Err(Corrupt::ReferenceCopy { which }),
        }
    }

    fn write_copied(self, writer: &mut Writer) {
        match self {
            Self::ThisFrame => {}
            Self::Keep => writer.literal(2, 0),
            Self::Last => writer.literal(2, 1),
            Self::Other => writer.literal(2, 2),
        }
    }
}

/// The fields of inter frames.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterHeader {
    /// The update of the golden frame.
    pub golden: ReferenceUpdate,
    /// The update of the altref frame.
    pub altref: ReferenceUpdate,
    /// The references whose vectors are sign-inverted.
    pub sign_bias: SignBias,
    /// True if this frame replaces the last frame.
    pub refreshes_last: bool,
    /// The probability that a macroblock is intra-predicted.
    pub intra: Probability,
    /// The probability that the last frame is the reference.
    pub last: Probability,
    /// The probability that the golden frame is the reference, if the last is not.
    pub golden_not_altref: Probability,
    /// New probabilities of intra luma modes.
    pub luma_modes: Option<[Probability; 4]>,
    /// New probabilities of intra chroma modes.
    pub chroma_modes: Option<[Probability; 3]>,
    /// New probabilities of motion vectors.
    pub vectors: VectorUpdates,
}

impl InterHeader {
    /// Reads the fields before the probabilities of coefficients: all fields of references, and whether probabilities
    /// are kept.
    pub(super) fn read_references(reader: &mut Reader<'_>) -> Result<(Self, bool), Corrupt> {
        let (takes_golden, takes_altref) = (reader.flag(), reader.flag());
        let mut update = |takes_this: bool, which| {
            if takes_this { Ok(ReferenceUpdate::ThisFrame) } else { ReferenceUpdate::copied(reader, which) }
        };
        let golden = update(takes_golden, "golden")?;
        let altref = update(takes_altref, "altref")?;
        let sign_bias = SignBias { golden: reader.flag(), altref: reader.flag() };
        let keeps_probabilities = reader.flag();
        let refreshes_last = reader.flag();
        Ok((Self { golden, altref, sign_bias, refreshes_last, ..Self::default() }, keeps_probabilities))
    }

    pub(super) fn write_references(&self, writer: &mut Writer, keeps_probabilities: bool) {
        writer.flag(self.golden == ReferenceUpdate::ThisFrame);
        writer.flag(self.altref == ReferenceUpdate::ThisFrame);
        self.golden.write_copied(writer);
        self.altref.write_copied(writer);
        writer.flag(self.sign_bias.golden);
        writer.flag(self.sign_bias.altref);
        writer.flag(keeps_probabilities);
        writer.flag(self.refreshes_last);
    }

    /// Reads the fields after the probabilities of coefficients.
    pub(super) fn read_probabilities(&mut self, reader: &mut Reader<'_>) {
        self.intra = reader.small(8);
        self.last = reader.small(8);
        self.golden_not_altref = reader.small(8);
        self.luma_modes = reader.optional(|reader| std::array::from_fn(|_| reader.small(8)));
        self.chroma_modes = reader.optional(|reader| std::array::from_fn(|_| reader.small(8)));
        self.vectors = VectorUpdates::read(reader);
    }

    pub(super) fn write_probabilities(&self, writer: &mut Writer) {
        fn all(writer: &mut Writer, probabilities: &[Probability]) {
            probabilities.iter().for_each(|&probability| writer.literal(8, u32::from(probability)));
        }
        all(writer, &[self.intra, self.last, self.golden_not_altref]);
        writer.optional(self.luma_modes, |writer, modes| all(writer, &modes));
        writer.optional(self.chroma_modes, |writer, modes| all(writer, &modes));
        self.vectors.write(writer);
    }
}

/// The fields of key frames only, or those of inter frames only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameKind {
    /// A key frame.
    Key(KeyHeader),
    /// An inter frame.
    Inter(InterHeader),
}

impl FrameKind {
    /// Returns true for a key frame.
    #[must_use]
    pub const fn is_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }

    pub(super) const fn start(&self) -> Option<(Size, Scaling)> {
        match self {
            Self::Key(key) => Some((key.size, key.scaling)),
            Self::Inter(_) => None,
        }
    }
}
