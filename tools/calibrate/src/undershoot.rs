//! How encoders follow their targets: `cargo run --release -p thalweg-calibrate -- undershoot [codec [scene
//! [size]]]`.
//!
//! Each row is 60 s at a target, lowered by a ratio: the actual rate over the target on the whole, and over each 5 s
//! (minimum and maximum) after the first two seconds.

use std::sync::Arc;

use crate::Result;
use thalweg_codecs::{Codec, Image};
use thalweg_lab::Undershoot;
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Seed, Size, Span, Time};
use thalweg_video::Picture;
use thalweg_video::source::{Format, Scene, SceneConfig};

const SECONDS: u64 = 62;
const SETTLED: usize = 60;
const WINDOW: usize = 150;

pub fn run(arguments: &[String]) -> Result<()> {
    let mut arguments = arguments.iter().cloned();
    let codec: Codec = arguments.next().map_or(Ok(Codec::Model(Default::default())), |name| name.parse())?;
    let scene = arguments.next().unwrap_or("scene".into());
    let sizes = match arguments.next() {
        Some(size) => vec![size.parse()?],
        None => vec![Size::new(320, 180), Size::new(640, 360), Size::HD],
    };
    println!("{codec} of {scene}");
    println!(
        "{:>9} {:>6} {:>5} | {:>5} {:>13} {:>9} {:>5}",
        "size", "kbps", "asked", "made", "over 5 s", "variation", "q"
    );
    for size in sizes {
        let format = Format { size, frame_rate: (30, 1) };
        let pictures: Vec<Arc<Picture>> = if codec.is_model() {
            Vec::new()
        } else {
            let config = SceneConfig::named(&scene, format, Seed::new(1))?.ok_or("no built-in scene")?;
            let scene = Scene::new(config);
            (0..SECONDS * 30).map(|number| Arc::new(scene.picture(number))).collect()
        };
        for kbps in [300, 500, 1000, 2000] {
            for ratio in [1.0, 0.6, 0.4] {
                row(&codec, &pictures, format, kbps, ratio)?;
            }
        }
    }
    Ok(())
}

fn row(codec: &Codec, pictures: &[Arc<Picture>], format: Format, kbps: u64, ratio: f64) -> Result<()> {
    let (size, interval) = (format.size, format.interval());
    let mut encoder = codec.build_seeded(size, Seed::new(1))?.encoder;
    let ratios = Undershoot::always(ratio).build(Seed::new(1))?;
    let (mut bits, mut quantizers) = (Vec::new(), 0.0);
    for number in 0..SECONDS * 30 {
        let now = Time::ZERO + Span::from_nanos(interval.as_nanos() * number as i64);
        let mut plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(kbps))], size, interval);
        ratios.lower(now, &mut plan);
        let image = pictures.get(number as usize).map_or(Image::blank(size), |picture| Image::from(&**picture));
        let made = encoder.offer(image, &plan)?;
        encoder.commit((!made.is_empty()).then_some(0))?;
        let frame = made.first().map(|candidate| candidate.frame);
        bits.push(frame.map_or(0.0, |frame| frame.size.bits() as f64));
        quantizers += frame.and_then(|frame| frame.quantizer).map_or(0.0, f64::from);
    }
    let bits = &bits[SETTLED..];
    let mean = |bits: &[f64]| bits.iter().sum::<f64>() / bits.len() as f64;
    let limits = kbps as f64 * 1e3 * interval.as_secs_f64();
    let windows: Vec<f64> = bits.chunks_exact(WINDOW).map(|window| mean(window) / limits).collect();
    let (min, max) = windows.iter().fold((f64::MAX, f64::MIN), |(min, max), it| (it.min(min), it.max(max)));
    let squares = bits.iter().map(|bits| bits * bits).sum::<f64>() / bits.len() as f64;
    let variation = (squares - mean(bits) * mean(bits)).sqrt() / mean(bits);
    let quantizer = quantizers / (SECONDS * 30) as f64;
    let made = mean(bits) / limits;
    println!(
        "{:>9} {kbps:>6} {ratio:>5.2} | {made:>5.2} {min:>6.2}-{max:<6.2} {variation:>9.2} {quantizer:>5.1}",
        size.to_string()
    );
    Ok(())
}
