//! Raw clips: y4m files, or whatever ffmpeg makes of a path.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use thalweg_vp8::{Image, Size};

/// Pictures in memory.
pub struct Clip {
    pub name: String,
    pub frames_per_second: f64,
    pub size: Size,
    pub images: Vec<Image>,
}

impl Clip {
    /// The first `most` pictures of a y4m file (8 bits, 4:2:0), or of any video when ffmpeg is installed, at 720p.
    pub fn read(path: &Path, most: usize) -> Result<Clip, String> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "y4m") {
            let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
            return Self::parse(name, BufReader::with_capacity(1 << 20, file), most);
        }
        let mut ffmpeg = Command::new("ffmpeg")
            .args(["-v", "error", "-i"])
            .arg(path)
            .args(["-an", "-vf", "scale=1280:720", "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("ffmpeg: {error}"))?;
        let output = ffmpeg.stdout.take().ok_or("ffmpeg has no output")?;
        let clip = Self::parse(name, BufReader::with_capacity(1 << 20, output), most);
        let _ = ffmpeg.kill();
        let _ = ffmpeg.wait();
        clip
    }

    fn parse(name: String, mut input: impl Read, most: usize) -> Result<Clip, String> {
        let header = line(&mut input).ok_or("no y4m header")?;
        let field = |letter: char| {
            header
                .split(' ')
                .skip(1)
                .find_map(|word| word.strip_prefix(letter))
                .ok_or(format!("no {letter} in {header}"))
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text} is no number"));
        let (width, height) = (number(field('W')?)?, number(field('H')?)?);
        let (numerator, denominator) = field('F')?.split_once(':').ok_or("no frame rate")?;
        let frames_per_second = f64::from(number(numerator)?) / f64::from(number(denominator)?);
        let size = Size::new(width as usize, height as usize).map_err(|error| error.to_string())?;
        let pixels = (width * height) as usize;
        let chroma = (width.div_ceil(2) * height.div_ceil(2)) as usize;
        let mut data = vec![0; pixels + 2 * chroma];
        let mut images = Vec::new();
        while images.len() < most && line(&mut input).is_some_and(|line| line.starts_with("FRAME")) {
            input.read_exact(&mut data).map_err(|error| error.to_string())?;
            images.push(Image::from_i420(size, &data).map_err(|error| error.to_string())?);
        }
        Ok(Clip { name, frames_per_second, size, images })
    }
}

/// A line, without its end.
fn line(input: &mut impl Read) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while input.read_exact(&mut byte).is_ok() {
        if byte[0] == b'\n' {
            return String::from_utf8(text).ok();
        }
        text.push(byte[0]);
    }
    None
}
