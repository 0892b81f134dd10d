//! `thalweg-bench codec`: the functional encoder compared with libvpx, in rate, quality and time.

mod chart;
mod contenders;
mod curve;
mod lines;
mod print;
mod report;
mod scale;

use std::path::PathBuf;
use std::sync::Arc;

use contenders::{Aim, Contender, contenders};
use curve::{Curve, Point};
use serde::Serialize;
use thalweg_codecs::functional::Preset;
use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_units::{Rate, Seed, Size};
use thalweg_video::quality::psnr;
use thalweg_video::source::Format;
use thalweg_video::{Picture, Video, footage};

use crate::cpu_seconds;

#[derive(clap::Args)]
#[group(id = "codec")]
pub(crate) struct Arguments {
    /// Videos to encode: .y4m files, anything ffmpeg reads, or the built-in `scene`
    #[arg(default_value = "scene")]
    videos: Vec<String>,
    /// The size to scale them to
    #[arg(long, default_value = "720p")]
    size: Size,
    /// The number of pictures of each
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u64).range(2..))]
    pictures: u64,
    /// Presets of the functional encoder
    #[arg(long, default_value = "fast,standard", value_delimiter = ',')]
    presets: Vec<Preset>,
    /// libvpx's cpu_used, -16 (fastest) to -1; everything is compared with the first
    #[arg(long, default_value = "-8", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i8).range(-16..=-1))]
    cpu_used: Vec<i8>,
    /// Also write `measured.md` and `curves.svg` into this folder: docs/codec is made with it
    #[arg(long)]
    report: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Quantisers that span 400 to 4000 kbit/s on most 720p video.
const QUANTIZERS: [u8; 7] = [8, 16, 28, 44, 64, 88, 112];
/// Target rates, in kbit/s.
const RATES: [u64; 6] = [350, 600, 1000, 1700, 2800, 4500];
/// The range of rates to compare, in kbit/s: that of calls.
const RANGE: (f64, f64) = (400.0, 4000.0);

/// All measurements of a video.
#[derive(Serialize)]
struct Measured {
    video: String,
    size: String,
    pictures: usize,
    curves: Vec<Curve>,
    comparisons: Vec<Comparison>,
    /// CPU time of encoding two candidates of a picture over that of one, by preset.
    two_candidates: Vec<(String, f64)>,
    /// CPU time of libvpx's decoder over that of ours, on libvpx's streams: above 1, ours is faster. Null without
    /// libvpx.
    decoder_speed: Option<f64>,
}

/// An encoder compared with the first libvpx, over the rates that both have.
#[derive(Serialize)]
struct Comparison {
    encoder: String,
    against: String,
    aim: Aim,
    /// Above 0, the encoder is better.
    psnr_difference_db: f64,
    /// Its encoding time over that of the first libvpx.
    time_ratio: f64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for name in &arguments.videos {
        let clip = Clip::read(name, arguments)?;
        all.push(measure(&clip, &arguments.cpu_used, &arguments.presets)?);
        if !arguments.json {
            print::tables(&all[all.len() - 1]);
        }
    }
    if let Some(folder) = &arguments.report {
        report::write(folder, &all)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({ "bench": "codec", "videos": all }))?);
    }
    Ok(())
}

/// Pictures in memory, so that reading them is not measured.
struct Clip {
    name: String,
    format: Format,
    pictures: Vec<Arc<Picture>>,
}

impl Clip {
    fn read(name: &str, arguments: &Arguments) -> anyhow::Result<Clip> {
        let video = Video::of(name, Some(arguments.size));
        let mut source = footage::once(&video, Seed::new(1))?;
        let mut pictures = Vec::new();
        while (pictures.len() as u64) < arguments.pictures
            && let Some(picture) = source.next_picture()?
        {
            pictures.push(picture);
        }
        anyhow::ensure!(pictures.len() > 1, "{name} has {} pictures: at least two are needed", pictures.len());
        Ok(Clip { name: video.label(), format: source.format(), pictures })
    }

    fn plan(&self, targets: Vec<Target>) -> EncodePlan {
        let interval = self.format.interval();
        EncodePlan::new(targets, self.format.size, interval)
    }

    fn seconds(&self) -> f64 {
        self.format.interval().as_secs_f64() * self.pictures.len() as f64
    }
}

fn measure(clip: &Clip, cpu_used: &[i8], presets: &[Preset]) -> anyhow::Result<Measured> {
    let contenders = contenders(cpu_used, presets);
    let mut curves = Vec::new();
    let mut streams = Vec::new();
    let quantizers = QUANTIZERS.map(Target::Quantizer).to_vec();
    let rates = RATES.map(|kbps| Target::Rate(Rate::from_kbps(kbps)));
    let interval = clip.format.interval();
    let sizes = RATES.map(|kbps| Target::Size(Rate::from_kbps(kbps).over(interval))).to_vec();
    for (aim, targets) in [(Aim::Quantizer, quantizers), (Aim::Rate, rates.to_vec()), (Aim::Size, sizes)] {
        let mut points = vec![Vec::new(); contenders.len()];
        for (index, target) in targets.iter().enumerate() {
            eprintln!("{}: {aim}, {} of {}", clip.name, index + 1, targets.len());
            // The encoders take turns, since other load on the machine varies.
            for (contender, points) in contenders.iter().zip(&mut points) {
                let target = if contender.is_libvpx && aim == Aim::Size { rates[index] } else { *target };
                let run = encode(clip, contender, target)?;
                points.push(run.point);
                if contender.is_baseline {
                    streams.push(run.frames);
                }
            }
        }
        let made = contenders.iter().zip(points).map(|(contender, points)| Curve::new(&contender.name, aim, points));
        curves.extend(made);
    }
    let comparisons = compare(&contenders, &curves);
    let decoder_speed = match contenders.iter().find(|contender| contender.is_baseline) {
        Some(libvpx) => contenders::decoder_speed(libvpx, clip.format.size, &streams)?,
        None => None,
    };
    let two_candidates = presets
        .iter()
        .map(|preset| Ok((preset.to_string(), two_candidates(clip, *preset)?)))
        .collect::<anyhow::Result<_>>()?;
    let (video, size) = (clip.name.clone(), clip.format.size.to_string());
    Ok(Measured { video, size, pictures: clip.pictures.len(), curves, comparisons, two_candidates, decoder_speed })
}

fn compare(contenders: &[Contender], curves: &[Curve]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let is_baseline = |curve: &Curve| contenders.iter().any(|one| one.is_baseline && one.name == curve.encoder);
    for theirs in curves.iter().filter(|curve| is_baseline(curve)) {
        for ours in curves.iter().filter(|curve| !is_baseline(curve) && curve.aim == theirs.aim) {
            let psnr = ours.compare(theirs, RANGE, |point| point.psnr_db);
            let time = ours.compare(theirs, RANGE, |point| point.encode_ms);
            if let (Some(psnr), Some(time)) = (psnr, time) {
                comparisons.push(Comparison {
                    encoder: ours.encoder.clone(),
                    against: theirs.encoder.clone(),
                    aim: ours.aim,
                    psnr_difference_db: psnr.0 - psnr.1,
                    time_ratio: time.0 / time.1,
                });
            }
        }
    }
    comparisons
}

/// The result of encoding a clip once.
struct Run {
    point: Point,
    frames: Vec<Arc<[u8]>>,
}

fn encode(clip: &Clip, contender: &Contender, target: Target) -> anyhow::Result<Run> {
    let mut pair = contender.build(clip.format.size)?;
    let plan = clip.plan(vec![target]);
    let (mut seconds, mut bytes, mut total) = (0.0, 0, 0.0);
    let mut frames = Vec::new();
    for picture in &clip.pictures {
        let start = cpu_seconds();
        let candidates = pair.encoder.candidates(picture, &plan)?;
        pair.encoder.commit((!candidates.is_empty()).then_some(0))?;
        seconds += cpu_seconds() - start;
        let Some(candidate) = candidates.into_iter().next() else { anyhow::bail!("{} made no frame", contender.name) };
        bytes += candidate.data.len();
        if let Some(decoder) = &mut pair.decoder
            && let Some(shown) = decoder.decode(&candidate.data)?
        {
            total += psnr(picture, &shown);
        }
        frames.push(candidate.data);
    }
    let count = clip.pictures.len() as f64;
    let point = Point {
        kbps: bytes as f64 * 8.0 / 1e3 / clip.seconds(),
        psnr_db: total / count,
        encode_ms: seconds * 1e3 / count,
    };
    Ok(Run { point, frames })
}

/// The cost of two candidates of a picture over one: Salsify's pair, one step below and above the last quantiser.
fn two_candidates(clip: &Clip, preset: Preset) -> anyhow::Result<f64> {
    const QUANTIZER: u8 = 40;
    let contender = contenders::functional(preset);
    let mut pair = contender.build(clip.format.size)?;
    let one = clip.plan(vec![Target::Quantizer(QUANTIZER)]);
    let two = clip.plan(vec![Target::Quantizer(QUANTIZER - 17), Target::Quantizer(QUANTIZER + 23)]);
    let mut seconds = [0.0; 2];
    for (index, picture) in clip.pictures.iter().enumerate() {
        // The order alternates, since the first candidate warms the cache for the second.
        let order = if index % 2 == 0 { [0, 1] } else { [1, 0] };
        for which in order {
            let start = cpu_seconds();
            pair.encoder.candidates(picture, if which == 0 { &one } else { &two })?;
            let spent = cpu_seconds() - start;
            pair.encoder.commit(None)?;
            // The keyframe does not count.
            if index > 0 {
                seconds[which] += spent;
            }
        }
        pair.encoder.candidates(picture, &one)?;
        pair.encoder.commit(Some(0))?;
    }
    Ok(seconds[1] / seconds[0])
}
