//! How the encoder model fits libvpx, side by side, and a browser's H.264 beside it:
//! `cargo run --release -p thalweg-calibrate -- fit-model [-- curve | lag | sizes | quality | chat | floor | ageing]`,
//! and after that the name of one video if not all are wanted.
//!
//! The talking head and other clips, and the browser's frame sizes, are the data sets `video` and `chat-frame-sizes`, if
//! they are present. `floor` measures the functional codec instead of libvpx, `ageing` no codec at all.

#[path = "../../../crates/codecs/tests/support/measure.rs"]
mod measure;

use std::path::PathBuf;

use crate::Result;
use measure::{Frame, INTERVAL, Schedule, Statistics, Video, lag, play, play_targets, statistics};
use thalweg_codecs::functional::{FunctionalDecoder, FunctionalEncoder};
use thalweg_codecs::libvpx::{Settings, Vp8Decoder, Vp8Encoder};
use thalweg_codecs::model::{Config, ContentPreset, LagPreset, ModelEncoder};
use thalweg_codecs::{Decoder, Encoder};
use thalweg_types::Target;
use thalweg_units::{Bytes, Seed, Size};
use thalweg_video::Picture;
use thalweg_video::quality::{psnr, ssim, ssim_db};
use thalweg_video::source::{Decoded, Endless, Format, OnDisk, Scene, SceneConfig};

/// One comparison for one subject.
type Part = fn(&Subject) -> Result<()>;

/// Number of model runs with different seeds whose mean is shown.
const SEEDS: u64 = 20;

fn data(path: &str) -> PathBuf {
    thalweg_data::testing::place().root().join(path)
}

/// A video and the preset that was fitted to it.
#[derive(Clone)]
struct Subject {
    name: &'static str,
    content: ContentPreset,
    file: Option<String>,
}

impl Subject {
    fn video(&self, size: Size) -> Result<Video> {
        Ok(match &self.file {
            None => {
                let format = Format { size, frame_rate: (30, 1) };
                Video::Real(Box::new(Scene::new(SceneConfig { format, ..SceneConfig::default() })), size)
            }
            Some(file) => {
                let clip = OnDisk::new(Decoded::open(file, None)?)?;
                Video::Real(Box::new(Endless::there_and_back(clip)), size)
            }
        })
    }

    fn libvpx(&self, schedule: &Schedule, source: Size, quality: bool) -> Result<Vec<Frame>> {
        let mut encoder = Vp8Encoder::new(Settings::default(), source)?;
        let mut decoder = Vp8Decoder::new()?;
        let decoder = quality.then_some(&mut decoder as &mut dyn Decoder);
        play(schedule, &mut self.video(source)?, &mut encoder, decoder)
    }

    fn model(&self, schedule: &Schedule, source: Size, lag: LagPreset, seed: u64) -> Result<Vec<Frame>> {
        let config = Config { content: self.content.clone(), lag, ..Config::default() };
        let mut encoder: Box<dyn Encoder> = Box::new(ModelEncoder::new(&config, source, Seed::new(seed))?);
        play(schedule, &mut Video::Blank(source), &mut *encoder, None)
    }
}

fn subjects() -> Vec<Subject> {
    let mut subjects = vec![Subject { name: "scene", content: ContentPreset::Scene, file: None }];
    let file = data("video/talking-head-720p30.mp4");
    if file.exists() {
        subjects.push(Subject {
            name: "talking head",
            content: ContentPreset::TalkingHead,
            file: Some(file.display().to_string()),
        });
    } else {
        println!("the talking head is not here: `thalweg data fetch video` gets it");
    }
    subjects
}

/// Clips that no preset is fitted to.
fn others() -> Vec<Subject> {
    let clips =
        [("foreman", "foreman-cif30.mp4"), ("flower", "flower-720p30.264"), ("animation", "bigbuckbunny-720p25.mp4")];
    let present = clips.into_iter().map(|(name, file)| (name, data(&format!("video/{file}"))));
    present
        .filter(|(_, file)| file.exists())
        .map(|(name, file)| Subject { name, content: ContentPreset::Scene, file: Some(file.display().to_string()) })
        .collect()
}

/// The smallest frames of the functional codec: at its coarsest quantiser, and where it is asked for less.
fn floor(subject: &Subject) -> Result<()> {
    println!(
        "\n{}: functional codec: bytes, bits per pixel, PSNR and SSIM; then bytes of the model for its content",
        subject.name
    );
    let largest = subject.video(Size::FULL_HD)?.source_size();
    for size in [(320, 180), (640, 360), (960, 540), (1280, 720), (1920, 1080)].map(|(x, y)| Size::new(x, y)) {
        if size.pixels() > largest.pixels() {
            continue;
        }
        let schedule = Schedule { keyframe_every: Some(50), ..Schedule::constant(0, 0, size) };
        let real = |targets: &[Target], schedule: &Schedule| -> Result<Vec<Frame>> {
            let (mut encoder, mut decoder) =
                (FunctionalEncoder::new(Default::default())?, FunctionalDecoder::default());
            play_targets(targets, schedule, &mut subject.video(size)?, &mut encoder, Some(&mut decoder))
        };
        let model = |targets: &[Target], schedule: &Schedule| -> Result<Vec<Frame>> {
            let config = Config { content: subject.content.clone(), functional: true, ..Config::default() };
            let mut encoder = ModelEncoder::new(&config, size, Seed::new(1))?;
            play_targets(targets, schedule, &mut Video::Blank(size), &mut encoder, None)
        };
        let show = |name: &str, real: &[Frame], model: &[Frame], keyframe: bool| {
            let of = |frames: &[Frame], pick: &dyn Fn(&Frame) -> f64| {
                // The first frames after a keyframe still pay for it.
                let late = frames
                    .iter()
                    .enumerate()
                    .filter(|(at, frame)| frame.keyframe == keyframe && (keyframe || at % 50 > 9));
                let values: Vec<f64> = late.map(|(_, frame)| pick(frame)).collect();
                values.iter().sum::<f64>() / values.len().max(1) as f64
            };
            let bytes = |frames: &[Frame]| of(frames, &|frame| frame.bytes as f64);
            println!(
                "{:>9} {name:>16}: {:>6.0} {:.6} {:>6.2} {:>6.2}   {:>6.0}",
                size.to_string(),
                bytes(real),
                bytes(real) * 8.0 / size.pixels() as f64,
                of(real, &|frame| frame.quality.map_or(0.0, |quality| quality.0)),
                of(real, &|frame| frame.quality.map_or(0.0, |quality| quality.1)),
                bytes(model)
            );
            bytes(real)
        };
        let coarsest = Target::Quantizer(127);
        let whole = [coarsest; 200];
        let (made, modelled) = (real(&whole, &schedule)?, model(&whole, &schedule)?);
        show("keyframe at 127", &made, &modelled, true);
        let inter = show("inter at 127", &made, &modelled, false);
        let without = Schedule { keyframe_every: None, ..schedule };
        for share in [1.0, 0.7, 0.5, 0.35, 0.25, 0.0] {
            let target = Target::Size(Bytes::new((inter * share) as u64).max(Bytes::new(1)));
            // From a whole picture on: a keyframe that must be smaller than one at 127 is grey.
            let targets = [&[coarsest][..], &[target; 199]].concat();
            show(&format!("of a size, x{share}"), &real(&targets, &without)?, &model(&targets, &without)?, false);
        }
    }
    Ok(())
}

/// How pictures differ from later ones, and from a grey one, as [`thalweg_codecs::model::Ageing`] has it.
fn ageing(subject: &Subject) -> Result<()> {
    let ages = [1usize, 2, 3, 5, 8, 13, 21, 30];
    for size in [Size::new(640, 360), Size::HD] {
        let mut video = subject.video(size)?;
        let next = |_| -> Result<_> { Ok(video.next_picture()?.ok_or("the video has no pixels")?) };
        let pictures = (0..330).map(next).collect::<Result<Vec<_>>>()?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let beside = |of: &dyn Fn(usize) -> (f64, f64)| {
            let (psnrs, ssims): (Vec<f64>, Vec<f64>) = (0..300).step_by(5).map(of).unzip();
            (mean(&psnrs), ssim_db(mean(&ssims)))
        };
        let differ = |a: &Picture, b: &Picture| (psnr(a, b), ssim(a, b));
        let by_age = ages.map(|age| beside(&|first| differ(&pictures[first + age], &pictures[first])));
        let grey = Picture::filled(size, 128, 128, 128);
        let blank = beside(&|first| differ(&pictures[first], &grey));
        println!("\n{} at {size}: age, PSNR and SSIM in dB beside a picture so much later", subject.name);
        ages.iter().zip(&by_age).for_each(|(age, (psnr, ssim))| println!("{age:>6} {psnr:>6.2} {ssim:>6.2}"));
        println!("{:>6} {:>6.2} {:>6.2}", "grey", blank.0, blank.1);
        let logarithms = ages.map(|age| (age as f64).ln());
        let line = |values: &[f64]| {
            let (x, y) = (mean(&logarithms), mean(values));
            let slope = logarithms.iter().zip(values).map(|(at, value)| (at - x) * (value - y)).sum::<f64>()
                / logarithms.iter().map(|at| (at - x).powi(2)).sum::<f64>();
            (y - slope * x, -slope)
        };
        let (psnrs, ssims): (Vec<f64>, Vec<f64>) = by_age.into_iter().unzip();
        let ((psnr, psnr_falls), (ssim, ssim_falls)) = (line(&psnrs), line(&ssims));
        println!("next_db [{psnr:.2}, {ssim:.2}], fall_db [{psnr_falls:.2}, {ssim_falls:.2}]");
    }
    Ok(())
}

/// Operating points at 720p, as in the presets.
fn curve(subject: &Subject) -> Result<()> {
    println!("\n{}: bits per pixel, quantiser, PSNR, SSIM of libvpx", subject.name);
    for kbps in [50, 500, 1000, 2000, 4000, 8000, 16_000, 40_000] {
        let frames = subject.libvpx(&Schedule::constant(kbps, 564, Size::HD), Size::HD, true)?;
        let Statistics { kbps: made, quality: (quantizer, psnr, ssim), .. } = statistics(&frames);
        let bits = made * 1e3 * INTERVAL.as_secs_f64() / Size::HD.pixels() as f64;
        println!("{kbps:>6} kbps: {bits:.6} {quantizer:>5.1} {psnr:.2} {ssim:.2}");
    }
    Ok(())
}

fn step_lag(subject: &Subject) -> Result<()> {
    let schedule =
        Schedule { targets: vec![(500, 300), (2000, 300), (500, 300)], ..Schedule::constant(0, 0, Size::HD) };
    let show = |name: &str, runs: &[Vec<Frame>]| {
        let mean = |measure: &dyn Fn(&Vec<Frame>) -> f64| runs.iter().map(measure).sum::<f64>() / runs.len() as f64;
        println!(
            "{name:>24}: {:.2} s up, {:.2} s down; {:+.2} s and {:+.2} s of the new target in two seconds",
            mean(&|frames| lag(frames, 300, 2000, true).0),
            mean(&|frames| lag(frames, 600, 500, false).0),
            mean(&|frames| lag(frames, 300, 2000, true).1),
            mean(&|frames| lag(frames, 600, 500, false).1),
        );
    };
    println!("\n{}: 0.5, 2, 0.5 Mbps for 10 s each", subject.name);
    show("libvpx", &[subject.libvpx(&schedule, Size::HD, false)?]);
    for (name, preset) in [("model", LagPreset::Libvpx), ("model, as in the paper", LagPreset::Paper)] {
        let runs = (1..=SEEDS).map(|seed| subject.model(&schedule, Size::HD, preset, seed));
        show(name, &runs.collect::<Result<Vec<_>>>()?);
    }
    Ok(())
}

fn row(name: &str, statistics: &Statistics) {
    let Statistics { kbps, variation, p95, correlation, keyframe_ratio, .. } = statistics;
    let keyframe = keyframe_ratio.map_or("    -".into(), |ratio| format!("{ratio:>5.2}"));
    println!("{name:>24} {kbps:>6.0} {variation:>6.2} {p95:>6.2} {correlation:>+6.2} {keyframe}");
}

fn mean_of(runs: &[Statistics]) -> Statistics {
    let mean = |pick: &dyn Fn(&Statistics) -> f64| runs.iter().map(pick).sum::<f64>() / runs.len() as f64;
    Statistics {
        kbps: mean(&|s| s.kbps),
        variation: mean(&|s| s.variation),
        p95: mean(&|s| s.p95),
        correlation: mean(&|s| s.correlation),
        keyframe_ratio: runs[0].keyframe_ratio.map(|_| mean(&|s| s.keyframe_ratio.unwrap_or(0.0))),
        quality: (mean(&|s| s.quality.0), mean(&|s| s.quality.1), mean(&|s| s.quality.2)),
    }
}

fn modelled(subject: &Subject, schedule: &Schedule, source: Size) -> Result<Statistics> {
    let runs = (1..=SEEDS).map(|seed| Ok(statistics(&subject.model(schedule, source, LagPreset::Libvpx, seed)?)));
    Ok(mean_of(&runs.collect::<Result<Vec<_>>>()?))
}

fn sizes(subject: &Subject) -> Result<()> {
    println!("\n{}: 720p30, a keyframe forced each 150 pictures", subject.name);
    println!("{:>24} {:>6} {:>6} {:>6} {:>6} {:>5}", "", "kbps", "cv", "p95", "lag 1", "key");
    for kbps in [250, 500, 1000, 2000, 4000] {
        let schedule = Schedule { keyframe_every: Some(150), ..Schedule::constant(kbps, 900, Size::HD) };
        row(&format!("libvpx {kbps}"), &statistics(&subject.libvpx(&schedule, Size::HD, false)?));
        row(&format!("model {kbps}"), &modelled(subject, &schedule, Size::HD)?);
    }
    Ok(())
}

fn quality(subject: &Subject) -> Result<()> {
    println!("\n{}: quantiser, PSNR and SSIM in dB against 720p, libvpx and model", subject.name);
    for (size, rates) in [(Size::HD, [700, 1400, 3000]), (Size::new(640, 360), [250, 500, 1000])] {
        for kbps in rates {
            let schedule = Schedule::constant(kbps, 300, size);
            let real = statistics(&subject.libvpx(&schedule, Size::HD, true)?).quality;
            let model = modelled(subject, &schedule, Size::HD)?.quality;
            println!(
                "{:>8} {kbps:>5} kbps: {:>5.1} {:>5.1}   {:.2} {:.2}   {:.2} {:.2}",
                size.to_string(),
                real.0,
                model.0,
                real.1,
                model.1,
                real.2,
                model.2
            );
        }
    }
    Ok(())
}

/// The frame sizes of a video chat by Firefox at 720p, one per line: number, type, -, time, bytes.
fn chat(subject: &Subject) -> Result<()> {
    println!("\nFirefox, H.264, and the model of a {} at its rates", subject.name);
    println!("{:>24} {:>6} {:>6} {:>6} {:>6}", "", "kbps", "cv", "p95", "lag 1");
    for kbps in [200, 400, 600, 800, 1000, 1200, 1500, 2000] {
        let Ok(text) = std::fs::read_to_string(data(&format!("chat-frame-sizes/chat_720p_{kbps}.txt"))) else {
            println!("not here: `thalweg data fetch chat-frame-sizes` gets them");
            return Ok(());
        };
        let lines = text.lines().filter(|line| !line.starts_with('%'));
        let sizes = lines.filter_map(|line| line.split_whitespace().nth(4)?.parse().ok());
        let frames: Vec<Frame> = sizes.map(|bytes| Frame { bytes, ..Frame::default() }).collect();
        row(&format!("Firefox {kbps}"), &statistics(&frames));
        row(&format!("model {kbps}"), &modelled(subject, &Schedule::constant(kbps, 7200, Size::HD), Size::HD)?);
    }
    Ok(())
}

pub fn run(arguments: &[String]) -> Result<()> {
    let parts: [(&str, Part); 7] = [
        ("lag", step_lag),
        ("sizes", sizes),
        ("quality", quality),
        ("chat", chat),
        ("curve", curve),
        ("floor", floor),
        ("ageing", ageing),
    ];
    let (asked, only) = (arguments.first(), arguments.get(1));
    if let Some(asked) = asked.filter(|asked| parts.iter().all(|(name, _)| name != asked)) {
        return Err(
            format!("unknown part '{asked}': expected lag, sizes, quality, chat, curve, floor or ageing").into()
        );
    }
    for (name, part) in parts {
        // These take minutes, and are needed only to fit another video.
        let fits = ["curve", "floor", "ageing"].contains(&name);
        if asked.map_or(!fits, |asked| asked == name) {
            let more = if name != "curve" && fits { others() } else { Vec::new() };
            let of = |subject: &&Subject| only.is_none_or(|only| only == subject.name);
            subjects().iter().chain(&more).filter(of).try_for_each(part)?;
        }
    }
    Ok(())
}
