//! A statistical encoder, for sweeps over many links: it looks at no pixels and makes no bytes, only sizes, quantisers and
//! modelled quality.

mod config;
mod content;
mod costs;
mod encoder;
mod lag;
mod quality;
mod sizes;

pub use config::Config;
pub use content::{Content, ContentPreset, Scatter, Variation};
pub use encoder::ModelEncoder;
pub use lag::{Follower, Lag, LagPreset};
pub use quality::{Curve, OperatingPoint};
pub use sizes::Account;

use crate::seam::EncodeError;

const CODEC: &str = "encoder model";

fn refuse(setting: &'static str, value: String, range: &'static str) -> EncodeError {
    EncodeError::Setting { codec: CODEC, setting, value, range }
}
