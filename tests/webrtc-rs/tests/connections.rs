//! Thalweg's controllers in webrtc-rs's own connections.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rtc::interceptor::{BandwidthEstimator, ConstantBitrate, Gcc, PacketReport, Registry};
use rtc::peer_connection::configuration::interceptor_registry::{CongestionFeedback, configure_congestion_control};
use rtc::peer_connection::configuration::media_engine::MediaEngine;
use thalweg_rtc::{Config, Driver, Estimator, Feedback, Rate, register};
use webrtc_rs::{Error, Path, Seen, Target, media_engine, play};

const START: f64 = 3e5;

fn path() -> Path {
    Path { capacity: 3e6, one_way: Duration::from_millis(20), queue: 1.0, lost_one_in: None }
}

fn config() -> Config {
    Config {
        start: Rate::from_bps_f64(START),
        min: Rate::from_kbps(100),
        max: Rate::from_kbps(100_000),
        ..Config::default()
    }
}

/// With webrtc-rs's own wiring around an estimator.
fn wired(estimator: impl BandwidthEstimator + 'static) -> Result<(Registry, MediaEngine), Error> {
    let mut engine = media_engine()?;
    let registry = configure_congestion_control(Registry::new(), estimator, CongestionFeedback::Twcc, &mut engine)?;
    Ok((registry, engine))
}

fn sent_by(target: Target, sender: (Registry, MediaEngine), path: Path, seconds: f64) -> Result<Seen, Error> {
    play(path, (sender.0, sender.1, target), wired(ConstantBitrate::new(START))?, seconds)
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

fn theirs(path: Path) -> Result<Seen, Error> {
    let target = Arc::new(Mutex::new(START));
    let sender = wired(Announced(Gcc::new(START, 1e5, 1e8), target.clone()))?;
    sent_by(Box::new(move || *target.lock().unwrap()), sender, path, 30.0)
}

/// As docs/webrtc-rs.md has it.
fn registered(name: &str, path: Path) -> Result<Seen, Error> {
    let (registry, engine) = wired(ConstantBitrate::new(START))?;
    let (registry, handle) = register(registry, Driver::named(name, config())?, Feedback::Twcc);
    sent_by(Box::new(move || handle.snapshot().target.as_bps_f64()), (registry, engine), path, 30.0)
}

fn estimated(name: &str, path: Path) -> Result<Seen, Error> {
    let estimator = Estimator::named(name, config())?;
    let handle = estimator.handle();
    sent_by(Box::new(move || handle.snapshot().target.as_bps_f64()), wired(estimator)?, path, 30.0)
}

fn show(what: &str, seen: &Seen) {
    let [early, late] = [(3.0, 30.0), (21.0, 30.0)].map(|(from, until)| seen.delivered(from, until) / 1e6);
    println!("{what:28} 2.7 Mbps after {:?} s, delivered {early:.2} and {late:.2} Mbps", seen.reached(2.7e6));
}

#[test]
fn gcc_finds_3_mbps_in_a_connection_within_two_seconds() -> Result<(), Error> {
    let theirs = theirs(path())?;
    let [estimator, interceptor] = [estimated("gcc", path())?, registered("gcc", path())?];
    for (what, seen) in [("webrtc-rs Gcc", &theirs), ("Estimator", &estimator), ("register", &interceptor)] {
        show(what, seen);
    }
    assert!(theirs.reached(2.7e6).is_none_or(|at| at > 20.0));
    assert!(interceptor.reached(2.7e6).is_some_and(|at| at > 0.1 && at < 2.0));
    for seen in [&estimator, &interceptor] {
        let delivered = seen.delivered(3.0, 30.0);
        assert!(delivered > 0.85 * 3e6 && delivered <= 3e6, "{delivered}");
    }
    Ok(())
}

#[test]
fn a_twentieth_and_a_fifth_lost_leave_most_of_the_path() -> Result<(), Error> {
    let lossy = |one_in| Path { lost_one_in: Some(one_in), ..path() };
    show("webrtc-rs Gcc, 1 in 20", &theirs(lossy(20))?);
    let gcc = registered("gcc", lossy(20))?;
    show("gcc, 1 in 20", &gcc);
    let copa = registered("copa", lossy(5))?;
    show("copa, 1 in 5", &copa);
    assert!(gcc.delivered(21.0, 30.0) > 0.85 * 3e6 && gcc.delivered(21.0, 30.0) <= 3e6);
    assert!(copa.delivered(21.0, 30.0) > 0.6 * 3e6 && copa.delivered(21.0, 30.0) <= 3e6);
    Ok(())
}
