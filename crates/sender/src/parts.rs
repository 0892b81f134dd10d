//! Parts of a sender.

use alloc::boxed::Box;

use thalweg_control::{Controller, ecn, feedback};
use thalweg_types::PacketSizes;

use crate::frames::FramePolicy;
use crate::{pacing, padding, repair};

/// The parts of a sender: what a [`SenderFactory`](crate::SenderFactory) makes and an [`Engine`](crate::Engine) is made
/// of.
#[non_exhaustive]
pub struct Parts {
    /// Congestion control: how much may be sent.
    pub controller: Box<dyn Controller>,
    /// Decides which pictures become frames.
    pub frames: Box<dyn FramePolicy>,
    /// When packets leave.
    pub pacing: pacing::Config,
    /// Padding that keeps the path full; `None` sends media only.
    pub padding: Option<padding::Config>,
    /// Content of padding, both of `padding` and of the controller's probes; `None` leaves it empty.
    pub padding_content: Option<padding::redundant::Config>,
    /// Retransmission and FEC; `None` for neither.
    pub repair: Option<repair::Config>,
    /// Packet sizes.
    pub packets: PacketSizes,
    /// When packets count as lost, and when the path is probed for feedback.
    pub loss_detection: feedback::Config,
    /// How ECN is used; `None` for not at all.
    pub ecn: Option<ecn::Config>,
}

impl Parts {
    /// A controller and a frame policy, paced at the controller's rate, without padding or repair, and with the usual
    /// packet sizes.
    pub fn new(controller: Box<dyn Controller>, frames: Box<dyn FramePolicy>) -> Parts {
        Parts {
            controller,
            frames,
            pacing: pacing::Config::default(),
            padding: None,
            padding_content: None,
            repair: None,
            packets: PacketSizes::default(),
            loss_detection: feedback::Config::default(),
            ecn: None,
        }
    }
}
