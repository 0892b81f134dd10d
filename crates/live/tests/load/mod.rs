//! A publisher under load: hostile datagrams, viewers that come and go, and half an hour of all of it.
//!
//! The measurements cover the whole process, so these tests run one at a time.

mod hostile;
mod process;
mod soak;
mod viewer;

use std::sync::Arc;

use thalweg_emulate::clock::Clock;
use thalweg_live::publish::{PublishConfig, Publisher};
use thalweg_sender::Scheme;
use thalweg_units::{Rate, Size};
use thalweg_video::Video;

/// An encoder model at 30 fps and silence, on loopback.
fn publisher(max_viewers: usize) -> Publisher {
    publisher_of(max_viewers, None)
}

/// The same with a limit on what all viewers together are sent.
fn publisher_of(max_viewers: usize, max_total_rate: Option<Rate>) -> Publisher {
    let config = PublishConfig {
        video: Video::scene(Size::new(640, 360), 30),
        barcode: false,
        codec: Some("model".parse().unwrap()),
        max_viewers,
        max_total_rate,
        ..PublishConfig::new("gcc".parse::<Scheme>().unwrap())
    };
    let mut find = |name: &str| -> Result<Arc<thalweg_netsim::Trace>, String> { Err(format!("no trace {name}")) };
    Publisher::start(config, Clock::new(), &mut find).unwrap()
}

/// A metric from Prometheus' text, summed over all viewers.
fn metric(text: &str, name: &str) -> f64 {
    let lines = text.lines().filter(|line| line.starts_with(name) && !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
