//! Parts of a sender.

use alloc::boxed::Box;

use thalweg_control::{Controller, LossDetectionConfig, ecn};
use thalweg_types::PacketSizes;

use crate::frames::FramePolicy;
use crate::{pacing, padding, repair};

/// The parts of a sender: what a [`SenderFactory`](crate::SenderFactory) makes and an [`Engine`](crate::Engine) is made
/// of. Begin with [`Parts::new`] and set the fields that differ:
///
/// ```
/// use thalweg_control::fixed;
/// use thalweg_sender::frames::EveryFrame;
/// use thalweg_sender::{Camera, Engine, Parts, repair};
/// use thalweg_units::{Size, Span, Time};
///
/// let controller = fixed::Fixed::new(fixed::Config::default())?;
/// let mut parts = Parts::new(Box::new(controller), Box::new(EveryFrame));
/// parts.repair = Some(repair::Config::default());
/// let camera = Camera { size: Size::HD, interval: Span::from_millis(33) };
/// let engine = Engine::with(parts, camera, Time::ZERO)?;
/// # Ok::<(), thalweg_units::ConfigError>(())
/// ```
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
    pub loss_detection: LossDetectionConfig,
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
            loss_detection: LossDetectionConfig::default(),
            ecn: None,
        }
    }

    /// Returns true if frames refer to others than the one before them, which a receiver learns from dependency descriptors
    /// alone: layers are in the payload descriptor too.
    pub fn needs_descriptors(&self) -> bool {
        self.frames.names_references() && self.frames.layers() == 1
    }

    /// Fits them to a receiver that takes each frame to need the one before it, and requests lost packets: each frame does,
    /// and losses are retransmitted.
    pub fn keep_order(&mut self) {
        self.frames.refer_to_the_last();
        self.repair.get_or_insert_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::EveryFrame;
    use crate::{Camera, Engine};
    use alloc::string::ToString;
    use thalweg_control::fixed;
    use thalweg_units::{Size, Span, Time};

    fn parts() -> Parts {
        Parts::new(Box::new(fixed::Fixed::new(fixed::Config::default()).unwrap()), Box::new(EveryFrame))
    }

    #[test]
    fn a_controller_and_a_frame_policy_are_a_sender() {
        let camera = Camera { size: Size::HD, interval: Span::from_millis(33) };
        parts().check().unwrap();
        let engine = Engine::with(parts(), camera, Time::ZERO).unwrap();
        assert_eq!(engine.limits().capacity, fixed::Config::default().rate);
        let still = Camera { interval: Span::ZERO, ..camera };
        assert!(Engine::with(parts(), still, Time::ZERO).err().unwrap().to_string().starts_with("camera.interval is"));
    }

    #[test]
    fn a_part_out_of_range_is_named() {
        let mut parts = parts();
        parts.repair = Some(repair::Config { packets: 0, ..repair::Config::default() });
        assert!(parts.check().unwrap_err().to_string().starts_with("repair.packets is 0"));
    }
}
