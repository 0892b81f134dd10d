//! The bench's cases, played.

mod cases;
mod jobs;
mod webrtc;
