//! A point of a bound's curve, as an outcome keeps it.

use serde::{Deserialize, Serialize};

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The time within which each frame is through the link after its capture, in ms.
    pub within_ms: f64,
    /// 95th percentile of the latency of pictures, in ms.
    pub latency_p95_ms: f64,
    /// Payload of shown frames, in bit/s.
    pub video_bitrate_bps: f64,
}
