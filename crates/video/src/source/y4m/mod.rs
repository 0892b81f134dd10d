//! YUV4MPEG2, the plainest video file (ffmpeg's `-f yuv4mpegpipe`).

mod reader;
mod writer;

pub use reader::Y4mReader;
pub use writer::Y4mWriter;
