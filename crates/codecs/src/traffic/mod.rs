//! Traffic models: the video sources by which RMCAT judges congestion control (RFC 8593, cisco/syncodecs;
//! specs/rmcat.md 5).
//!
//! They say how large a frame is and how late, and nothing else: no pixels, no bytes, no quality. The camera drives
//! them, as it drives every encoder, so a model's frame rate is the video's ([`Config::frame_rate`] has the usual one),
//! and a frame's share of the target is the target times the plan's interval. A target in bytes is met exactly, so
//! schemes that choose among sizes can use them too; a quantiser means nothing to them and is refused.
//!
//! | name | a frame | its target |
//! |---|---|---|
//! | `fixfps` | its share of the target, exactly | taken up 100 ms late |
//! | `statistical` | its share with noise; after a large change 8 frames of a transient (RFC 8593) | at most every 200 ms |
//! | `stats` | the same with syncodecs' parameters: 10 frames | at most every 100 ms and by 10 % |
//! | `trace` | a recorded one of the nearest resolution, between the nearest rates | at once |
//! | `hybrid` | a recorded one; transients as in `stats` | at most every 50 ms and by 5 % |
//! | `sharing` | at most 1 kB, one in twenty 20 to 200 times as large, whatever the target | at once |
//! | `cbr` | whole packets of 1000 B | at once |
//!
//! The first frame of `statistical`, `stats` and `hybrid` begins a transient (R), as in syncodecs. A transient has no
//! noise of sizes.
//!
//! # Noise of the interval
//!
//! The models draw the time between frames as `t0 (1 + n)`, n from a Laplace distribution with scale b. Here a picture
//! is read when the camera says, so each frame is instead late by an independent exponential time of mean `b t0`, as if
//! encoding had taken longer ([`Encoder::delay`](crate::Encoder::delay)). The difference of two such times has exactly
//! the Laplace distribution with scale `b t0`: the intervals are distributed as in the models, but a long one is
//! followed by a shorter one, so that frames never drift away from their pictures.

mod config;
mod encoder;
mod fixfps;
mod noise;
mod recordings;
mod simple;
mod statistical;

pub use config::{Config, Hybrid, TrafficModel, UnknownModel};
pub use encoder::TrafficEncoder;
pub use fixfps::Fixfps;
pub use recordings::Recordings;
pub use simple::{Cbr, Sharing};
pub use statistical::Statistical;

const CODEC: &str = "traffic model";

/// A model's output for one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Made {
    /// Payload bytes, not yet rounded; `None` to send nothing.
    bytes: Option<f64>,
    /// How much later than usual the frame is ready, in frame intervals.
    late: f64,
}
