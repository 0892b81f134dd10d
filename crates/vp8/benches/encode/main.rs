//! Rate, quality and time of this encoder beside libvpx's in real time, on one thread:
//!
//! ```text
//! cargo bench -p thalweg-vp8 --features libvpx --bench encode -- [--frames N] [--speed fast|standard|slow] [CLIP...]
//! ```
//!
//! A clip is a y4m file, or any video when ffmpeg is installed; without any those of `../shared/data/video`. Ours runs at
//! one quantiser throughout, libvpx at constant bit rates; both are compared over the rates they share.

mod clip;
mod clock;
mod curve;
mod libvpx;

use std::path::{Path, PathBuf};

use clip::Clip;
use curve::{Curve, Point};
use thalweg_vp8::encode::{Analysis, Plan, Settings, Speed, encode};
use thalweg_vp8::kernels::Kernels;
use thalweg_vp8::{Image, Plane, State};

const RATES: [u32; 6] = [4500, 2800, 1700, 1000, 600, 350];
const QUANTIZERS: [u8; 7] = [8, 16, 28, 44, 64, 80, 100];
/// What rates are compared, kbit/s.
const RANGE: (f64, f64) = (400.0, 4000.0);

fn main() {
    let mut frames = 150;
    let mut speeds = Speed::ALL.to_vec();
    let mut clips: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--frames" => frames = arguments.next().and_then(|text| text.parse().ok()).expect("--frames N"),
            "--speed" => {
                let name = arguments.next().expect("--speed NAME");
                speeds.retain(|speed| format!("{speed:?}").to_lowercase() == name);
            }
            clip => clips.push(clip.into()),
        }
    }
    if clips.is_empty() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/video");
        if !folder.exists() {
            println!("skipped: ../shared/data is not here");
            return;
        }
        clips.extend(
            ["bigbuckbunny-720p25.mp4", "talking-head-720p30.mp4", "flower-720p30.264"].map(|name| folder.join(name)),
        );
    }
    println!("{:10} {:16} {:>8} {:>7} {:>7}", "clip", "encoder", "kbit/s", "PSNR Y", "ms");
    for path in clips {
        match Clip::read(&path, frames) {
            Ok(clip) => compare(&clip, &speeds),
            Err(error) => println!("skipped: {error}"),
        }
    }
}

fn compare(clip: &Clip, speeds: &[Speed]) {
    // Side by side, as other programs on the machine come and go.
    let mut theirs = Vec::new();
    let mut ours = vec![Vec::new(); speeds.len()];
    for (index, quantizer) in QUANTIZERS.into_iter().enumerate() {
        theirs.extend(RATES.get(index).map(|&rate| run_libvpx(clip, rate, -8)));
        for (points, &speed) in ours.iter_mut().zip(speeds) {
            points.push(run(clip, quantizer, Settings { speed, ..Settings::default() }));
        }
    }
    let theirs = Curve::new(theirs);
    print(clip, "libvpx -8", &theirs);
    for (points, &speed) in ours.into_iter().zip(speeds) {
        let settings = Settings { speed, ..Settings::default() };
        let ours = Curve::new(points);
        print(clip, &format!("{speed:?}"), &ours);
        let (least, most) = RANGE;
        if let Some(psnr) = ours.compare(&theirs, least, most, |point| point.psnr)
            && let Some(time) = ours.compare(&theirs, least, most, |point| point.time)
        {
            println!(
                "{:10} {:16} {:+.2} dB of libvpx -8 at {:.2} of its time ({:.2} ms to {:.2})",
                clip.name,
                format!("{speed:?}"),
                psnr.0 - psnr.1,
                time.0 / time.1,
                time.0,
                time.1
            );
        }
        println!(
            "{:10} {:16} two candidates of an image take {:.2} of the time of one",
            clip.name,
            format!("{speed:?}"),
            two_candidates(clip, settings)
        );
        let sizes = run_to_sizes(clip, settings);
        println!(
            "{:10} {:16} {} frames of given sizes: {} longer, {:.1} % used on average, {:.2} ms",
            clip.name,
            format!("{speed:?}"),
            sizes.frames,
            sizes.longer,
            sizes.used * 100.0,
            sizes.time
        );
    }
}

/// How much longer an image takes that is coded twice, at the two quantisers Salsify takes around the last.
fn two_candidates(clip: &Clip, settings: Settings) -> f64 {
    const QUANTIZER: u8 = 40;
    let mut state = State::default();
    let (mut one, mut two) = (0, 0);
    for (index, image) in clip.images.iter().enumerate() {
        let plan = if index == 0 { Plan::key(QUANTIZER) } else { Plan::inter(QUANTIZER) };
        // The order changes, as the first warms the cache for the second.
        let mut single = || {
            let start = clock::running();
            let coded = encode(&state, image, &plan, &settings).expect("a frame");
            one += clock::running() - start;
            coded.state
        };
        let mut both = || {
            let start = clock::running();
            let analysis = Analysis::new(&state, image, &plan, &settings).expect("an image");
            let candidates = [analysis.encode(QUANTIZER - 17), analysis.finish(QUANTIZER + 23)];
            two += clock::running() - start;
            drop(candidates);
        };
        let next = if index % 2 == 0 {
            both();
            single()
        } else {
            let next = single();
            both();
            next
        };
        state = next;
    }
    two as f64 / one as f64
}

/// How frames of given sizes came out.
struct Sizes {
    frames: u32,
    longer: u32,
    used: f64,
    time: f64,
}

/// Codes a clip to random sizes of 1 to 40 kB.
fn run_to_sizes(clip: &Clip, settings: Settings) -> Sizes {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut sizes = Sizes { frames: 0, longer: 0, used: 0.0, time: 0.0 };
    let first = encode(&State::default(), &clip.images[0], &Plan::key(40), &settings).expect("a frame");
    let (mut state, mut quantizer, mut nanoseconds) = (first.state, 40, 0);
    for image in &clip.images[1..] {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let target = 1000 + (random >> 32) as usize % 39_000;
        let start = clock::running();
        let analysis = Analysis::new(&state, image, &Plan::inter(quantizer), &settings).expect("an image");
        let coded = analysis.encode_to_size(target);
        nanoseconds += clock::running() - start;
        sizes.frames += 1;
        sizes.longer += u32::from(coded.frame.len() > target);
        sizes.used += coded.frame.len() as f64 / target as f64;
        (state, quantizer) = (coded.state, coded.quantizer);
    }
    sizes.used /= f64::from(sizes.frames);
    sizes.time = nanoseconds as f64 / 1e6 / f64::from(sizes.frames);
    sizes
}

fn print(clip: &Clip, name: &str, curve: &Curve) {
    for Point { rate, psnr, time } in &curve.points {
        println!("{:10} {name:16} {rate:8.0} {psnr:7.2} {time:7.2}", clip.name);
    }
}

/// Sums a run up.
#[derive(Default)]
struct Total {
    bytes: usize,
    psnr: f64,
    nanoseconds: u64,
}

impl Total {
    fn point(&self, clip: &Clip) -> Point {
        let frames = clip.images.len() as f64;
        Point {
            rate: self.bytes as f64 * 8.0 / 1000.0 / frames * clip.frames_per_second,
            psnr: self.psnr / frames,
            time: self.nanoseconds as f64 / 1e6 / frames,
        }
    }
}

fn psnr(clip: &Clip, squares: u64) -> f64 {
    let pixels = clip.size.pixels() as f64;
    10.0 * (255.0 * 255.0 * pixels / (squares as f64).max(1.0)).log10()
}

fn run_libvpx(clip: &Clip, rate: u32, cpu_used: i32) -> Point {
    let (width, height) = (clip.size.width() as u32, clip.size.height() as u32);
    let mut encoder = libvpx::Encoder::new(width, height, clip.frames_per_second, rate, cpu_used);
    let mut total = Total::default();
    for image in &clip.images {
        let start = clock::running();
        let frame = encoder.encode(image);
        total.nanoseconds += clock::running() - start;
        total.bytes += frame.len();
        total.psnr += psnr(clip, encoder.error(image));
    }
    total.point(clip)
}

fn run(clip: &Clip, quantizer: u8, settings: Settings) -> Point {
    let mut total = Total::default();
    let mut state = State::default();
    for (index, image) in clip.images.iter().enumerate() {
        let plan = if index == 0 { Plan::key(quantizer) } else { Plan::inter(quantizer) };
        let start = clock::running();
        let coded = encode(&state, image, &plan, &settings).expect("a frame");
        total.nanoseconds += clock::running() - start;
        total.bytes += coded.frame.len();
        total.psnr += psnr(clip, error(image, &coded.image));
        state = coded.state;
    }
    total.point(clip)
}

fn error(image: &Image, other: &Image) -> u64 {
    let rows = image.shown_rows(Plane::Y).zip(other.shown_rows(Plane::Y));
    rows.map(|(row, other)| Kernels::detected().sse_row(row, other)).sum()
}
