//! The pictures of a file-backed camera: numbered, and in a loop.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use thalweg_units::{Seed, Span};
use thalweg_video::footage::Footage;
use thalweg_video::source::{Format, Y4mWriter};
use thalweg_video::{Picture, Video, barcode};

use super::BlackBoxError;

/// The largest file: 96 s of 640x360, 24 s of 1280x720 at 30 fps. It is read in each call, and so stays in memory.
const LARGEST: u64 = 1_000_000_000;

/// A folder for one process, removed when this is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(name: &str) -> io::Result<Scratch> {
        let folder = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        // That of an earlier process with this number.
        let _ = fs::remove_dir_all(&folder);
        // It fails if something is there, a link too: others may write to the folder of temporary files.
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Scratch(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A file of pictures with barcodes from 0 on, which a camera plays again and again.
#[derive(Debug)]
pub struct CameraFile {
    /// The y4m file.
    pub path: PathBuf,
    /// Size and rate.
    pub format: Format,
}

impl CameraFile {
    /// Writes the pictures of `video` for a call of this duration into `folder`: all of them if they are not too many, else
    /// as many as are allowed, forth and back, so that the loop has no cut.
    ///
    /// # Errors
    /// When the video cannot be read or the file cannot be written.
    pub fn write(video: &Video, seed: Seed, duration: Span, folder: &Path) -> Result<CameraFile, BlackBoxError> {
        let mut footage = Footage::open(video, seed)?;
        let format = footage.format();
        let frame = u64::from(format.size.width) * u64::from(format.size.height) * 3 / 2;
        let order = order((duration.ratio(format.interval()).ceil() as u64).max(2), (LARGEST / frame.max(1)).max(2));
        let path = folder.join("camera.y4m");
        let failed = |source| BlackBoxError::Camera { path: path.clone(), source };
        let mut writer =
            Y4mWriter::new(BufWriter::new(File::create(&path).map_err(failed)?), format).map_err(failed)?;
        for (number, picture) in order.iter().enumerate() {
            let Some(picture) = footage.picture(*picture)? else { break };
            let mut picture = Picture::clone(&picture);
            barcode::draw(&mut picture, number as u64);
            writer.write(&picture).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        Ok(CameraFile { path, format })
    }
}

/// Which pictures a loop shows: `wanted` if that is allowed, else `most`, forth and back.
fn order(wanted: u64, most: u64) -> Vec<u64> {
    if wanted <= most {
        return (0..wanted).collect();
    }
    let turn = most / 2;
    (0..turn).chain((1..turn).rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;
    use thalweg_video::source::{Source, Y4mReader};

    #[test]
    fn a_loop_that_is_too_long_goes_forth_and_back_without_a_cut() {
        assert_eq!(order(4, 4), [0, 1, 2, 3]);
        assert_eq!(order(100, 8), [0, 1, 2, 3, 3, 2, 1]);
        let long = order(1_000, 100);
        assert!(long.iter().zip(long.iter().cycle().skip(1)).all(|(one, next)| one.abs_diff(*next) <= 1));
    }

    #[test]
    fn each_picture_of_the_file_has_its_number() {
        let scratch = Scratch::new("camera-test").unwrap();
        let video = Video::scene(Size::new(320, 180), 30);
        let camera = CameraFile::write(&video, Seed::new(1), Span::from_millis(390), scratch.path()).unwrap();
        let mut reader = Y4mReader::new(File::open(&camera.path).unwrap(), "camera").unwrap();
        let numbers: Vec<_> =
            std::iter::from_fn(|| reader.next_picture().unwrap()).map(|picture| barcode::read(&picture)).collect();
        assert_eq!(numbers, (0..12).map(Some).collect::<Vec<_>>());
        let folder = scratch.path().to_owned();
        drop(scratch);
        assert!(!folder.exists());
    }
}
