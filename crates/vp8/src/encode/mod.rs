//! Encoding: from a state and a picture to a frame and the next state.
//!
//! [`encode`] is the simple interface. [`Analysis`] is the full one: everything that does not depend on the quality
//! (motion, modes, predictions, the transformed residual) is computed once, and any number of candidates are coded from
//! it, on any threads, at a [quantiser](Analysis::encode) or to a [size](Analysis::encode_to_size). The caller decides
//! afterwards which candidate is sent, if any: to continue from a candidate, use its state; to skip the picture, keep
//! the old state. A [`Plan`] sets for each frame which references it may use and which it replaces.
//!
//! ```
//! use thalweg_vp8::encode::{Analysis, Plan, Settings, encode};
//! use thalweg_vp8::{Image, Size, State, decode};
//!
//! let (size, settings) = (Size::new(320, 180)?, Settings::default());
//! let key = encode(&State::default(), &Image::filled(size, 90, 128, 128), &Plan::key(40), &settings)?;
//! let next = Image::filled(size, 100, 120, 128);
//! let analysis = Analysis::new(&key.state, &next, &Plan::inter(40), &settings)?;
//! let [finer, coarser] = [20, 60].map(|quantizer| analysis.encode(quantizer));
//! let fitting = analysis.encode_to_size(1000);
//! assert!(fitting.frame.len() <= 1000);
//! // A receiver sees exactly what the encoder says, whichever is sent.
//! for candidate in [finer, coarser, fitting] {
//!     assert_eq!(decode(&key.state, &candidate.frame)?.state, candidate.state);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Measurements during development
//!
//! PSNR of luma at equal rate over four 720p clips (the bench `encode`), each step compared with the one before:
//!
//! | step | gain |
//! |---|---|
//! | vectors looked at up to three times around, half and quarter pixels, instead of once | 0.20 dB |
//! | a search unless a macroblock differs by less than 3 to 4 steps of the quantiser, instead of 8 to 12 | 0.40 dB |
//! | where between pixels a search begins: from two lines through the differences instead of a parabola | 0.06 dB |
//! | blocks end where their last levels pay for their bits, and levels are rounded up more before that | 0.35 dB |
//! | a quiet macroblock (up to 10 steps of difference) is not even transformed | 0.00 dB, quicker |
//! | buffers that are used again | 0.00 dB, 27 % of the time |
//! | blocks say where their levels are, so that zeros are not walked over | 0.00 dB, 6 to 9 % of a candidate's time |
//! | motion is turned to bools once for all candidates | 0.00 dB, 0.1 ms of a candidate's 1 to 4 |
//! | a block without levels is recorded in place | 0.00 dB, 6 to 12 % of a candidate's time |
//!
//! No gain on these clips: predicting from references older than the last (they cost time, so the fast speed does not
//! use them), and shortening blocks in key frames (a loss of up to 0.3 dB: bits saved in a key frame reduce the quality
//! of all frames after it).
//!
//! Segments with their own quantisers gave no gain either, and therefore are not in the code. (Standard speed, 400 to
//! 4000 kbit/s, 60 pictures of each clip, 120 for key frames except for flower; PSNR of luma and SSIM of its 8x8 blocks
//! in dB, -10 log (1 - SSIM), at equal rate.)
//!
//! | finer and coarser, by steps of the quantiser's index | PSNR | SSIM |
//! |---|---|---|
//! | what stays in place by 1: hardly more than what a map in each frame takes | -0.25 to -0.59 dB | -0.15 to -0.43 dB |
//! | what stays in place finer by 8 | -0.35 to -0.76 dB | -0.20 to -0.61 dB |
//! | what stays in place coarser by 8 | -0.23 to -0.51 dB | -0.15 to -0.36 dB |
//! | smooth macroblocks finer by 14 and 7, those full of detail coarser by 7 | -1.06 to -1.97 dB | -1.29 to +0.06 dB |
//! | the same in key frames alone | -0.08 to +0.07 dB | 0.00 to +0.30 dB |
//! | all of a key frame finer by 7 (not measured on flower): the caller's choice, no map | +0.05 to +0.13 dB | +0.07 to +0.21 dB |

mod analysis;
mod coding;
pub mod cost;
mod motion_bools;
mod plan;
mod settings;
mod size;
mod weights;

pub use coding::Coded;
pub use plan::{Fit, Plan, PlanKind, ReferenceSet};
pub use settings::{Settings, Speed};

use analysis::Found;
use weights::Weights;

use crate::image::{Image, Size};
use crate::kernels::Kernels;
use crate::quantize::OTHER_FACTORS;
use crate::state::{References, State};

/// Why a frame cannot be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The plan is an inter frame, and the state has no references.
    #[error("a frame predicted from others was asked for, but the state has none: ask for a key frame first")]
    NoReference,
    /// The plan allows none of the references.
    #[error("a frame predicted from other frames was asked for, but from none of the three: name one")]
    NoneOfTheReferences,
    /// The picture's size differs from that of the references.
    #[error("an image of {image} pixels cannot be predicted from frames of {state}: ask for a key frame")]
    Size {
        /// The size of the picture.
        image: Size,
        /// The size of the state's references.
        state: Size,
    },
}

/// The analysis of a picture: everything that does not depend on the quality it is coded at.
///
/// Candidates are coded from it with [`encode`](Self::encode), in any order and from any thread: it is `Sync`, so that
/// several cores can code one each. That pays for large pictures on idle cores; on two busy ones a second thread
/// started 0.2 to 1 ms late, and two candidates of 720p (4 and 1 ms) were finished no sooner than one after the other.
///
/// ```
/// # use thalweg_vp8::encode::{Analysis, Plan, Settings, encode};
/// # use thalweg_vp8::{Image, Size, State};
/// # let settings = Settings::default();
/// # let [first, next] = [90, 100].map(|grey| Image::filled(Size::new(32, 32).unwrap(), grey, 128, 128));
/// # let state = encode(&State::default(), &first, &Plan::key(40), &settings)?.state;
/// let analysis = Analysis::new(&state, &next, &Plan::inter(40), &settings)?;
/// let (finer, coarser) = std::thread::scope(|scope| {
///     let coarser = scope.spawn(|| analysis.encode(63));
///     (analysis.encode(23), coarser.join().expect("coding does not panic"))
/// });
/// assert_eq!((finer.frame, coarser.frame), (analysis.encode(23).frame, analysis.encode(63).frame));
/// # Ok::<(), thalweg_vp8::encode::EncodeError>(())
/// ```
#[derive(Debug)]
pub struct Analysis<'a> {
    kernels: &'static Kernels,
    state: &'a State,
    image: &'a Image,
    plan: Plan,
    settings: Settings,
    /// `None` for a key frame, which is not analysed.
    found: Option<Found>,
}

impl<'a> Analysis<'a> {
    /// Analyses a picture that is to be coded from a state.
    ///
    /// # Errors
    /// When the plan is an inter frame and the references are missing or have another size.
    pub fn new(state: &'a State, image: &'a Image, plan: &Plan, settings: &Settings) -> Result<Self, EncodeError> {
        let kernels = Kernels::detected();
        let mut analysis = Self { kernels, state, image, plan: *plan, settings: *settings, found: None };
        if let PlanKind::Inter { from, .. } = plan.kind {
            let references = state.references().ok_or(EncodeError::NoReference)?;
            if references.size != image.size() {
                return Err(EncodeError::Size { image: image.size(), state: references.size });
            }
            if from == ReferenceSet::NONE {
                return Err(EncodeError::NoneOfTheReferences);
            }
            analysis.found = Some(analysis.analyse(references, from, plan.quantizer));
        }
        Ok(analysis)
    }

    /// Analyses the picture as an inter frame.
    fn analyse(&self, references: &References, from: ReferenceSet, quantizer: u8) -> Found {
        let (kernels, speed) = (self.kernels, self.settings.speed);
        let weights = Weights::new(OTHER_FACTORS[usize::from(quantizer.min(127))] as i16, speed);
        analysis::analyse(kernels, self.state, references, self.image, from, &weights, speed)
    }

    /// Codes the picture at a quantiser of 0 (finest) to 127; larger values count as 127. For a picture of more than
    /// ten million pixels whose modes take over 512 KiB, the maximum for a frame, simpler modes are chosen.
    #[must_use]
    pub fn encode(&self, quantizer: u8) -> Coded {
        coding::code(self, coding::Coding::at(quantizer))
    }

    /// Codes the picture as [`encode`](Self::encode) does and consumes the analysis: its memory is reused for the
    /// frame's picture, which saves a copy.
    #[must_use]
    pub fn finish(mut self, quantizer: u8) -> Coded {
        let prediction = self.found.as_mut().map(|found| std::mem::replace(&mut found.prediction, Image::nothing()));
        coding::code_over(&self, coding::Coding::at(quantizer), prediction)
    }

    /// Codes the picture to at most `bytes`, at the finest possible quantiser: usually to at least 84 % of them, in
    /// two or three codings, or in one where the last frame tells how sizes differ from estimates. If even the coarsest
    /// quantiser takes more, only the macroblocks that differ most are coded, and finally motion is left out. The frame
    /// is longer than requested only if that is unavoidable: a few hundred bytes, or a key frame, which is never coarser
    /// than the coarsest quantiser makes it.
    #[must_use]
    pub fn encode_to_size(&self, bytes: usize) -> Coded {
        size::code_to_size(self, bytes)
    }

    /// Codes the picture to about `bytes`, at the quantiser `finest` or a coarser one: usually within a quarter of the
    /// target, mostly in one coding and at most in three. This is for an average rate, without a limit for each frame;
    /// a frame that is too large at the coarsest quantiser stays that large.
    #[must_use]
    pub fn encode_about(&self, bytes: usize, finest: u8) -> Coded {
        size::code_about(self, bytes, finest)
    }

    /// The same picture, with motion and modes chosen for another quantiser.
    fn for_quantizer(&self, quantizer: u8) -> Self {
        let plan = Plan { quantizer, ..self.plan };
        let found = match (plan.kind, self.state.references()) {
            (PlanKind::Inter { from, .. }, Some(references)) => Some(self.analyse(references, from, quantizer)),
            _ => None,
        };
        Self { plan, found, ..*self }
    }

    /// The same picture, with every macroblock copied from the same position of the first reference.
    fn without_motion(&self) -> Self {
        let found = match (self.plan.kind, self.state.references()) {
            (PlanKind::Inter { from, .. }, Some(references)) => {
                Some(analysis::stay(self.kernels, references, self.image, from))
            }
            _ => None,
        };
        Self { found, ..*self }
    }
}

/// Codes a picture at the quantiser of its plan.
///
/// # Errors
/// When the plan is an inter frame and the references are missing or have another size.
pub fn encode(state: &State, image: &Image, plan: &Plan, settings: &Settings) -> Result<Coded, EncodeError> {
    Ok(Analysis::new(state, image, plan, settings)?.finish(plan.quantizer))
}
