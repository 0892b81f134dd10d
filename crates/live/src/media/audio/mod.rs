//! Opus packets to send with the video.
//!
//! | name | what |
//! |---|---|
//! | `silence` | nothing to be heard, 20 ms a packet |
//! | `tone:440` | a sine of 440 Hz (made by ffmpeg) |
//! | `clicks` | 2 ms of 1 kHz at every whole second, to see audio and pictures drift apart (ffmpeg) |
//! | an Ogg Opus file | its packets as they are |
//! | any other file, or an address with `://` | encoded in packets of 20 ms (ffmpeg) |
//! | `alsa:default`, `pulse:default` | what the device records (ffmpeg) |

mod ogg_opus;
mod source;

// For `thalweg-fuzz`.
#[doc(hidden)]
pub use ogg_opus::OggOpus;
pub use source::{AudioSource, OpusPacket, of_video};
