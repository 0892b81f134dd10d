//! A statistical encoder for sweeps over many links: it reads no pixels and makes no bytes, only sizes, quantisers and
//! modelled quality, at about 0.1 us a frame where libvpx takes 6 ms.
//!
//! A frame's size is the rate's allowance ([`Lag`]: the rate follows its target with two time constants), corrected for
//! the excess or saving of earlier frames ([`Account`]), bounded by the sizes at the coarsest and the finest quantiser
//! ([`OperatingPoint`]), times a log-normal factor correlated with the previous one ([`Scatter`]).
//!
//! # Accuracy against libvpx
//!
//! `cargo run --release -p thalweg-calibrate -- fit-model`: libvpx 1.12 with its default
//! [`Settings`](crate::libvpx::Settings) at 720p30, the model as the mean of 20 seeds. Steps from 0.5 to 2 and back to
//! 0.5 Mbps, seconds to a tenth of the target (mean of a third of a second; [`LagPreset::Paper`]: 1.7 to 1.9 s up, 0.7
//! to 0.8 s down):
//!
//! | | up | down |
//! |---|---|---|
//! | scene | 1.23 s, model 1.25 | 0.73 s, model 0.75 |
//! | talking head | 1.27 s, model 1.32 | 0.90 s, model 0.82 |
//!
//! Sizes, a keyframe forced every 5 s (libvpx, model): the coefficient of variation of delta frames, their 95th
//! percentile over the mean, the correlation of each with the next, and keyframes over the mean:
//!
//! | scene | variation | p95 | correlation | keyframe |
//! |---|---|---|---|---|
//! | 0.5 Mbps (the floor) | 0.19, 0.23 | 1.33, 1.34 | +0.16, +0.12 | 4.19, 4.12 |
//! | 1 Mbps | 0.31, 0.30 | 1.56, 1.50 | -0.32, -0.27 | 2.83, 2.58 |
//! | 2 Mbps | 0.28, 0.26 | 1.50, 1.41 | -0.34, -0.26 | 2.57, 2.58 |
//! | 4 Mbps | 0.21, 0.22 | 1.39, 1.33 | -0.28, -0.24 | 2.28, 2.58 |
//! | **talking head** | | | | |
//! | 0.25 Mbps (the floor) | 0.16, 0.15 | 1.27, 1.26 | +0.27, +0.28 | 5.86, 5.56 |
//! | 0.5 Mbps | 0.43, 0.19 | 1.30, 1.34 | -0.18, -0.44 | 3.08, 2.90 |
//! | 1 Mbps | 0.40, 0.19 | 1.30, 1.33 | -0.19, -0.45 | 1.83, 1.58 |
//! | 2 Mbps | 0.30, 0.19 | 1.36, 1.33 | -0.26, -0.45 | 1.62, 1.58 |
//! | 4 Mbps | 0.44, 0.19 | 2.08, 1.33 | -0.39, -0.45 | 1.38, 1.58 |
//!
//! For the scene, libvpx's sizes vary less the finer its quantiser, at any resolution: 95th percentiles of 1.55, 1.50,
//! 1.33, 1.30 and 1.27 times the mean at quantisers 67, 43, 24, 14 and 6 (360p, 540p and 720p, no forced keyframes).
//! The model does the same ([`Scatter::steadiest`]).
//!
//! Known deviations: after a forced keyframe of the talking head, which libvpx makes at its coarsest quantiser, the
//! next frame is up to six times as large as the rest; without forced keyframes libvpx varies by 0.17 to 0.20 there, as
//! the model does. At 4 Mbps, near the finest quantiser, one step of libvpx's quantiser (5 to 4) doubles the size.
//! Quality is within 0.5 dB of PSNR and 0.7 dB of SSIM of libvpx at rates and a size (360p, scaled up again) between
//! the fitted ones.
//!
//! In three temporal layers ([`Layered`]) with a keyframe every 32 pictures, at 1 Mbps, sizes by layer relative to the
//! mean of all but keyframes (the model over 100 intra periods, tests/layers.rs; libvpx over eight, tool
//! `layer_sizes`):
//!
//! | | base | layer 1 | layer 2 |
//! |---|---|---|---|
//! | scene | 1.50, model 1.56 | 0.83, model 0.81 | 0.87, model 0.85 |
//! | talking head | 1.52, model 1.55 | 0.79, model 0.81 | 0.88, model 0.85 |
//!
//! # The functional codec
//!
//! [`Config::functional`] is the same curve with a floor of its own ([`Functional`]; `fit_model -- floor`: the scene, 200
//! pictures, a keyframe each 50). Bytes at quantiser 127, the coarsest, of the codec and of the model without its scatter:
//!
//! | | keyframe | inter frame |
//! |---|---|---|
//! | 320x180 | 1067, model 953 | 104, model 158 |
//! | 640x360 | 2876, model 2514 | 328, model 417 |
//! | 960x540 | 4971, model 4435 | 684, model 735 |
//! | 1280x720 | 6639, model 6635 | 1100, model 1100 |
//! | 1920x1080 | 10846, model 11704 | 2238, model 1940 |
//!
//! Where less is asked for, the real codec corrects in an inter frame the macroblocks that differ most; the model makes a
//! whole frame. A keyframe both make whole.
//!
//! For comparison, Firefox' H.264 in a video chat at 720p (cisco/syncodecs): variation 0.11 at 0.2 Mbps, 0.17 at 1 and
//! 0.27 at 2 Mbps, correlation +0.02 to +0.26: as much scatter as here, without libvpx's alternation.

mod ageing;
mod config;
mod content;
mod costs;
mod encoder;
mod lag;
mod layered;
mod quality;
mod sizes;

pub use ageing::Ageing;
pub use config::Config;
pub use content::{Content, ContentPreset, Functional, Scatter, Variation};
pub use encoder::ModelEncoder;
pub use lag::{Follower, Lag, LagPreset};
pub use layered::Layered;
pub use quality::{Curve, OperatingPoint};
pub use sizes::Account;

const CODEC: &str = "encoder model";
