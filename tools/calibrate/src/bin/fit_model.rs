//! How the encoder model fits libvpx, side by side, and a browser's H.264 beside it:
//! `cargo run --release -p thalweg-calibrate --bin fit_model [-- curve | lag | sizes | quality | chat]`.
//!
//! The talking head and the browser's frame sizes are the data sets `video` and `chat-frame-sizes`, if they are
//! present.

#[path = "../../../../crates/codecs/tests/support/measure.rs"]
mod measure;

use std::path::PathBuf;

use measure::{Frame, INTERVAL, Schedule, Statistics, Video, lag, play, statistics};
use thalweg_codecs::libvpx::{Settings, Vp8Decoder, Vp8Encoder};
use thalweg_codecs::model::{Config, ContentPreset, LagPreset, ModelEncoder};
use thalweg_codecs::{Decoder, Encoder};
use thalweg_units::{Seed, Size};
use thalweg_video::source::{Ffmpeg, Format, ForthAndBack, Scene, SceneConfig};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

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
                let source = Box::new(Ffmpeg::open(file)?);
                Video::Real(Box::new(ForthAndBack::new(source, file)), size)
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

fn main() -> Result<()> {
    let parts: [(&str, Part); 5] =
        [("lag", step_lag), ("sizes", sizes), ("quality", quality), ("chat", chat), ("curve", curve)];
    let asked = std::env::args().nth(1);
    if let Some(asked) = asked.as_deref().filter(|asked| parts.iter().all(|(name, _)| name != asked)) {
        return Err(format!("'{asked}' is not a part: choose lag, sizes, quality, chat or curve").into());
    }
    for (name, part) in parts {
        // The curve takes a minute, and is needed only to fit another video.
        if asked.as_deref().map_or(name != "curve", |asked| asked == name) {
            subjects().iter().try_for_each(part)?;
        }
    }
    Ok(())
}
