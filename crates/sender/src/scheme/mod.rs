//! Complete senders as compositions of the same parts: one short file each.

mod camel;
mod copa;
mod factory;
mod gcc;
mod limits;
mod names;
mod opponents;
mod peers;
mod rebera;
mod registry;
mod rtcp;
mod salsify;
mod suffixes;
mod thalweg;
mod vidaptive;

use alloc::boxed::Box;
use alloc::string::String;

use thalweg_control::{DynController, LossDetectionConfig, ecn};
use thalweg_types::PacketSizes;
use thalweg_units::{ConfigError, Size, check};

use crate::frames::rate_targeted::{self, Reserve};
use crate::frames::{FramePolicy, budgeted, late_choice, selection};
use crate::{pacing, padding, repair};
pub use factory::{SenderFactory, WithController};
pub use limits::RateLimits;
pub use names::{Known, UnknownScheme, known};
pub use registry::{NameTaken, Registry};
pub use suffixes::{Suffix, suffixes};
pub use thalweg_types::{FeedbackStyle, ReceiverKind, StatefulReceiver};

/// The congestion controller, with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ControllerConfig {
    /// A constant rate.
    Fixed(thalweg_control::fixed::Config),
    /// Copa.
    Copa(thalweg_control::copa::Config),
    /// RoCC.
    Rocc(thalweg_control::rocc::Config),
    /// WebRTC's.
    Gcc(thalweg_control::gcc::Config),
    /// BBR.
    Bbr(thalweg_control::bbr::Config),
    /// SCReAM v2.
    Scream(thalweg_control::scream::Config),
    /// SCReAM v2 as libwebrtc has it.
    ScreamLibwebrtc(thalweg_control::scream_libwebrtc::Config),
    /// NADA.
    Nada(thalweg_control::nada::Config),
    /// SQP.
    Sqp(thalweg_control::sqp::Config),
    /// Pudica.
    Pudica(thalweg_control::pudica::Config),
    /// Camel.
    Camel(thalweg_control::camel::Config),
    /// FBRA, whose probes are FEC packets.
    Fbra(thalweg_control::fbra::Config),
    /// Google's of 2012 to 2014, with the estimate at the receiver.
    Rrtcc(thalweg_control::rrtcc::Config),
    /// C-NADU-like: a reading of the paper.
    Cnadu(thalweg_control::cnadu::Config),
    /// TFRC.
    Tfrc(thalweg_control::tfrc::Config),
    /// Belabox's rule.
    Belabox(thalweg_control::belabox::Config),
    /// openpilot's rule.
    Openpilot(thalweg_control::openpilot::Config),
    /// Salsify's, which limits frames.
    Salsify(thalweg_control::salsify::Config),
    /// Rebera's, which plans groups of frames.
    Rebera(thalweg_control::rebera::Config),
    /// Thalweg's own.
    Thalweg(thalweg_control::thalweg::Config),
}

impl ControllerConfig {
    /// Returns true if it works on receiver reports alone (RFC 3550 section 6.4): they come once in some seconds and
    /// say how many packets were lost, not when the others arrived. A controller that listens to delay, or counts on
    /// hearing of a packet within a round trip, takes such a report for a queue of a second and stops sending.
    pub fn works_on_receiver_reports(&self) -> bool {
        match self {
            ControllerConfig::Fixed(_) | ControllerConfig::Openpilot(_) => true,
            ControllerConfig::Gcc(config) => !config.delay,
            ControllerConfig::Copa(_)
            | ControllerConfig::Rocc(_)
            | ControllerConfig::Bbr(_)
            | ControllerConfig::Scream(_)
            | ControllerConfig::ScreamLibwebrtc(_)
            | ControllerConfig::Nada(_)
            | ControllerConfig::Sqp(_)
            | ControllerConfig::Pudica(_)
            | ControllerConfig::Camel(_)
            | ControllerConfig::Fbra(_)
            | ControllerConfig::Rrtcc(_)
            | ControllerConfig::Cnadu(_)
            // Its equation takes the round trip, and what it received within one (RFC 5348 section 6.2).
            | ControllerConfig::Tfrc(_)
            | ControllerConfig::Belabox(_)
            | ControllerConfig::Salsify(_)
            | ControllerConfig::Rebera(_)
            | ControllerConfig::Thalweg(_) => false,
        }
    }

    /// Why it is more than a controller that sees packets leave and arrive; `None` if it works in any sender.
    pub fn needs_its_sender(&self) -> Option<&'static str> {
        match self {
            ControllerConfig::Fixed(_)
            | ControllerConfig::Copa(_)
            | ControllerConfig::Rocc(_)
            | ControllerConfig::Gcc(_)
            | ControllerConfig::Bbr(_)
            | ControllerConfig::Scream(_)
            | ControllerConfig::ScreamLibwebrtc(_)
            | ControllerConfig::Nada(_)
            | ControllerConfig::Sqp(_)
            | ControllerConfig::Pudica(_)
            | ControllerConfig::Tfrc(_) => None,
            ControllerConfig::Belabox(_) => Some("it counts what waits in its sender"),
            ControllerConfig::Openpilot(_) => Some("it switches an encoder between three rates"),
            ControllerConfig::Rrtcc(_) | ControllerConfig::Cnadu(_) => {
                Some("its receiver's half measures when whole frames arrive")
            }
            ControllerConfig::Camel(_) => {
                Some("it measures the path by bursts, which another program's pacer takes apart")
            }
            ControllerConfig::Fbra(_) => Some("its probes are FEC packets"),
            ControllerConfig::Salsify(_) => Some("it limits frames that are chosen late from several candidates"),
            ControllerConfig::Rebera(_) => Some("it plans groups of frames"),
            ControllerConfig::Thalweg(_) => {
                Some("it measures the path by the packets of whole frames and limits frames")
            }
        }
    }

    /// Builds the controller in its initial state.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self) -> Result<Box<dyn DynController>, ConfigError> {
        use thalweg_control::*;
        Ok(match self {
            ControllerConfig::Fixed(config) => Box::new(fixed::Fixed::new(*config)?),
            ControllerConfig::Copa(config) => Box::new(copa::Copa::new(config.clone())?),
            ControllerConfig::Rocc(config) => Box::new(rocc::Rocc::new(config.clone())?),
            ControllerConfig::Gcc(config) => Box::new(gcc::Gcc::new(config.clone())?),
            ControllerConfig::Bbr(config) => Box::new(bbr::Bbr::new(config.clone())?),
            ControllerConfig::Scream(config) => Box::new(scream::Scream::new(*config)?),
            ControllerConfig::ScreamLibwebrtc(config) => Box::new(scream_libwebrtc::ScreamLibwebrtc::new(*config)?),
            ControllerConfig::Nada(config) => Box::new(nada::Nada::new(*config)?),
            ControllerConfig::Sqp(config) => Box::new(sqp::Sqp::new(*config)?),
            ControllerConfig::Pudica(config) => Box::new(pudica::Pudica::new(*config)?),
            ControllerConfig::Camel(config) => Box::new(camel::Camel::new(config.clone())?),
            ControllerConfig::Fbra(config) => Box::new(fbra::Fbra::new(*config)?),
            ControllerConfig::Rrtcc(config) => Box::new(rrtcc::Rrtcc::new(*config)?),
            ControllerConfig::Cnadu(config) => Box::new(cnadu::Cnadu::new(*config)?),
            ControllerConfig::Tfrc(config) => Box::new(tfrc::Tfrc::new(*config)?),
            ControllerConfig::Belabox(config) => Box::new(belabox::Belabox::new(*config)?),
            ControllerConfig::Openpilot(config) => Box::new(openpilot::Openpilot::new(*config)?),
            ControllerConfig::Salsify(config) => Box::new(salsify::Salsify::new(*config)?),
            ControllerConfig::Rebera(config) => Box::new(rebera::Rebera::new(*config)?),
            ControllerConfig::Thalweg(config) => Box::new(thalweg::Thalweg::new(*config)?),
        })
    }
}

/// The frame policy, with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum FramesConfig {
    /// Every picture at the controller's capacity.
    EveryFrame,
    /// At a target rate, with safeguards.
    RateTargeted(rate_targeted::Config),
    /// Chosen from several candidates of a functional codec.
    LateChoice(late_choice::Config),
    /// Chosen from several candidates that are shares of what is free on the path.
    Budgeted(budgeted::Config),
    /// Chosen by worth from a group with a budget.
    Selection(selection::Config),
}

impl FramesConfig {
    /// Builds the policy for a camera of this size.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(&self, source: Size) -> Result<Box<dyn FramePolicy>, ConfigError> {
        Ok(match self {
            FramesConfig::EveryFrame => Box::new(crate::frames::EveryFrame),
            FramesConfig::RateTargeted(config) => Box::new(config.build(source)?),
            FramesConfig::LateChoice(config) => Box::new(config.build()?),
            FramesConfig::Budgeted(config) => Box::new(config.build(source)?),
            FramesConfig::Selection(config) => Box::new(config.build(source)?),
        })
    }
}

/// A complete sender: one row of the table of published systems, or a new one. An ablation differs in one field.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Congestion control.
    pub controller: ControllerConfig,
    /// When packets leave.
    pub pacing: pacing::Config,
    /// Padding that keeps the path full; `None` sends media only.
    pub padding: Option<padding::Config>,
    /// Content of padding, both of `padding` and of the controller's probes; `None` leaves it empty.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub padding_content: Option<padding::redundant::Config>,
    /// The frame policy: which frames, and how large.
    pub frames: FramesConfig,
    /// Retransmission and FEC; `None` for neither.
    pub repair: Option<repair::Config>,
    /// Kind of the receiver's reports, and their frequency.
    pub feedback: FeedbackStyle,
    /// How the receiver handles frames.
    #[cfg_attr(feature = "serde", serde(default))]
    pub receiver: ReceiverKind,
    /// Packet sizes.
    pub packets: PacketSizes,
    /// When packets count as lost, and when the path is probed for feedback.
    #[cfg_attr(feature = "serde", serde(default))]
    pub loss_detection: LossDetectionConfig,
    /// How ECN is used; `None` for not at all.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ecn: Option<ecn::Config>,
}

impl Scheme {
    /// Checks that its controller can work with these reports. Every other combination works: what else a receiver says
    /// (its decoder's states, its measurements of the path, requests) comes with the reports or beside them.
    ///
    /// # Errors
    /// For a controller that takes each report for the end of an RTCP interval, with reports that come more often; for a
    /// sender that uses ECN, with reports that do not carry it.
    pub fn accepts(&self, style: FeedbackStyle) -> Result<(), ConfigError> {
        let keeps_time = matches!(&self.controller, ControllerConfig::Fbra(config) if config.each_report);
        check("feedback", format_args!("{style} for {}", self.name)).is(
            style.is_extended() || !keeps_time,
            "extended or extended-randomised, because each report ends an interval of this controller",
        )?;
        check("feedback", format_args!("{style} for {}", self.name))
            .is(self.ecn.is_none() || style.carries_ecn(), "ccfb or per-packet, which say how packets were marked")
    }

    /// WebRTC's control by loss, for receivers that send receiver reports alone (`gcc:loss`).
    pub fn by_loss() -> Scheme {
        Scheme { name: "gcc:loss".into(), ..gcc::by_loss() }
    }

    /// WebRTC's control by delay and loss (`gcc`).
    pub fn webrtc() -> Scheme {
        Scheme { name: "gcc".into(), ..gcc::webrtc() }
    }

    /// The same scheme with this reserve subtracted from the encoder's target, if the encoder has a target rate.
    fn reserving(mut self, reserve: Reserve) -> Scheme {
        if let FramesConfig::RateTargeted(frames) = &mut self.frames {
            frames.reserve = Some(reserve);
        }
        self
    }

    /// The same scheme whose encoder, if it has a target rate, stands still while more is queued than the pacer sends in
    /// 2 s, as libwebrtc's does whatever controls its rate
    /// ([`queue_limit`](crate::frames::rate_targeted::Config::queue_limit)).
    fn with_bounded_queue(mut self) -> Scheme {
        if let FramesConfig::RateTargeted(frames) = &mut self.frames {
            frames.queue_limit = Some(rate_targeted::MAX_EXPECTED_QUEUE);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use thalweg_control::{Acknowledgement, Controller, Demand, History, PacketId, SentPacket};
    use thalweg_units::{Bytes, Rate, Span, Time};

    /// Half a second of packets, each 25 ms in transit, from this number on.
    fn drive(controller: &mut dyn Controller, history: &mut History, first: u64) {
        for number in first..first + 100 {
            let at = Time::from_millis(5 * number);
            controller.on_sent(&history.on_sent(SentPacket::new(PacketId(number), at, Bytes::new(1200))));
            let now = at + Span::from_millis(4);
            if let Some(id) = number.checked_sub(5).map(PacketId) {
                let reported = Acknowledgement::new(id, Some(Time::from_millis(5 * id.0 + 25)));
                controller.on_feedback(&history.on_report(now, &[reported], None));
            }
        }
    }

    #[test]
    fn a_controller_for_which_each_report_ends_an_interval_refuses_reports_that_come_more_often() {
        let refused =
            |name: &str, style| name.parse::<Scheme>().unwrap().accepts(style).err().map(|error| error.to_string());
        let reason = refused("fbra:xr-random", FeedbackStyle::Twcc).unwrap();
        assert!(reason.contains("twcc for fbra:xr-random") && reason.contains("each report ends"), "{reason}");
        assert_eq!(refused("fbra:xr-random", FeedbackStyle::Extended), None);
        for known in known().iter().filter(|known| known.name != "fbra:xr-random") {
            assert!(FeedbackStyle::ALL.iter().all(|style| refused(known.name, *style).is_none()), "{}", known.name);
        }
    }

    #[test]
    fn only_control_by_loss_works_on_receiver_reports_alone() {
        let works = known().iter().filter(|known| known.scheme().works_on_receiver_reports()).map(|known| known.name);
        assert_eq!(works.collect::<alloc::vec::Vec<_>>(), ["gcc:loss", "openpilot"]);
        assert_eq!(Scheme::by_loss(), "gcc:loss".parse().unwrap());
        let own = Scheme::by_loss()
            .with_controller("own", || thalweg_control::fixed::Fixed::new(thalweg_control::fixed::Config::default()));
        assert!(!own.works_on_receiver_reports(), "a controller of another program does not, unless it says so");
    }

    #[test]
    fn a_copy_of_a_controller_goes_on_as_the_original_would_have() {
        for known in known() {
            let mut original = known.scheme().controller.build().unwrap();
            original.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) });
            let mut history = History::default();
            drive(&mut *original, &mut history, 0);
            let mut copy = original.clone();
            let before = original.limits();
            let mut again = History::default();
            drive(&mut *known.scheme().controller.build().unwrap(), &mut again, 0);
            drive(&mut *original, &mut history, 100);
            assert_eq!(copy.limits(), before, "{}", known.name);
            drive(&mut *copy, &mut again, 100);
            assert_eq!(copy.limits(), original.limits(), "{}", known.name);
        }
    }
}
