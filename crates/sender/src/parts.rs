//! What a sender is made of.

use alloc::boxed::Box;

use thalweg_control::Controller;
use thalweg_media::PacketSizes;

use crate::frames::FramePolicy;
use crate::{filler, pacing, repair};

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
    pub filler: Option<filler::Config>,
    /// What padding is made of, that of `filler` and what the controller probes with; `None` of nothing.
    pub fill_with: Option<filler::useful::Config>,
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
            filler: None,
            fill_with: None,
            repair: None,
            packets: PacketSizes::default(),
        }
    }
}
