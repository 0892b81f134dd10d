//! YUV4MPEG2, the simplest video file format (ffmpeg's `-f yuv4mpegpipe`).

mod reader;
mod writer;

pub use reader::Y4mReader;
pub use writer::Y4mWriter;
