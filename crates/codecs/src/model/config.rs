//! What is modelled.

use serde::{Deserialize, Serialize};

use super::content::ContentPreset;
use super::lag::LagPreset;
use super::sizes::Account;

/// Parameters of the model. The defaults are libvpx on the built-in scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is in the pictures.
    pub content: ContentPreset,
    /// How fast the rate follows its target.
    pub lag: LagPreset,
    /// How excess is paid back, and when frames are dropped.
    pub account: Account,
    /// Whether it offers several candidates and goes on from any, or none, without a keyframe; otherwise it takes one target
    /// and owes a keyframe when its frame is not sent, as libvpx does.
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
