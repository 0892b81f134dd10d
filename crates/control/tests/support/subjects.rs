//! Every controller, for the tests that all of them take: a new one joins by a line.

use thalweg_control::{Controller, bbr, copa, fixed, gcc, rocc, salsify};

/// A controller and how to make one.
#[derive(Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    pub build: fn() -> Box<dyn Controller>,
    pub kind: Kind,
}

/// What may be expected of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Finds the capacity within a number of round trips.
    Window,
    /// Grows by 8 % a second, or by half a packet a response time once it knows the capacity (gcc.md section 5).
    Gcc,
    /// Grows by a segment and, once congestion is long past, 2 % a round trip (scream.md): `tests/scream.rs` has its bounds.
    Scream,
    /// Keeps a queue by how far below its maximum it is (nada.md): `tests/nada.rs` has its bounds.
    Nada,
    /// Limits frames, which the torture does not make, instead of packets (`tests/trains.rs` does for SQP and Pudica).
    Frames,
    /// Does not look at the network.
    Blind,
}

/// All of them.
pub const ALL: &[Subject] = &[
    Subject { name: "fixed", build: || Box::new(fixed::Config::default().build().unwrap()), kind: Kind::Blind },
    Subject { name: "bbr", build: || Box::new(bbr::Config::default().build().unwrap()), kind: Kind::Window },
    Subject { name: "bbr-media", build: || Box::new(bbr::Config::for_media().build().unwrap()), kind: Kind::Window },
    Subject { name: "copa", build: || copa_alone(0.5), kind: Kind::Window },
    Subject { name: "copa-0.9", build: || copa_alone(0.9), kind: Kind::Window },
    Subject { name: "scream", build: || scream(thalweg_control::scream::Config::default()), kind: Kind::Scream },
    Subject { name: "scream-all", build: scream_with_everything, kind: Kind::Scream },
    Subject { name: "nada", build: nada, kind: Kind::Nada },
    Subject { name: "rocc", build: || Box::new(rocc::Config::default().build().unwrap()), kind: Kind::Window },
    Subject { name: "salsify", build: || Box::new(salsify::Config::default().build().unwrap()), kind: Kind::Frames },
    Subject { name: "camel", build: camel, kind: Kind::Frames },
    Subject { name: "camel-restless", build: restless_camel, kind: Kind::Frames },
    Subject { name: "sqp", build: sqp, kind: Kind::Frames },
    Subject { name: "sqp-literal", build: sqp_literal, kind: Kind::Frames },
    Subject { name: "pudica", build: pudica, kind: Kind::Frames },
    Subject { name: "pudica-literal", build: pudica_literal, kind: Kind::Frames },
    Subject { name: "gcc", build: || Box::new(gcc::Config::default().build().unwrap()), kind: Kind::Gcc },
    Subject { name: "gcc-2021", build: gcc_of_2021, kind: Kind::Gcc },
];

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

/// Needs frames that leave in bursts; `control::camel::tests` has its paths.
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

fn pudica() -> Box<dyn Controller> {
    Box::new(thalweg_control::pudica::Config::default().build().unwrap())
}

fn pudica_literal() -> Box<dyn Controller> {
    Box::new(thalweg_control::pudica::Config::literal().build().unwrap())
}
