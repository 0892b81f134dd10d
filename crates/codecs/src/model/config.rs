//! Parameters of the statistical encoder model.

use serde::{Deserialize, Serialize};

use super::content::ContentPreset;
use super::lag::LagPreset;
use super::sizes::Account;

/// Parameters of the model. The defaults model libvpx on the built-in scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The video content.
    pub content: ContentPreset,
    /// How fast the rate follows its target.
    pub lag: LagPreset,
    /// How excess bits are repaid, and when frames are dropped.
    pub account: Account,
    /// Offers several candidates and can continue from any or none of them without a keyframe. Otherwise it takes one
    /// target and, as libvpx does, must send a keyframe if its frame is not sent.
    pub functional: bool,
}

impl std::fmt::Display for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lag = self.lag.lag();
        let kind = if self.functional { ", functional" } else { "" };
        write!(
            f,
            "statistical model of libvpx VP8 on {}, {} behind a rate that rises and {} behind one that falls{kind}; sizes and quality are modelled",
            self.content, lag.up, lag.down
        )
    }
}
