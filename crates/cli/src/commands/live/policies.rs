//! Policies from files where time passes while they compute.

use std::sync::Arc;

use thalweg_emulate::clock::Clock;
use thalweg_learned::{Deadline, LearnedSender, onnx};
use thalweg_units::Span;

/// An answer that takes longer is none: the limit of the challenge of MMSys'24.
const ANSWER_WITHIN: Span = Span::from_millis(5);

/// The policy of this name, whose answers may not be late.
pub(super) fn open(name: &str, clock: Clock) -> anyhow::Result<LearnedSender> {
    let deadline = Deadline { within: ANSWER_WITHIN, clock: Arc::new(move || clock.now()) };
    Ok(onnx::open(name)?.with_deadline(deadline))
}
