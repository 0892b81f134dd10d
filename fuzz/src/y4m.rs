//! y4m files.

use thalweg_video::source::{Source, Y4mReader, Y4mWriter};

/// Maximum number of pictures read per input, which may contain any number.
const MAX: usize = 4;

/// Parses a file's header and first pictures, writes them and parses that.
pub fn y4m(data: &[u8]) {
    let mut reader = match Y4mReader::new(data, "fuzz") {
        Ok(reader) => reader,
        Err(error) => return assert!(error.to_string().contains("fuzz"), "{error}"),
    };
    let format = reader.format();
    let mut pictures = Vec::new();
    while pictures.len() < MAX {
        match reader.next_picture() {
            Ok(Some(picture)) => pictures.push(picture),
            Ok(None) => break,
            Err(error) => {
                assert!(error.to_string().contains("fuzz"), "{error}");
                break;
            }
        }
    }
    let mut out = Vec::new();
    let mut writer = Y4mWriter::new(&mut out, format).expect("memory takes all");
    for picture in &pictures {
        writer.write(picture).expect("memory takes all");
    }
    let mut again = Y4mReader::new(&out[..], "fuzz").expect("what was read can be written");
    assert_eq!(again.format(), format);
    for picture in pictures {
        let read = again.next_picture().expect("whole").expect("as many");
        assert_eq!((read.size(), read.data()), (picture.size(), picture.data()));
    }
    assert!(again.next_picture().expect("whole").is_none());
}
