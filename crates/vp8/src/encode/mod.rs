//! Encoding: from a state and an image to a frame and the next state.

mod analysis;
mod coding;
pub mod cost;
mod filter_level;
mod plan;
mod settings;
mod weights;

pub use coding::Coded;
pub use plan::{Plan, PlanKind, ReferenceSet};
pub use settings::{Settings, Speed};

use analysis::Found;
use weights::Weights;

use crate::image::{Image, Size};
use crate::kernels::Kernels;
use crate::quantize::OTHER_FACTORS;
use crate::state::State;

/// A frame that cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A frame predicted from others, and none to predict from.
    #[error("a frame predicted from others was asked for, but the state has none: ask for a key frame first")]
    NoReference,
    /// A frame predicted from none of the references.
    #[error("a frame predicted from other frames was asked for, but from none of the three: name one")]
    NoneOfTheReferences,
    /// A frame predicted from others of another size.
    #[error("an image of {image} pixels cannot be predicted from frames of {state}: ask for a key frame")]
    Size {
        /// The size of the image.
        image: Size,
        /// The size of the state's frames.
        state: Size,
    },
}

/// An image about which everything is found out that does not depend on the quality it is coded at.
///
/// Candidates are made from it with [`encode`](Self::encode), from any thread and in any order.
#[derive(Debug)]
pub struct Analysis<'a> {
    kernels: &'static Kernels,
    state: &'a State,
    image: &'a Image,
    plan: Plan,
    settings: Settings,
    /// Of a key frame there is nothing.
    found: Option<Found>,
}

impl<'a> Analysis<'a> {
    /// Finds out about an image that is to be coded from a state.
    ///
    /// # Errors
    /// When it is to be predicted from frames that are not there or of another size.
    pub fn new(state: &'a State, image: &'a Image, plan: &Plan, settings: &Settings) -> Result<Self, EncodeError> {
        let kernels = Kernels::detected();
        let found = match plan.kind {
            PlanKind::Key => None,
            PlanKind::Inter { from, .. } => {
                let references = state.references().ok_or(EncodeError::NoReference)?;
                if references.size != image.size() {
                    return Err(EncodeError::Size { image: image.size(), state: references.size });
                }
                if from == ReferenceSet::NONE {
                    return Err(EncodeError::NoneOfTheReferences);
                }
                let weights = Weights::new(OTHER_FACTORS[usize::from(plan.quantizer.min(127))] as i16);
                Some(analysis::analyse(kernels, state, references, image, from, &weights, settings.speed))
            }
        };
        Ok(Self { kernels, state, image, plan: *plan, settings: *settings, found })
    }

    /// Codes the image with a quantiser of 0 (finest) to 127; more counts as 127.
    #[must_use]
    pub fn encode(&self, quantizer: u8) -> Coded {
        coding::code(self, quantizer)
    }
}

/// Codes an image at the quantiser of its plan.
///
/// # Errors
/// When it is to be predicted from frames that are not there or of another size.
pub fn encode(state: &State, image: &Image, plan: &Plan, settings: &Settings) -> Result<Coded, EncodeError> {
    Ok(Analysis::new(state, image, plan, settings)?.encode(plan.quantizer))
}

/// TEMPORARY
pub fn tune(name: &str, default: i64) -> i64 {
    std::env::var(name).ok().and_then(|t| t.parse().ok()).unwrap_or(default)
}
