//! What key frames say and what the others (RFC 6386 sections 9.2, 9.7, 9.10 and 9.11).

use super::super::corrupt::Corrupt;
use super::super::motion::SignBias;
use super::probabilities::VectorUpdates;
use crate::bool_coder::{Probability, Reader, Writer};
use crate::image::Size;

/// How a player is to enlarge the picture, each way: 0 not at all, 1 by 5/4, 2 by 5/3, 3 by 2. It does not change what is
/// decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scaling {
    /// Horizontally, 0 to 3.
    pub across: u8,
    /// Vertically, 0 to 3.
    pub down: u8,
}

/// What only key frames say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHeader {
    /// How large the picture is, from here on.
    pub size: Size,
    /// How it is to be enlarged.
    pub scaling: Scaling,
    /// The colour space bit; 0 is ITU-R BT.601, the only one.
    pub color_space: bool,
    /// Whether the encoder made sure that no pixel needs to be clamped to 0 to 255. It changes nothing here: clamping what
    /// needs none is harmless.
    pub needs_no_clamping: bool,
}

impl KeyHeader {
    /// A key frame's of a size, with nothing special.
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

/// What happens to the golden or the altref frame.
///
/// One pair is read in two ways: golden from altref while altref becomes the last frame or golden. libvpx replaces
/// altref first and gives golden what altref is by then, and so do this crate's states; ffmpeg and oxideav take both
/// from what was there before the frame, and show other pictures from then on. The encoder never writes that pair, but
/// the [equal one](Self::unambiguous) that all read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReferenceUpdate {
    /// It stays.
    #[default]
    Keep,
    /// This frame takes its place.
    ThisFrame,
    /// The frame that was the last until now takes its place.
    Last,
    /// The altref frame takes the golden frame's place, or the other way round. If both do, the altref frame is
    /// replaced first, so that both are the golden frame then.
    Other,
}

impl ReferenceUpdate {
    /// What happens to the golden and to the altref frame, said so that every decoder sees the same, whichever of the
    /// two it replaces first: the pair itself, or the one that comes to the same where altref is replaced first.
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

    /// The two bits that say what is copied.
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

/// What frames other than key frames say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterHeader {
    /// What happens to the golden frame.
    pub golden: ReferenceUpdate,
    /// What happens to the altref frame.
    pub altref: ReferenceUpdate,
    /// Whose vectors count backwards.
    pub sign_bias: SignBias,
    /// Whether this frame is the last frame to those after it.
    pub refreshes_last: bool,
    /// The probability that a macroblock is predicted from this frame.
    pub intra: Probability,
    /// The probability that the last frame is the reference.
    pub last: Probability,
    /// The probability that the golden frame is it, if the last is not.
    pub golden_not_altref: Probability,
    /// New probabilities of intra luma modes.
    pub luma_modes: Option<[Probability; 4]>,
    /// New probabilities of intra chroma modes.
    pub chroma_modes: Option<[Probability; 3]>,
    /// New probabilities of motion vectors.
    pub vectors: VectorUpdates,
}

impl InterHeader {
    /// Reads what comes before the probabilities of coefficients: all that is said of references, and whether probabilities
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

    /// Reads what comes after the probabilities of coefficients.
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

/// What only key frames say, and what only the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameKind {
    /// A frame that needs no other.
    Key(KeyHeader),
    /// A frame that is predicted from others.
    Inter(InterHeader),
}

impl FrameKind {
    /// Whether it is a key frame.
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
