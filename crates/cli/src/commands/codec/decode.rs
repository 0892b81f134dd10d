//! `thalweg codec decode`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use md5::{Digest, Md5};
use thalweg_units::Size;
use thalweg_video::source::{Format, Y4mWriter};
use thalweg_video::{Picture, scale};
use thalweg_vp8::{Image, State, decode, ivf};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The IVF file, of pictures of at most 16777216 pixels (4096x4096), or `-` for standard input
    input: PathBuf,
    /// The output: a .y4m file, .i420 or .yuv for raw pictures, or `-` for y4m on standard output
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Print the MD5 of each shown picture's I420 bytes, as `vpxdec --md5` does with a file for each
    #[arg(long)]
    md5: bool,
    /// Continue after a frame that cannot be decoded, with the state before it
    #[arg(long)]
    keep_going: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.out.is_none() && !arguments.md5 {
        bail!("nothing to do with the pictures: say where they go with --out FILE.y4m, or ask for --md5");
    }
    let reader = ivf::Reader::new(super::open(&arguments.input)?, &[ivf::VP8])
        .with_context(|| arguments.input.display().to_string())?;
    let stem = arguments.input.file_stem().map_or("-".into(), |stem| stem.to_string_lossy().into_owned());
    let mut sink = arguments.out.as_ref().map(|path| Sink::create(path, reader.header())).transpose()?;
    let (mut state, mut shown, mut failed) = (State::new(), 0u64, 0u64);
    for (index, frame) in reader.enumerate() {
        let frame = frame.with_context(|| format!("frame {index}"))?;
        let decoded = match decode(&state, &frame.bytes) {
            Ok(decoded) => decoded,
            Err(error) if arguments.keep_going => {
                eprintln!("frame {index} of {} bytes: {error}", frame.bytes.len());
                failed += 1;
                continue;
            }
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("frame {index} of {} bytes (--keep-going goes on after it)", frame.bytes.len())
                });
            }
        };
        state = decoded.state;
        if !decoded.is_shown {
            continue;
        }
        shown += 1;
        if arguments.md5 {
            outln!("{}  {stem}-{}-{shown:04}.i420", md5_of(&decoded.image), decoded.image.size());
        }
        if let Some(sink) = &mut sink {
            sink.write(&decoded.image)?;
        }
    }
    if let (Some(sink), Some(path)) = (sink, &arguments.out) {
        sink.finish()?;
        super::complete(path)?;
    }
    if failed > 0 {
        bail!("{failed} frames could not be decoded");
    }
    Ok(())
}

fn md5_of(image: &Image) -> String {
    Md5::digest(image.to_i420()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Output of decoded pictures.
enum Sink {
    Bare(Box<dyn Write>),
    /// All pictures in one size: that of the first.
    Y4m {
        out: Option<Box<dyn Write>>,
        writer: Option<Y4mWriter<Box<dyn Write>>>,
        format: Format,
        rescaled: u64,
    },
}

impl Sink {
    fn create(path: &Path, header: ivf::Header) -> anyhow::Result<Sink> {
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let bare = extension.as_ref().is_some_and(|extension| extension == "i420" || extension == "yuv");
        if !bare && path != Path::new("-") && extension.as_ref().is_none_or(|extension| extension != "y4m") {
            bail!("{}: name it .y4m, or .i420 or .yuv for bare pictures", path.display());
        }
        let out = super::create(path)?;
        if bare {
            return Ok(Sink::Bare(out));
        }
        let frame_rate = (header.rate.max(1), header.scale.max(1));
        let format = Format { size: Size::new(header.width, header.height), frame_rate };
        Ok(Sink::Y4m { out: Some(out), writer: None, format, rescaled: 0 })
    }

    fn write(&mut self, image: &Image) -> anyhow::Result<()> {
        let bytes = image.to_i420();
        match self {
            Sink::Bare(out) => out.write_all(&bytes)?,
            Sink::Y4m { out, writer, format, rescaled } => {
                let size = Size::new(image.size().width() as u16, image.size().height() as u16);
                let mut picture = Picture::new(size, bytes)?;
                if let Some(out) = out.take() {
                    format.size = size;
                    *writer = Some(Y4mWriter::new(out, *format)?);
                }
                if size != format.size {
                    *rescaled += 1;
                    picture = scale(&picture, format.size);
                }
                if let Some(writer) = writer {
                    writer.write(&picture)?;
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Sink::Bare(mut out) => out.flush()?,
            Sink::Y4m { writer, format, rescaled, .. } => {
                if rescaled > 0 {
                    eprintln!(
                        "{rescaled} pictures were scaled to {}: a y4m file has one size, a .i420 file takes each as it is",
                        format.size
                    );
                }
                writer.map_or(Ok(()), Y4mWriter::finish)?;
            }
        }
        Ok(())
    }
}
