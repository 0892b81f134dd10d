//! Configuration of openh264, as libwebrtc does it.

use serde::{Deserialize, Serialize};

/// Settings of the H.264 encoder. The defaults are those of libwebrtc's
/// `modules/video_coding/codecs/h264/h264_encoder_impl.cc` with one thread: rate control by bit rate, one slice,
/// keyframes on request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Kind of content (`iUsageType`).
    pub usage: Usage,
    /// Trade-off between speed and quality (`iComplexityMode`; openh264's and libwebrtc's is low).
    pub complexity: Complexity,
    /// The finest quantiser, 0..=51 (`iMinQp`; openh264 raises 0 to 12 for cameras).
    pub min_quantizer: u8,
    /// The coarsest quantiser, 0..=51 (`iMaxQp`; openh264 lowers 51 to 42 for cameras).
    pub max_quantizer: u8,
    /// Lets each block have its own quantiser (`bEnableAdaptiveQuant`; openh264 on).
    pub adaptive_quantizer: bool,
    /// Skips static background (`bEnableBackgroundDetection`; openh264 on).
    pub background_detection: bool,
    /// Lets the encoder insert a keyframe at a scene cut (`bEnableSceneChangeDetect`; openh264 on).
    pub scene_change_detection: bool,
}

/// Kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// A camera (`CAMERA_VIDEO_REAL_TIME`).
    #[default]
    Camera,
    /// A screen (`SCREEN_CONTENT_REAL_TIME`).
    Screen,
}

/// Trade-off between speed and quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Complexity {
    /// The fastest.
    #[default]
    Low,
    /// Between fastest and best quality.
    Medium,
    /// The best quality.
    High,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            usage: Usage::Camera,
            complexity: Complexity::Low,
            min_quantizer: 0,
            max_quantizer: 51,
            adaptive_quantizer: true,
            background_detection: true,
            scene_change_detection: true,
        }
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (usage, complexity) = (
            match self.usage {
                Usage::Camera => "camera",
                Usage::Screen => "screen",
            },
            match self.complexity {
                Complexity::Low => "low",
                Complexity::Medium => "medium",
                Complexity::High => "high",
            },
        );
        write!(
            f,
            "openh264 {usage}, complexity {complexity}, quantiser {}-{}, one slice, one thread",
            self.min_quantizer, self.max_quantizer
        )
    }
}
