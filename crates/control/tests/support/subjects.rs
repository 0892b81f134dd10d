//! All controllers, for the tests that run on each of them: add a new controller with one line.

use thalweg_control::{
    Controller, End, bbr, belabox, camel, cnadu, copa, ecn, fbra, fixed, gcc, nada, openpilot, pudica, rebera, rocc,
    rrtcc, salsify, scream, scream_libwebrtc, sqp, tfrc, thalweg,
};
use thalweg_units::{Bytes, ConfigError, Rate, Span};

use Feed::{Backlog, Course, Frames, Nothing};

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
    /// Only in the operations model: a variant of another controller, a rule for minutes, whose queues are what
    /// docs/papers/opponents.md measures, or one that plans groups of frames, which the torture test does not have
    /// (Rebera: `trajectories/rebera.rs`).
    Nothing,
}

impl Feed {
    /// Returns true for a source of frames.
    pub fn is_frames(self) -> bool {
        matches!(self, Feed::Frames | Feed::Course)
    }

    /// Returns true if the torture test includes it.
    pub fn is_tortured(self) -> bool {
        matches!(self, Feed::Backlog | Feed::Frames)
    }
}

/// All subjects.
pub const ALL: &[Subject] = &[
    // Slightly below the capacity of the reference path.
    subject("fixed", || built(fixed::Fixed::new(fixed::Config { rate: Rate::from_kbps(2700) })), Backlog, claims::none),
    subject("copa", || copa_alone(0.5), Backlog, claims::copa),
    subject("copa-0.9", || copa_alone(0.9), Backlog, claims::copa),
    subject("rocc", || built(rocc::Rocc::new(rocc::Config::default())), Backlog, claims::rocc),
    subject("gcc", || built(gcc::Gcc::new(gcc::Config::default())), Backlog, claims::gcc),
    subject("gcc-2023", gcc_of_2023, Backlog, claims::gcc),
    variant("gcc-2017", || built(gcc::Gcc::new(gcc::Config::of_2017()))),
    subject("bbr", || built(bbr::Bbr::new(bbr::Config::default())), Backlog, claims::bbr),
    subject("bbr-camel", || built(bbr::Bbr::new(bbr::Config::of_camel())), Frames, claims::bbr),
    subject("bbr-media", || built(bbr::Bbr::new(bbr::Config::for_media())), Frames, claims::bbr),
    subject("sqp", || built(sqp::Sqp::new(sqp::Config::default())), Frames, claims::sqp),
    subject("pudica", || pudica(pudica::Config::default()), Frames, claims::pudica),
    subject("scream", || built(scream::Scream::new(scream::Config::default())), Backlog, claims::scream),
    variant("scream-libwebrtc", scream_of_libwebrtc),
    subject("nada", || built(nada::Nada::new(nada::Config::default())), Frames, claims::nada),
    subject("camel", || built(camel::Camel::new(camel::Config::default())), Frames, claims::camel),
    subject("salsify", salsify, Frames, claims::salsify),
    subject("thalweg", || thalweg(false), Frames, claims::thalweg),
    subject("thalweg-window", || thalweg(true), Backlog, claims::thalweg),
    variant("rebera", || built(rebera::Rebera::new(rebera::Config::default()))),
    variant("rebera-paper", rebera_of_the_paper),
    subject("fbra", || built(fbra::Fbra::new(fbra::Config::default())), Course, claims::none),
    subject("rrtcc", || built(rrtcc::Rrtcc::new(rrtcc::Config::default())), Course, claims::none),
    subject("cnadu", || built(cnadu::Cnadu::new(cnadu::Config::default())), Course, claims::none),
    subject("tfrc", || built(tfrc::Tfrc::new(tfrc::Config::default())), Course, claims::none),
    variant("belabox", || built(belabox::Belabox::new(belabox::Config::default()))),
    variant("openpilot", || built(openpilot::Openpilot::new(openpilot::Config::default()))),
    variant("rrtcc-gcc-02", rrtcc_of_the_later_drafts),
    variant("rrtcc-fec-probes", rrtcc_with_fec_probes),
    variant("tfrc-damped", || built(tfrc::Tfrc::new(tfrc::Config { damped: true, ..tfrc::Config::default() }))),
    variant("scream-all", scream_with_everything),
    variant("gcc-capped", || capped(built(gcc::Gcc::new(gcc::Config::default())))),
    variant("copa-capped", || capped(copa_alone(0.9))),
    variant("camel-restless", restless_camel),
    variant("sqp-literal", || built(sqp::Sqp::new(sqp::Config::literal()))),
    variant("pudica-literal", || built(pudica::Pudica::new(pudica::Config::literal()))),
    variant("external", external),
    variant("learned", learned),
];

const fn subject(name: &'static str, build: fn() -> Box<dyn Controller>, feed: Feed, queue: claims::Claim) -> Subject {
    Subject { name, build, feed, queue }
}

const fn variant(name: &'static str, build: fn() -> Box<dyn Controller>) -> Subject {
    subject(name, build, Nothing, claims::none)
}

/// The subject of this name.
pub fn named(name: &str) -> &'static Subject {
    ALL.iter().find(|subject| subject.name == name).expect("a subject")
}

/// A controller whose parameters are in range.
pub fn built<C: Controller + 'static>(controller: Result<C, ConfigError>) -> Box<dyn Controller> {
    Box::new(controller.expect("in range"))
}

/// Configured for the packet size of the torture test.
fn salsify() -> Box<dyn Controller> {
    let packet = super::encoder::PACKET;
    built(salsify::Salsify::new(salsify::Config { packet, ..salsify::Config::default() }))
}

/// For frames, or holding packets back.
fn thalweg(holds_packets: bool) -> Box<dyn Controller> {
    let packet = super::encoder::PACKET;
    built(thalweg::Thalweg::new(thalweg::Config { packet, wire: packet, holds_packets, ..thalweg::Config::default() }))
}

/// As this harness paces it: at twice window / RTT.
fn copa_alone(delta: f64) -> Box<dyn Controller> {
    built(copa::Copa::new(copa::Config { delta, turning: copa::Turning::AtOnce, ..copa::Config::default() }))
}

fn scream_of_libwebrtc() -> Box<dyn Controller> {
    built(scream_libwebrtc::ScreamLibwebrtc::new(scream_libwebrtc::Config::default()))
}

/// Under a cap that marks and losses lower.
fn capped(controller: Box<dyn Controller>) -> Box<dyn Controller> {
    built(ecn::Capped::new(controller, ecn::CapConfig { answers_losses: true, ..ecn::CapConfig::default() }))
}

/// With the rule that is off by default.
fn scream_with_everything() -> Box<dyn Controller> {
    built(scream::Scream::new(scream::Config { l4s: Some(scream::L4s::default()), ..scream::Config::default() }))
}

/// With the receiver's reports on the path, and all bytes in flight subtracted.
fn rebera_of_the_paper() -> Box<dyn Controller> {
    use rebera::{Backlog, Config, MeasurementConfig, Rebera, Short};
    let measurement = MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() };
    let (measured_by, backlog) = (End::Receiver, Backlog::All);
    built(Rebera::new(Config { measured_by, measurement, backlog, ..Config::default() }))
}

/// With the changes of drafts 02 and gcc-02: a scalar filter, and additive growth.
fn rrtcc_of_the_later_drafts() -> Box<dyn Controller> {
    use rrtcc::{Config, FilterConfig, Increase, ReceiverConfig, Rrtcc, ScalarConfig};
    let receiver = ReceiverConfig { increase: Increase::Additive, ..ReceiverConfig::default() };
    let filter = FilterConfig::Scalar(ScalarConfig::default());
    built(Rrtcc::new(Config { receiver, filter, ..Config::default() }))
}

/// Paced as today: a backlog at 2.5 times the target is no call.
fn gcc_of_2023() -> Box<dyn Controller> {
    let pacing_factor = gcc::Config::default().pacing_factor;
    built(gcc::Gcc::new(gcc::Config { pacing_factor, ..gcc::Config::of_2023() }))
}

/// Each raise is tried with FEC first.
fn rrtcc_with_fec_probes() -> Box<dyn Controller> {
    let prove_for = Some(Span::from_secs(1));
    built(rrtcc::Rrtcc::new(rrtcc::Config { prove_for, ..rrtcc::Config::default() }))
}

/// Switches to GCC and back as often as possible.
fn restless_camel() -> Box<dyn Controller> {
    use camel::{BurstLengthConfig, Camel, Config, FallbackConfig};
    let burst_length = BurstLengthConfig {
        first: Bytes::new(2048),
        period: Span::from_millis(50),
        margin: 0.0,
        margin_at_min: 0.0,
        min_packets: 1,
        ..BurstLengthConfig::default()
    };
    let fallback =
        FallbackConfig { retry: Span::from_millis(100), trial: Span::from_millis(50), ..FallbackConfig::default() };
    built(Camel::new(Config { burst_length, fallback, ..Config::paper_literal() }))
}

/// Set to one rate with a window.
fn external() -> Box<dyn Controller> {
    use thalweg_learned::{External, Observation, Outside, Setting};
    let outside = Outside::new(Observation::Raw, Rate::from_kbps(300));
    outside.set(Setting { rate: Rate::from_kbps(900), window: Some(Bytes::new(1)) });
    built(External::new(&outside, Span::from_millis(60)))
}

/// A policy that goes by what it sees, and every now and then answers nonsense, so that GCC leads for a while.
fn learned() -> Box<dyn Controller> {
    use thalweg_learned::{Action, Learned, Observation, Terms};
    let mut count = 0u32;
    let policy = move |observation: &[f32], answer: &mut [f32]| {
        let sum: f32 = observation.iter().sum();
        answer.fill(if count % 40 == 30 { f32::NAN } else { sum % 2.0 - 1.0 });
        count += 1;
    };
    let (observation, action) = (Observation::Mmsys150, Action::RateAndWindow);
    let terms = Terms { observation, action, interval: Span::from_millis(60), start: Rate::from_kbps(300) };
    built(Learned::new(Box::new(policy), terms, None))
}

/// Without probes: this harness paces padding like media, and its padding packets are as large as media packets.
pub fn pudica(config: pudica::Config) -> Box<dyn Controller> {
    built(pudica::Pudica::new(pudica::Config { probes: 0, ..config }))
}
