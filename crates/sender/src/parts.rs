//! What a sender is made of.

use alloc::boxed::Box;

use thalweg_control::Controller;
use thalweg_media::PacketSizes;

use crate::frames::FramePolicy;
use crate::{pacing, padding, repair};

/// The parts of a sender: what a [`SenderFactory`](crate::SenderFactory) makes and an [`Engine`](crate::Engine) is made of.
#[non_exhaustive]
pub struct Parts {
    /// What says how much the network can bear.
    pub controller: Box<dyn Controller>,
    /// What decides which pictures become frames.
    pub frames: Box<dyn FramePolicy>,
    /// When packets leave.
    pub pacing: pacing::Config,
    /// Dummy packets that keep the path full; `None` sends media only.
    pub padding: Option<padding::Config>,
    /// What padding is made of, that of `padding` and what the controller probes with; `None` of nothing.
    pub padding_content: Option<padding::redundant::Config>,
    /// Retransmission and FEC; `None` repairs nothing.
    pub repair: Option<repair::Config>,
    /// How large packets are.
    pub packets: PacketSizes,
}

impl Parts {
    /// A controller and a frame policy, paced at the controller's rate, without padding or repair, and with packets of the usual sizes.
    pub fn new(controller: Box<dyn Controller>, frames: Box<dyn FramePolicy>) -> Parts {
        Parts {
            controller,
            frames,
            pacing: pacing::Config::default(),
            padding: None,
            padding_content: None,
            repair: None,
            packets: PacketSizes::default(),
        }
    }
}
