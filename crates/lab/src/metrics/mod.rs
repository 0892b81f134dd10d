//! Every figure of a run, as specs/metrics.md defines it.

mod choices;
mod columns;
mod delivery;
mod doubts;
pub mod estimate;
mod explained;
mod fairness;
mod figures;
mod latency;
mod qoe;
mod redundancy;
pub mod response;
pub mod spacing;
mod stall;
mod summary;
mod traffic;

use thalweg_units::percentile;
use thalweg_video::quality;

use crate::series::FrameRecord;
pub use choices::{Choices, Choosing};
pub use columns::{Column, columns, every_column};
pub use delivery::{DEADLINE, Delivery, abu};
pub use doubts::{TOO_LATE_MS, doubts};
pub use explained::Better;
pub use fairness::{Portion, Sharer, Sharing, TcpShare, jain, sharing, tcp_share};
pub use figures::{FIGURES, figures};
pub use latency::{Latency, in_time, latency};
pub use qoe::{qoe_call, qoe_driving};
pub use redundancy::{Probes, Redundancy, ffre};
pub(crate) use stall::STALL;
pub use stall::{Due, Stall, displays, interval, stall};
pub use summary::{QualitySource, SCHEMA_VERSION, Summary};
pub use traffic::Traffic;

/// Mean PSNR of shown frames, in dB.
pub fn mean_psnr(frames: &[FrameRecord]) -> Option<f64> {
    mean(frames.iter().filter_map(|frame| frame.psnr_db))
}

/// The mean SSIM in dB, and the 25th percentile of the frames' SSIM in dB.
pub fn ssim_decibels(frames: &[FrameRecord]) -> Option<(f64, f64)> {
    let mean = mean(frames.iter().filter_map(|frame| frame.ssim))?;
    let each: Vec<f64> = frames.iter().filter_map(|frame| frame.ssim).map(quality::ssim_db).collect();
    Some((quality::ssim_db(mean), percentile(&each, 0.25)?))
}

/// The mean; `None` of no values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}
