//! The video of a run: source, size and frame rate.

use serde::{Deserialize, Serialize};
use thalweg_units::{FrameRate, Size};

use crate::source::Format;

/// The video that a run sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// `scene` for the built-in one, `scene:easy` for one that costs an encoder little, `-` for y4m on standard input,
    /// or a file: y4m, or anything ffmpeg reads. One that is shorter than its run begins again.
    pub source: String,
    /// The size to scale it to; a file's own when absent (1280x720 for the scene).
    #[serde(default)]
    pub size: Option<Size>,
    /// Frames per second of the built-in scene: 30, or a fraction such as `"30000/1001"`.
    #[serde(default = "thirty")]
    pub frame_rate: FrameRate,
    /// Converts a file to that frame rate too, by repeating or dropping pictures, instead of playing it at its own.
    #[serde(default)]
    pub retimed: bool,
    /// Plays a file that is shorter than its run forwards and backwards by turns, without a cut, from a temporary file.
    #[serde(default)]
    pub there_and_back: bool,
}

fn thirty() -> FrameRate {
    FrameRate::whole(30)
}

impl Video {
    /// The built-in scene.
    pub fn scene(size: Size, frame_rate: u32) -> Video {
        Video { frame_rate: FrameRate::whole(frame_rate), ..Video::of("scene", Some(size)) }
    }

    /// A source by its name, scaled to `size` if it is given; a file at its own frame rate, the scene at 30 a second.
    pub fn of(source: impl Into<String>, size: Option<Size>) -> Video {
        Video { source: source.into(), size, frame_rate: thirty(), retimed: false, there_and_back: false }
    }

    /// Size and rate of the built-in scene, and of an encoder model's input.
    pub fn scene_format(&self) -> Format {
        Format { size: self.size.unwrap_or(Size::HD), frame_rate: self.frame_rate.ratio() }
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
