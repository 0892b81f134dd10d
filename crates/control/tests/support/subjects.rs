//! All controllers, for the tests that run on each of them: add a new controller with one line.

use thalweg_control::{Controller, bbr, copa, fixed, gcc, rocc, salsify};
use thalweg_units::Rate;

use super::claims;

/// A controller, how to create it, and what the torture test sends through it.
#[derive(Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    pub build: fn() -> Box<dyn Controller>,
    pub feed: Feed,
    /// The max queueing time that its algorithm claims on such a path, in steady state.
    pub queue: claims::Claim,
}

/// The source of a subject in the torture test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Always another packet: for controllers that pace and hold back packets.
    Backlog,
    /// 30 frames a second of the size the controller wants: for controllers that set an encoder target or count frames.
    Frames,
    /// As `Frames`, but not in the torture test: the RTCP schemes of FBRA's paper start at 128 kbps and grow by a few
    /// per cent per report, so most of its paths take them minutes. Their bars are in `trajectories/rtcp.rs`.
    Course,
    /// Only in the operations model: a variant of another controller, or one that plans groups of frames, which the
    /// torture test does not have (Rebera: `trajectories/rebera.rs`).
    Nothing,
}

impl Feed {
    /// Whether its source is frames.
    pub fn is_frames(self) -> bool {
        matches!(self, Feed::Frames | Feed::Course)
    }

    /// Whether the torture test includes it.
    pub fn is_tortured(self) -> bool {
        matches!(self, Feed::Backlog | Feed::Frames)
    }
}

/// All subjects.
pub const ALL: &[Subject] = &[
    subject("fixed", fixed, Feed::Backlog, claims::none),
    subject("copa", || copa_alone(0.5), Feed::Backlog, claims::copa),
    subject("copa-0.9", || copa_alone(0.9), Feed::Backlog, claims::copa),
    subject("rocc", || Box::new(rocc::Rocc::new(rocc::Config::default()).unwrap()), Feed::Backlog, claims::rocc),
    subject("gcc", || Box::new(gcc::Gcc::new(gcc::Config::default()).unwrap()), Feed::Backlog, claims::gcc),
    subject("gcc-2021", gcc_of_2021, Feed::Backlog, claims::gcc),
    subject("bbr", || Box::new(bbr::Bbr::new(bbr::Config::default()).unwrap()), Feed::Backlog, claims::bbr),
    subject("bbr-camel", || Box::new(bbr::Bbr::new(bbr::Config::of_camel()).unwrap()), Feed::Frames, claims::bbr),
    subject("bbr-media", || Box::new(bbr::Bbr::new(bbr::Config::for_media()).unwrap()), Feed::Frames, claims::bbr),
    subject("sqp", sqp, Feed::Frames, claims::sqp),
    subject("pudica", pudica, Feed::Frames, claims::pudica),
    subject("scream", || scream(thalweg_control::scream::Config::default()), Feed::Backlog, claims::scream),
    subject("nada", nada, Feed::Frames, claims::nada),
    subject("camel", camel, Feed::Frames, claims::camel),
    subject("salsify", salsify, Feed::Frames, claims::salsify),
    subject("rebera", rebera, Feed::Nothing, claims::none),
    subject("rebera-paper", rebera_of_the_paper, Feed::Nothing, claims::none),
    subject("fbra", fbra, Feed::Course, claims::none),
    subject("rrtcc", rrtcc, Feed::Course, claims::none),
    subject("cnadu", cnadu, Feed::Course, claims::none),
    subject("tfrc", tfrc, Feed::Course, claims::none),
    subject("rrtcc-gcc-02", rrtcc_of_the_later_drafts, Feed::Nothing, claims::none),
    subject("tfrc-damped", damped_tfrc, Feed::Nothing, claims::none),
    subject("scream-all", scream_with_everything, Feed::Nothing, claims::none),
    subject("camel-restless", restless_camel, Feed::Nothing, claims::none),
    subject("sqp-literal", sqp_literal, Feed::Nothing, claims::none),
    subject("pudica-literal", pudica_literal, Feed::Nothing, claims::none),
];

const fn subject(name: &'static str, build: fn() -> Box<dyn Controller>, feed: Feed, queue: claims::Claim) -> Subject {
    Subject { name, build, feed, queue }
}

/// Slightly below the capacity of the reference path.
fn fixed() -> Box<dyn Controller> {
    Box::new(fixed::Fixed::new(fixed::Config { rate: Rate::from_kbps(2700) }).unwrap())
}

/// Configured for the packet size of the torture test.
fn salsify() -> Box<dyn Controller> {
    let packet = super::encoder::PACKET;
    Box::new(salsify::Salsify::new(salsify::Config { packet, ..salsify::Config::default() }).unwrap())
}

/// As this harness paces it: at twice window / RTT.
fn copa_alone(delta: f64) -> Box<dyn Controller> {
    Box::new(
        copa::Copa::new(copa::Config { delta, turning: copa::Turning::AtOnce, ..copa::Config::default() }).unwrap(),
    )
}

fn scream(config: thalweg_control::scream::Config) -> Box<dyn Controller> {
    Box::new(thalweg_control::scream::Scream::new(config).unwrap())
}

/// With the rule that is off by default.
fn scream_with_everything() -> Box<dyn Controller> {
    use thalweg_control::scream::{Config, L4s};
    scream(Config { l4s: Some(L4s::default()), ..Config::default() })
}

fn nada() -> Box<dyn Controller> {
    Box::new(thalweg_control::nada::Nada::new(thalweg_control::nada::Config::default()).unwrap())
}

fn rebera() -> Box<dyn Controller> {
    Box::new(thalweg_control::rebera::Rebera::new(thalweg_control::rebera::Config::default()).unwrap())
}

/// With the receiver's reports on the path, and all bytes in flight subtracted.
fn rebera_of_the_paper() -> Box<dyn Controller> {
    use thalweg_control::End;
    use thalweg_control::rebera::{Backlog, Config, MeasurementConfig, Rebera, Short};
    let measurement = MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() };
    let (measured_by, backlog) = (End::Receiver, Backlog::All);
    Box::new(Rebera::new(Config { measured_by, measurement, backlog, ..Config::default() }).unwrap())
}

fn fbra() -> Box<dyn Controller> {
    Box::new(thalweg_control::fbra::Fbra::new(thalweg_control::fbra::Config::default()).unwrap())
}

fn rrtcc() -> Box<dyn Controller> {
    Box::new(thalweg_control::rrtcc::Rrtcc::new(thalweg_control::rrtcc::Config::default()).unwrap())
}

/// With the changes of drafts 02 and gcc-02: a scalar filter, and additive growth.
fn rrtcc_of_the_later_drafts() -> Box<dyn Controller> {
    use thalweg_control::rrtcc::{Config, FilterConfig, Increase, ReceiverConfig, Rrtcc, ScalarConfig};
    let receiver = ReceiverConfig { increase: Increase::Additive, ..ReceiverConfig::default() };
    let filter = FilterConfig::Scalar(ScalarConfig::default());
    Box::new(Rrtcc::new(Config { receiver, filter, ..Config::default() }).unwrap())
}

fn cnadu() -> Box<dyn Controller> {
    Box::new(thalweg_control::cnadu::Cnadu::new(thalweg_control::cnadu::Config::default()).unwrap())
}

fn tfrc() -> Box<dyn Controller> {
    Box::new(thalweg_control::tfrc::Tfrc::new(thalweg_control::tfrc::Config::default()).unwrap())
}

fn damped_tfrc() -> Box<dyn Controller> {
    Box::new(
        thalweg_control::tfrc::Tfrc::new(thalweg_control::tfrc::Config { damped: true, ..Default::default() }).unwrap(),
    )
}

fn gcc_of_2021() -> Box<dyn Controller> {
    let config = gcc::Config {
        acknowledged_rate: gcc::acknowledged_rate::Config::Bayesian,
        loss: gcc::loss::Config::V1,
        ..gcc::Config::default()
    };
    Box::new(gcc::Gcc::new(config).unwrap())
}

fn camel() -> Box<dyn Controller> {
    Box::new(thalweg_control::camel::Camel::new(thalweg_control::camel::Config::default()).unwrap())
}

/// Switches to GCC and back as often as possible.
fn restless_camel() -> Box<dyn Controller> {
    use thalweg_control::camel::{Camel, Config, burst_length, fallback};
    use thalweg_units::{Bytes, Span};
    let length = Bytes::new(2048);
    let burst_length = burst_length::Config {
        first: length,
        period: Span::from_millis(50),
        margin: 0.0,
        min_packets: 1,
        ..burst_length::Config::default()
    };
    let fallback =
        fallback::Config { retry: Span::from_millis(100), trial: Span::from_millis(50), ..fallback::Config::default() };
    Box::new(Camel::new(Config { burst_length, fallback, ..Config::paper_literal() }).unwrap())
}

fn sqp() -> Box<dyn Controller> {
    Box::new(thalweg_control::sqp::Sqp::new(thalweg_control::sqp::Config::default()).unwrap())
}

fn sqp_literal() -> Box<dyn Controller> {
    Box::new(thalweg_control::sqp::Sqp::new(thalweg_control::sqp::Config::literal()).unwrap())
}

/// Without probes: this harness paces padding like media, and its padding packets are as large as media packets.
fn pudica() -> Box<dyn Controller> {
    use thalweg_control::pudica::{Config, Pudica};
    Box::new(Pudica::new(Config { probes: 0, ..Config::default() }).unwrap())
}

fn pudica_literal() -> Box<dyn Controller> {
    Box::new(thalweg_control::pudica::Pudica::new(thalweg_control::pudica::Config::literal()).unwrap())
}
