//! The paths.

use std::sync::Arc;

use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, Jitter, PathConfig, QueueConfig, Trace};
use thalweg_units::{Bytes, Seed, Span};

/// The path in both directions.
pub struct Paths {
    pub forward: PathConfig,
    pub reverse: PathConfig,
}

/// One way.
pub const DELAY: Span = Span::from_millis(25);

/// The test set of docs/tuning/thalweg.toml: eight recorded cellular links, on which nothing is chosen.
pub const TEST: [&str; 8] = [
    "ATT-LTE-driving-2016.down",
    "ATT-LTE-driving-2016.up",
    "TMobile-LTE-driving.down",
    "TMobile-LTE-driving.up",
    "TMobile-LTE-short.down",
    "TMobile-LTE-short.up",
    "Verizon-EVDO-driving.down",
    "Verizon-EVDO-driving.up",
];

/// Its tuning set, for choices.
pub const TUNING: [&str; 15] = [
    "4g_trace_driving_50187_dr",
    "4g_trace_walking_50167_a",
    "5g_trace_109_driving",
    "5g_trace_90_walking",
    "lte-driving",
    "lte-walking",
    "umts-driving",
    "5g-mmwave",
    "wifi-congested",
    "ATT-LTE-driving.down",
    "ATT-LTE-driving.up",
    "TMobile-UMTS-driving.down",
    "TMobile-UMTS-driving.up",
    "Verizon-LTE-short.down",
    "Verizon-LTE-short.up",
];

/// The link of this name: a recording, or what [`Trace::named`] has.
pub fn link(name: &str, duration: Span) -> Result<Arc<Trace>, String> {
    let recorded = thalweg_data::recording(name).map_err(|error| error.to_string())?;
    let trace = match recorded {
        Some(path) => {
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            thalweg_traces::read(&bytes, name, &Default::default()).map_err(|error| format!("{name}: {error}"))?.trace
        }
        None => Trace::named(name, duration, Seed::new(1)).map_err(|error| error.to_string())?,
    };
    Ok(Arc::new(trace))
}

/// A recorded link as the laboratory has it: 25 ms each way, and this queue.
pub fn recorded(name: &str, queue: QueueConfig) -> Paths {
    let delay = HopConfig::delay(DELAY);
    let bottleneck = HopConfig::Bottleneck { trace: name.into(), queue, once: false };
    Paths { forward: PathConfig { hops: vec![bottleneck, delay.clone()] }, reverse: PathConfig { hops: vec![delay] } }
}

/// A constant rate with 64 KB of queue: 10 Mbps, 30 ms there and back. Each packet is late by up to `late` each way, in order, as
/// on a machine that has other work.
pub fn bulk(late: Span) -> Paths {
    let jitter = Jitter::Uniform { max: late };
    let delay = HopConfig::Delay { delay: Span::from_millis(15).into(), jitter, reorders: false };
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(64_000)));
    let rate = HopConfig::Rate { rate: "10Mbps".parse().expect("a rate"), queue };
    Paths { forward: PathConfig { hops: vec![rate, delay.clone()] }, reverse: PathConfig { hops: vec![delay] } }
}
