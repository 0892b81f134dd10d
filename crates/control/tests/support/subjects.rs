//! Every controller, for the tests that all of them take: a new one joins by a line.

use thalweg_control::{Controller, bbr, copa, fixed, gcc, rocc, salsify};
use thalweg_units::Rate;

use super::claims;

/// A controller, how to make one, and what the torture gives it.
#[derive(Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    pub build: fn() -> Box<dyn Controller>,
    pub feed: Feed,
    /// The longest that its algorithm lets a packet stand in the queue of such a path, once settled.
    pub queue: claims::Claim,
}

/// What a subject has to send in the torture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// Always another packet: for those that pace and hold back packets.
    Backlog,
    /// 30 frames a second of the size the controller wants: for those that aim an encoder or count frames.
    Frames,
    /// It is in the operations model only: a variant of another.
    Nothing,
}

/// All of them.
pub const ALL: &[Subject] = &[
    subject("fixed", fixed, Feed::Backlog, claims::none),
    subject("copa", || copa_alone(0.5), Feed::Backlog, claims::copa),
    subject("copa-0.9", || copa_alone(0.9), Feed::Backlog, claims::copa),
    subject("rocc", || Box::new(rocc::Config::default().build().unwrap()), Feed::Backlog, claims::rocc),
    subject("gcc", || Box::new(gcc::Config::default().build().unwrap()), Feed::Backlog, claims::gcc),
    subject("gcc-2021", gcc_of_2021, Feed::Backlog, claims::gcc),
    subject("bbr", || Box::new(bbr::Config::default().build().unwrap()), Feed::Backlog, claims::bbr),
    subject("bbr-camel", || Box::new(bbr::Config::of_camel().build().unwrap()), Feed::Frames, claims::bbr),
    subject("bbr-media", || Box::new(bbr::Config::for_media().build().unwrap()), Feed::Frames, claims::bbr),
    subject("sqp", sqp, Feed::Frames, claims::sqp),
    subject("pudica", pudica, Feed::Frames, claims::pudica),
    subject("scream", || scream(thalweg_control::scream::Config::default()), Feed::Backlog, claims::scream),
    subject("nada", nada, Feed::Frames, claims::nada),
    subject("camel", camel, Feed::Frames, claims::camel),
    subject("salsify", salsify, Feed::Frames, claims::salsify),
    subject("scream-all", scream_with_everything, Feed::Nothing, claims::none),
    subject("camel-restless", restless_camel, Feed::Nothing, claims::none),
    subject("sqp-literal", sqp_literal, Feed::Nothing, claims::none),
    subject("pudica-literal", pudica_literal, Feed::Nothing, claims::none),
];

const fn subject(name: &'static str, build: fn() -> Box<dyn Controller>, feed: Feed, queue: claims::Claim) -> Subject {
    Subject { name, build, feed, queue }
}

/// A little less than the reference path bears.
fn fixed() -> Box<dyn Controller> {
    Box::new(fixed::Config { rate: Rate::from_kbps(2700) }.build().unwrap())
}

/// It counts by packets of the torture's size.
fn salsify() -> Box<dyn Controller> {
    let packet = super::encoder::PACKET;
    Box::new(salsify::Config { packet, ..salsify::Config::default() }.build().unwrap())
}

/// As this harness paces it: at twice window / RTT.
fn copa_alone(delta: f64) -> Box<dyn Controller> {
    Box::new(copa::Config { delta, turning: copa::Turning::AtOnce, ..copa::Config::default() }.build().unwrap())
}

fn scream(config: thalweg_control::scream::Config) -> Box<dyn Controller> {
    Box::new(config.build().unwrap())
}

/// Every rule that is off by default.
fn scream_with_everything() -> Box<dyn Controller> {
    use thalweg_control::scream::{Competing, Config, DelayConfig, Drain, L4s};
    let (competing, drain) = (Some(Competing::default()), Some(Drain::default()));
    let delay = DelayConfig { competing, drain, ..DelayConfig::default() };
    scream(Config { delay, l4s: Some(L4s::default()), ..Config::default() })
}

fn nada() -> Box<dyn Controller> {
    Box::new(thalweg_control::nada::Config::default().build().unwrap())
}

fn gcc_of_2021() -> Box<dyn Controller> {
    let config = gcc::Config {
        acknowledged_rate: gcc::acknowledged_rate::Config::Bayesian,
        loss: gcc::loss::Config::V1,
        ..gcc::Config::default()
    };
    Box::new(config.build().unwrap())
}

fn camel() -> Box<dyn Controller> {
    Box::new(thalweg_control::camel::Config::default().build().unwrap())
}

/// Goes to GCC and back as often as it can.
fn restless_camel() -> Box<dyn Controller> {
    use thalweg_control::camel::{Config, burst_length, fallback};
    use thalweg_units::{Bytes, Span};
    let length = Bytes::new(2048);
    let burst_length = burst_length::Config {
        first: length,
        period: Span::from_millis(50),
        margin: 0.0,
        least_packets: 1,
        ..burst_length::Config::default()
    };
    let fallback =
        fallback::Config { retry: Span::from_millis(100), trial: Span::from_millis(50), ..fallback::Config::default() };
    Box::new(Config { burst_length, fallback, ..Config::paper_literal() }.build().unwrap())
}

fn sqp() -> Box<dyn Controller> {
    Box::new(thalweg_control::sqp::Config::default().build().unwrap())
}

fn sqp_literal() -> Box<dyn Controller> {
    Box::new(thalweg_control::sqp::Config::literal().build().unwrap())
}

/// Without probes: this harness paces filler and media alike, and its filler is no smaller than its media.
fn pudica() -> Box<dyn Controller> {
    use thalweg_control::pudica::Config;
    Box::new(Config { probes: 0, ..Config::default() }.build().unwrap())
}

fn pudica_literal() -> Box<dyn Controller> {
    Box::new(thalweg_control::pudica::Config::literal().build().unwrap())
}
