//! A sender assembled from single parts.

use alloc::boxed::Box;

use thalweg_control::{Controller, ecn, feedback};
use thalweg_types::PacketSizes;
use thalweg_units::{ConfigError, Time};

use super::{Camera, Engine};
use crate::frames::FramePolicy;
use crate::parts::Parts;
use crate::{pacing, padding, repair};

/// Made by [`Engine::builder`]. A controller and a frame policy are required. By default the sender is paced at the
/// controller's rate, sends padding only when the controller asks for it, has no retransmission or FEC, and makes
/// packets of the usual sizes.
#[must_use]
pub struct Builder {
    camera: Camera,
    controller: Option<Box<dyn Controller>>,
    frames: Option<Box<dyn FramePolicy>>,
    pacing: pacing::Config,
    padding: Option<padding::Config>,
    padding_content: Option<padding::redundant::Config>,
    repair: Option<repair::Config>,
    packets: PacketSizes,
    loss_detection: feedback::Config,
    ecn: Option<ecn::Config>,
}

impl Builder {
    pub(super) fn new(camera: Camera) -> Builder {
        Builder {
            camera,
            controller: None,
            frames: None,
            pacing: pacing::Config::default(),
            padding: None,
            padding_content: None,
            repair: None,
            packets: PacketSizes::default(),
            loss_detection: feedback::Config::default(),
            ecn: None,
        }
    }

    /// Congestion control: how much may be sent.
    pub fn controller(self, controller: Box<dyn Controller>) -> Builder {
        Builder { controller: Some(controller), ..self }
    }

    /// Decides which pictures become frames.
    pub fn frames(self, frames: Box<dyn FramePolicy>) -> Builder {
        Builder { frames: Some(frames), ..self }
    }

    /// When packets leave.
    pub fn pacing(self, pacing: pacing::Config) -> Builder {
        Builder { pacing, ..self }
    }

    /// Padding that keeps the path full.
    pub fn padding(self, padding: padding::Config) -> Builder {
        Builder { padding: Some(padding), ..self }
    }

    /// What padding packets carry.
    pub fn padding_content(self, padding_content: padding::redundant::Config) -> Builder {
        Builder { padding_content: Some(padding_content), ..self }
    }

    /// Retransmission and FEC.
    pub fn repair(self, repair: repair::Config) -> Builder {
        Builder { repair: Some(repair), ..self }
    }

    /// Packet sizes.
    pub fn packets(self, packets: PacketSizes) -> Builder {
        Builder { packets, ..self }
    }

    /// When packets count as lost, and when the path is probed for feedback.
    pub fn loss_detection(self, loss_detection: feedback::Config) -> Builder {
        Builder { loss_detection, ..self }
    }

    /// Packets say ECT(1) while the path carries it. Only where reports say how packets were marked: RFC 8888.
    pub fn ecn(self, ecn: ecn::Config) -> Builder {
        Builder { ecn: Some(ecn), ..self }
    }

    /// The sender, before its first picture.
    ///
    /// # Errors
    /// When the controller or the frame policy is missing, or a parameter is out of range.
    pub fn build(self, now: Time) -> Result<Engine, ConfigError> {
        let missing = |part, example| ConfigError::out_of_range(part, "missing", example);
        let controller = self.controller.ok_or_else(|| missing("controller", "set, such as a boxed fixed::Fixed"))?;
        let frames = self.frames.ok_or_else(|| missing("frames", "set, such as a boxed frames::EveryFrame"))?;
        let Builder { pacing, padding, padding_content, repair, packets, loss_detection, ecn, .. } = self;
        let parts =
            Parts { controller, frames, pacing, padding, padding_content, repair, packets, loss_detection, ecn };
        Engine::with(parts, self.camera, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::EveryFrame;
    use alloc::string::ToString;
    use thalweg_control::fixed;
    use thalweg_units::{Size, Span};

    #[test]
    fn what_is_missing_is_named_and_with_both_it_is_a_sender() {
        let builder = || Engine::builder(Camera { size: Size::HD, interval: Span::from_millis(33) });
        let fixed = || Box::new(fixed::Fixed::new(fixed::Config::default()).unwrap());
        let problem = |builder: Builder| builder.build(Time::ZERO).err().unwrap().to_string();
        assert!(problem(builder().frames(Box::new(EveryFrame))).starts_with("controller is missing"));
        assert!(problem(builder().controller(fixed())).starts_with("frames is missing"));
        let engine = builder().controller(fixed()).frames(Box::new(EveryFrame)).build(Time::ZERO).unwrap();
        assert_eq!(engine.limits().capacity, fixed::Config::default().rate);
    }

    #[test]
    fn a_part_out_of_range_is_named() {
        let builder = Engine::builder(Camera { size: Size::HD, interval: Span::from_millis(33) });
        let controller = Box::new(fixed::Fixed::new(fixed::Config::default()).unwrap());
        let repair = repair::Config { packets: 0, ..repair::Config::default() };
        let problem = builder.controller(controller).frames(Box::new(EveryFrame)).repair(repair).build(Time::ZERO);
        assert!(problem.err().unwrap().to_string().starts_with("repair.packets is 0"));
    }
}
