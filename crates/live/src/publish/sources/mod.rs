//! The origin of pictures and audio: a camera and a microphone in threads of their own, or another program's inlet.

mod address;
pub(crate) mod audio;
pub(crate) mod camera;
pub(crate) mod inlet;
pub(crate) mod pictures;
mod running;

pub(crate) use running::Running;
