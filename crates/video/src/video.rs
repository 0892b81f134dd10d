//! Which pictures, by name, size and rate.

use serde::{Deserialize, Serialize};
use thalweg_units::Size;

use crate::source::Format;

/// Which pictures a run sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// `scene` for the built-in one, `scene:easy` for one that costs an encoder little, `-` for y4m on standard input, or a file: y4m, or anything ffmpeg reads.
    pub source: String,
    /// The size to make it; a file's own when absent (1280x720 for the scene).
    #[serde(default)]
    pub size: Option<Size>,
    /// Frames per second of the built-in scene.
    #[serde(default = "thirty")]
    pub frame_rate: u32,
    /// Whether a file is shown at that rate too, by repeating pictures or leaving some out, instead of at its own.
    #[serde(default)]
    pub retimed: bool,
}

fn thirty() -> u32 {
    30
}

impl Video {
    /// The built-in scene.
    pub fn scene(size: Size, frame_rate: u32) -> Video {
        Video { source: "scene".into(), size: Some(size), frame_rate, retimed: false }
    }

    /// Size and rate of the built-in scene, and of the input that a model is given.
    pub fn scene_format(&self) -> Format {
        Format { size: self.size.unwrap_or(Size::HD), frame_rate: (self.frame_rate.clamp(1, 240), 1) }
    }

    /// A short name for tables.
    pub fn label(&self) -> String {
        let name = self.source.rsplit('/').next().unwrap_or(&self.source);
        match self.size {
            Some(size) => format!("{name} {}p", size.height),
            None => name.to_string(),
        }
    }
}
