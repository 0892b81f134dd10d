//! Writing y4m.

use std::io::Write;

use thalweg_units::Size;

use crate::picture::Picture;
use crate::source::Format;

/// Writes pictures as y4m.
pub struct Y4mWriter<W> {
    writer: W,
    size: Size,
}

impl<W: Write> Y4mWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(mut writer: W, format: Format) -> std::io::Result<Y4mWriter<W>> {
        let (n, d) = format.frame_rate;
        writeln!(writer, "YUV4MPEG2 W{} H{} F{n}:{d} Ip A1:1 C420jpeg", format.size.width, format.size.height)?;
        Ok(Y4mWriter { writer, size: format.size })
    }

    /// Writes one picture, of the header's size.
    ///
    /// # Errors
    /// When writing fails or the size differs.
    pub fn write(&mut self, picture: &Picture) -> std::io::Result<()> {
        if picture.size() != self.size {
            let message = format!("a picture of {} in a y4m file of {}", picture.size(), self.size);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        self.writer.write_all(b"FRAME\n")?;
        self.writer.write_all(picture.data())
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}
