//! The simplest policy: encodes every picture, at the controller's capacity.

use alloc::vec;

use super::policy::{FramePlan, FramePolicy, View};
use thalweg_types::{EncodePlan, Target};

/// Encodes every picture at the camera's size, with the controller's capacity as target.
#[derive(Debug, Clone, Copy, Default)]
pub struct EveryFrame;

impl FramePolicy for EveryFrame {
    fn plan(&mut self, view: &View) -> FramePlan {
        FramePlan::Encode(
            EncodePlan::new(vec![Target::Rate(view.limits.capacity)], view.source, view.interval)
                .with(|plan| plan.may_drop = true),
        )
    }
}
