//! The scheme that is played to a peer: the one asked for, unless the peer's reports do not suffice for it.

use std::sync::Arc;

use thalweg_sender::{Scheme, SenderFactory};
use thalweg_transport::sdp::Video;

/// The scheme that is played, and what it was chosen for.
pub(super) struct Played {
    pub(super) scheme: Arc<dyn SenderFactory>,
    /// The name of the scheme that was asked for, if another is played.
    pub(super) asked: Option<String>,
}

impl Played {
    /// A peer that agreed to no feedback on packets sends receiver reports alone: few schemes work on those. In place of
    /// another WebRTC's control by loss is played, as WebRTC does with such a peer: a refusal would leave a viewer who
    /// chose nothing without a picture.
    pub(super) fn choose(asked: Arc<dyn SenderFactory>, video: &Video) -> Played {
        if video.congestion().is_some() || asked.works_on_receiver_reports() {
            return Played { scheme: asked, asked: None };
        }
        Played { scheme: Arc::new(Scheme::by_loss()), asked: Some(asked.name().to_owned()) }
    }

    /// Logs why another scheme is played, if one is.
    pub(super) fn log(&self, viewer: u64) {
        if let Some(asked) = &self.asked {
            tracing::warn!(
                viewer,
                asked,
                played = self.scheme.name(),
                "the viewer sends receiver reports alone, on which {asked} does not work"
            );
        }
    }
}
