//! Who says how fast to send: webrtc-rs's own estimator, or a controller of Thalweg.

use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rtc::interceptor::{BandwidthEstimator, ConstantBitrate, Gcc, PacketReport, Registry};
use rtc::peer_connection::configuration::interceptor_registry::{CongestionFeedback, configure_congestion_control};
use rtc::peer_connection::configuration::media_engine::MediaEngine;
use thalweg_webrtc_rs::{Config, Driver, Estimator, Feedback, Rate, register};

use crate::{Error, Target, media_engine};

/// The first target, bit/s.
const START: f64 = 3e5;
const MIN: f64 = 1e5;
const MAX: f64 = 1e8;

/// Parts of a sender.
pub type Sender = (Registry, MediaEngine, Target);

/// A sender's controller.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// webrtc-rs's `Gcc`.
    Theirs,
    /// The controller of this name behind webrtc-rs's own seam.
    Estimator(String),
    /// The same as docs/webrtc-rs.md has it: an interceptor that sees departures, with probes.
    Registered(String),
}

impl FromStr for Control {
    type Err = String;

    fn from_str(text: &str) -> Result<Control, String> {
        match text.split_once(':') {
            None if text == "theirs" => Ok(Control::Theirs),
            Some(("estimator", name)) => Ok(Control::Estimator(name.into())),
            Some(("register", name)) => Ok(Control::Registered(name.into())),
            _ => Err(format!("no controller '{text}': theirs, estimator:NAME or register:NAME")),
        }
    }
}

impl Control {
    /// From 300 kbps, between 100 kbps and 100 Mbps.
    ///
    /// # Errors
    /// For a name that cannot be played here ([`thalweg_webrtc_rs::playable`]).
    pub fn sender(&self) -> Result<Sender, Error> {
        let [start, min, max] = [START, MIN, MAX].map(Rate::from_bps_f64);
        let config = Config::new(start, min, max);
        match self {
            Control::Theirs => {
                let target = Arc::new(Mutex::new(START));
                let (registry, engine) = wired(Announced(Gcc::new(START, MIN, MAX), target.clone()))?;
                Ok((registry, engine, Box::new(move || *target.lock().unwrap())))
            }
            Control::Estimator(name) => {
                let estimator = Estimator::named(name, config)?;
                let handle = estimator.handle();
                let (registry, engine) = wired(estimator)?;
                Ok((registry, engine, Box::new(move || handle.snapshot().target.as_bps_f64())))
            }
            Control::Registered(name) => {
                let (registry, engine) = wired(ConstantBitrate::new(START))?;
                let (registry, handle) = register(registry, Driver::named(name, config)?, Feedback::Twcc);
                Ok((registry, engine, Box::new(move || handle.snapshot().target.as_bps_f64())))
            }
        }
    }
}

/// A receiver, which reports by transport-wide feedback.
pub fn receiver() -> Result<(Registry, MediaEngine), Error> {
    wired(ConstantBitrate::new(START))
}

/// With webrtc-rs's own wiring around an estimator.
fn wired(estimator: impl BandwidthEstimator + 'static) -> Result<(Registry, MediaEngine), Error> {
    let mut engine = media_engine()?;
    let registry = configure_congestion_control(Registry::new(), estimator, CongestionFeedback::Twcc, &mut engine)?;
    Ok((registry, engine))
}

/// webrtc-rs's estimator, and its target for everybody.
struct Announced(Gcc, Arc<Mutex<f64>>);

impl BandwidthEstimator for Announced {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        self.0.on_reports(now, reports);
        *self.1.lock().unwrap() = self.0.target_bitrate();
    }
    fn target_bitrate(&self) -> f64 {
        self.0.target_bitrate()
    }
}
