//! `thalweg codec encode`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use thalweg_codecs::functional::{FunctionalEncoder, Preset, Settings};
use thalweg_codecs::{Encoder, Image};
use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_units::{Bytes, Rate, Seed, Size};
use thalweg_video::source::SceneConfig;
use thalweg_video::{Video, footage};
use thalweg_vp8::ivf;

use crate::commands::values;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("target").required(true)))]
pub(super) struct Arguments {
    /// The video: a .y4m file, `-` for y4m on standard input, `scene`, or anything ffmpeg reads
    input: String,
    /// The IVF file to write, or `-` for standard output
    #[arg(long, short)]
    out: PathBuf,
    /// The target bitrate
    #[arg(long, group = "target", value_parser = values::rate)]
    rate: Option<Rate>,
    /// The maximum size of a frame
    #[arg(long, group = "target")]
    frame_size: Option<Bytes>,
    /// One quantiser for all frames, 0 (finest) to 127
    #[arg(long, group = "target", value_parser = clap::value_parser!(u8).range(0..=127))]
    quantizer: Option<u8>,
    /// Encoder effort: fast, standard or slow
    #[arg(long, default_value = "standard")]
    preset: Preset,
    /// Scale the video to this size, such as 1280x720 or 720p
    #[arg(long)]
    size: Option<Size>,
    /// Number of pictures (default: all of a file, 300 of the built-in scene)
    #[arg(long)]
    pictures: Option<u64>,
    /// Keyframe interval in pictures (default: only the first frame is a keyframe)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    keyframe_every: Option<u64>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let target = match (arguments.rate, arguments.frame_size, arguments.quantizer) {
        (Some(rate), _, _) => Target::Rate(rate),
        (_, Some(size), _) => Target::Size(size),
        (_, _, Some(quantizer)) => Target::Quantizer(quantizer),
        _ => bail!("say what to aim at: --rate 1Mbps, --frame-size 5kB or --quantizer 40"),
    };
    let of_others = ["mp4", "m4v", "mov", "mkv", "webm", "avi", "ts", "flv", "y4m"];
    let extension = arguments.out.extension().unwrap_or_default();
    if of_others.iter().any(|other| extension.eq_ignore_ascii_case(other)) {
        bail!(
            "{}: IVF is written: name it .ivf (ffmpeg -i OUT.ivf -c copy OUT.webm makes WebM of it)",
            arguments.out.display()
        );
    }
    let video = Video::of(arguments.input.clone(), arguments.size);
    let mut clip = footage::once(&video, Seed::new(1))?;
    let format = clip.format();
    let interval = format.interval();
    let mut encoder = FunctionalEncoder::new(Settings { preset: arguments.preset, ..Settings::default() })?;
    let size = thalweg_vp8::Size::new(format.size.width.into(), format.size.height.into())?;
    let mut writer = ivf::Writer::new(super::create(&arguments.out)?, ivf::Header::vp8(size, format.frame_rate))?;
    let max =
        arguments.pictures.or_else(|| SceneConfig::is_named_by(&arguments.input).then_some(300)).unwrap_or(u64::MAX);
    let (mut number, mut bytes) = (0u64, 0usize);
    while number < max
        && let Some(picture) = clip.next_picture()?
    {
        let keyframe = arguments.keyframe_every.is_some_and(|every| number.is_multiple_of(every));
        let plan = EncodePlan::new(vec![target], format.size, interval).with(|plan| plan.keyframe = keyframe);
        let candidates = encoder.offer(Image::from(&*picture), &plan)?;
        let [candidate] = &candidates[..] else { bail!("picture {number} was not encoded") };
        writer.write(number, &candidate.data).with_context(|| arguments.out.display().to_string())?;
        bytes += candidate.data.len();
        encoder.commit(Some(0))?;
        number += 1;
    }
    std::io::Write::flush(&mut writer.finish()).with_context(|| arguments.out.display().to_string())?;
    super::complete(&arguments.out)?;
    let seconds = interval.as_secs_f64() * number as f64;
    eprintln!("{number} frames, {bytes} bytes, {:.0} kbps", bytes as f64 * 8.0 / 1e3 / seconds.max(f64::MIN_POSITIVE));
    Ok(())
}
