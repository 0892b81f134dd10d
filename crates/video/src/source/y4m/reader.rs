//! Reading y4m.

use std::io::{BufRead, BufReader, Read, Seek};
use std::sync::Arc;

use thalweg_units::Size;

use crate::picture::Picture;
use crate::source::{Format, Replay, Source, SourceError};

/// Maximum length of a header line.
const MAX_LINE: usize = 1_024;
/// The largest picture read: 8K.
const MAX_PIXELS: u64 = 7_680 * 4_320;

/// Reads pictures from a file, a pipe or standard input. If the input is seekable, such as a file, any picture can be
/// read by number, as a [`Replay`].
pub struct Y4mReader<R> {
    what: String,
    reader: BufReader<R>,
    format: Format,
    /// The number of the next picture, and its position: the number of bytes read so far.
    picture: u64,
    position: u64,
    /// The position of each picture, as far as known.
    starts: Vec<u64>,
}

impl<R: Read> Y4mReader<R> {
    /// Reads the header; `what` names the stream in errors.
    ///
    /// # Errors
    /// When it is not y4m, has an unsupported colour space, or its size or rate is out of range.
    pub fn new(reader: R, what: impl Into<String>) -> Result<Y4mReader<R>, SourceError> {
        let mut reader = Y4mReader {
            what: what.into(),
            reader: BufReader::with_capacity(1 << 16, reader),
            format: Format { size: Size::HD, frame_rate: (30, 1) },
            picture: 0,
            position: 0,
            starts: Vec::new(),
        };
        let line = reader.line()?.ok_or_else(|| reader.problem("it is empty; a y4m file begins with 'YUV4MPEG2'"))?;
        reader.format = parse_header(&line).map_err(|problem| reader.problem(problem))?;
        reader.starts.push(reader.position);
        Ok(reader)
    }

    fn problem(&self, problem: impl Into<String>) -> SourceError {
        SourceError::format(&self.what, problem)
    }

    fn io(&self, error: std::io::Error) -> SourceError {
        SourceError::io(&self.what, error)
    }

    /// A line without its line end; `None` at the end of the stream.
    fn line(&mut self) -> Result<Option<String>, SourceError> {
        let mut line = Vec::new();
        let read = (&mut self.reader).take(MAX_LINE as u64).read_until(b'\n', &mut line);
        self.position += read.map_err(|error| self.io(error))? as u64;
        if line.is_empty() {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            return Err(self.problem(format!(
                "a header line does not end within {MAX_LINE} bytes; is this a y4m file? ffmpeg makes one with -f yuv4mpegpipe"
            )));
        }
        // CRLF too, as some programs of Windows write.
        line.pop_if(|byte| *byte == b'\r');
        String::from_utf8(line).map(Some).map_err(|_| self.problem("a header line is not text; is this a y4m file?"))
    }
}

fn parse_header(line: &str) -> Result<Format, String> {
    let mut fields = line.split(' ');
    if fields.next() != Some("YUV4MPEG2") {
        let start: String = line.chars().take(20).collect();
        return Err(format!("it begins with '{start}', not 'YUV4MPEG2'; ffmpeg makes y4m with -f yuv4mpegpipe"));
    }
    let (mut width, mut height, mut rate) = (None, None, None);
    for field in fields.filter(|field| !field.is_empty()) {
        let (tag, value) = field.split_at(field.chars().next().map_or(0, char::len_utf8));
        match tag {
            "W" => width = value.parse::<u16>().ok(),
            "H" => height = value.parse::<u16>().ok(),
            "F" => {
                rate = value.split_once(':').and_then(|(n, d)| Some((n.parse::<u32>().ok()?, d.parse::<u32>().ok()?)));
                if rate.is_none_or(|(n, d)| n == 0 || d == 0 || n / d > 1000 || d / n > 10) {
                    return Err(format!("frame rate F{value} must be two numbers such as F30:1, 0.1 to 1000 a second"));
                }
            }
            "C" if !["420", "420jpeg", "420mpeg2", "420paldv"].contains(&value) => {
                return Err(format!(
                    "colour space C{value} is not 8-bit 4:2:0; convert it with ffmpeg -pix_fmt yuv420p"
                ));
            }
            "I" if !["p", "?"].contains(&value) => {
                return Err(format!("it is interlaced (I{value}); deinterlace it with ffmpeg -vf yadif"));
            }
            _ => {}
        }
    }
    match (width, height, rate) {
        (Some(width), Some(height), Some(frame_rate))
            if width >= 16 && height >= 16 && u64::from(width) * u64::from(height) <= MAX_PIXELS =>
        {
            Ok(Format { size: Size::new(width, height), frame_rate })
        }
        _ => Err(format!("'{line}' must have a width and height, W and H, of 16x16 to 8K pixels and a frame rate, F")),
    }
}

impl<R: Read> Y4mReader<R> {
    /// The picture at the present position, which has number `number`; `None` at the end.
    fn read(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        let Some(line) = self.line()? else { return Ok(None) };
        if line != "FRAME" && !line.starts_with("FRAME ") {
            let start: String = line.chars().take(20).collect();
            return Err(self.problem(format!("picture {number} begins with '{start}', not 'FRAME'")));
        }
        let size = self.format.size;
        let bytes = Picture::bytes(size);
        let mut data = Vec::with_capacity(bytes);
        let read = (&mut self.reader).take(bytes as u64).read_to_end(&mut data).map_err(|error| self.io(error))?;
        self.position += read as u64;
        if read < bytes {
            return Err(self.problem(format!("picture {number} is cut short; it takes {bytes} bytes and has {read}")));
        }
        if self.starts.len() as u64 == number + 1 {
            self.starts.push(self.position);
        }
        let picture = Picture::new(size, data).map_err(|error| self.problem(error.to_string()))?;
        Ok(Some(Arc::new(picture)))
    }
}

impl<R: Read + Send> Source for Y4mReader<R> {
    fn format(&self) -> Format {
        self.format
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.read(self.picture)?;
        self.picture += u64::from(picture.is_some());
        Ok(picture)
    }
}

impl<R: Read + Seek> Y4mReader<R> {
    fn go_to(&mut self, position: u64) -> Result<(), SourceError> {
        let distance = position as i64 - self.position as i64;
        self.reader.seek_relative(distance).map_err(|error| self.io(error))?;
        self.position = position;
        Ok(())
    }

    /// Reads picture `number` at its position.
    fn find(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        let mut known = self.starts.len() as u64 - 1;
        self.go_to(self.starts[number.min(known) as usize])?;
        while known < number {
            if self.read(known)?.is_none() {
                return Ok(None);
            }
            known += 1;
        }
        self.read(number)
    }
}

impl<R: Read + Seek + Send> Replay for Y4mReader<R> {
    fn picture_at(&mut self, number: u64) -> Result<Option<Arc<Picture>>, SourceError> {
        let back = self.position;
        let picture = self.find(number);
        // The stream continues where it was.
        self.go_to(back)?;
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Y4mWriter;
    use proptest::prelude::*;

    const FORMAT: Format = Format { size: Size::new(16, 18), frame_rate: (30_000, 1001) };

    fn file(pictures: u8) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Y4mWriter::new(&mut file, FORMAT).unwrap();
        (0..pictures).for_each(|i| writer.write(&Picture::filled(FORMAT.size, i, 2 * i, 3 * i)).unwrap());
        file
    }

    #[test]
    fn what_is_written_reads_back() {
        let bytes = file(3);
        let mut reader = Y4mReader::new(&bytes[..], "test").unwrap();
        assert_eq!(reader.format(), FORMAT);
        for i in 0..3 {
            assert_eq!(*reader.next_picture().unwrap().unwrap(), Picture::filled(FORMAT.size, i, 2 * i, 3 * i));
        }
        assert!(reader.next_picture().unwrap().is_none());
    }

    #[test]
    fn any_picture_of_a_file_can_be_read_again_and_the_stream_goes_on_where_it_was() {
        let mut reader = Y4mReader::new(std::io::Cursor::new(file(5)), "test").unwrap();
        reader.next_picture().unwrap();
        for number in [3, 0, 4, 5, 99, 1, 3] {
            let wanted = (number < 5).then(|| Picture::filled(FORMAT.size, number, 2 * number, 3 * number));
            assert_eq!(reader.picture_at(u64::from(number)).unwrap().as_deref(), wanted.as_ref());
        }
        for number in 1..5 {
            assert_eq!(reader.next_picture().unwrap().unwrap().data()[0], number);
        }
        assert!(reader.next_picture().unwrap().is_none());
        assert_eq!(reader.picture_at(2).unwrap().unwrap().data()[0], 2);
    }

    #[test]
    fn what_is_no_y4m_is_refused_with_what_to_do() {
        let message = |bytes: &[u8]| match Y4mReader::new(bytes, "clip") {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(message(b"").contains("empty"));
        assert!(message(b"RIFF....AVI \n").contains("yuv4mpegpipe"));
        assert!(message(b"YUV4MPEG2 W16 H16 F30:1 C444\n").contains("-pix_fmt yuv420p"));
        assert!(message(b"YUV4MPEG2 W16 H16 F30:1 It\n").contains("yadif"));
        assert!(message(b"YUV4MPEG2 W16 H16 F0:1\n").contains("F30:1"));
        assert!(message(b"YUV4MPEG2 W70000 H16 F30:1\n").contains("16x16 to 8K"));
        assert!(message(&[b'x'; 5000]).contains("1024 bytes"));
    }

    #[test]
    fn header_lines_may_end_with_cr_and_lf() {
        let size = Size::new(16, 16);
        // Samples that are both of these bytes.
        let picture = Picture::filled(size, 13, 10, 13);
        let mut file = b"YUV4MPEG2 W16 H16 F30:1 C420\r\n".to_vec();
        for _ in 0..2 {
            file.extend_from_slice(b"FRAME\r\n");
            file.extend_from_slice(picture.data());
        }
        let mut reader = Y4mReader::new(std::io::Cursor::new(file), "clip").unwrap();
        for _ in 0..2 {
            assert_eq!(*reader.next_picture().unwrap().unwrap(), picture);
        }
        assert!(reader.next_picture().unwrap().is_none());
        assert_eq!(*reader.picture_at(1).unwrap().unwrap(), picture);
    }

    #[test]
    fn a_file_cut_short_says_which_picture() {
        let bytes = file(2);
        let mut reader = Y4mReader::new(&bytes[..bytes.len() - 5], "clip").unwrap();
        reader.next_picture().unwrap();
        let message = reader.next_picture().unwrap_err().to_string();
        assert!(message.contains("clip") && message.contains("picture 1"), "{message}");
        // Earlier pictures can still be read.
        let mut reader = Y4mReader::new(std::io::Cursor::new(&bytes[..bytes.len() - 5]), "clip").unwrap();
        assert!(reader.picture_at(1).is_err());
        assert_eq!(reader.picture_at(0).unwrap().unwrap().data()[0], 0);
        assert_eq!(reader.next_picture().unwrap().unwrap().data()[0], 0);
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(flips in proptest::collection::vec((0usize..400, any::<u8>()), 0..8), cut in 0usize..2000) {
            let mut bytes = file(3);
            for (at, value) in flips {
                let at = at % bytes.len();
                bytes[at] = value;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Ok(mut reader) = Y4mReader::new(&bytes[..], "damaged") {
                while let Ok(Some(_)) = reader.next_picture() {}
            }
            if let Ok(mut reader) = Y4mReader::new(std::io::Cursor::new(&bytes), "damaged") {
                for number in [2, 0, 7, 1] {
                    let _ = reader.picture_at(number);
                }
            }
        }
    }
}
