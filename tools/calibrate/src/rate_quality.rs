//! Rate and quality of the built-in scene (or a clip that ffmpeg reads) as VP8: `cargo run --release -p
//! thalweg-calibrate -- rate-quality [file]`.

use crate::Result;
use thalweg_codecs::libvpx::{Settings, Vp8Decoder, Vp8Encoder};
use thalweg_codecs::{Decoder, Encoder};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::Rate;
use thalweg_video::quality::psnr;
use thalweg_video::source::{Decoded, Endless, OnDisk, Scene, SceneConfig, Source};

pub fn run(arguments: &[String]) -> Result<()> {
    let file = arguments.first();
    println!("{:>9} {:>9} {:>7} {:>6} {:>6}", "target", "made", "PSNR", "q", "fps");
    for kbps in [250, 500, 1000, 2000, 3000, 6000] {
        let mut source: Box<dyn Source> = match file {
            Some(file) => Box::new(Endless::there_and_back(OnDisk::new(Decoded::open(file, None)?)?)),
            None => Box::new(Scene::new(SceneConfig::default())),
        };
        let (size, interval) = (source.format().size, source.format().interval());
        let mut encoder = Vp8Encoder::new(Settings::default(), size)?;
        let mut decoder = Vp8Decoder::new()?;
        let (mut frames, mut bits, mut db, mut quantizer) = (0u32, 0, 0.0, 0.0);
        let pictures = 300;
        for _ in 0..pictures {
            let Some(picture) = source.next_picture()? else { break };
            let targets = vec![Target::Rate(Rate::from_kbps(kbps))];
            let made = encoder
                .candidates(&picture, &EncodePlan::new(targets, size, interval).with(|plan| plan.may_drop = true))?;
            let Some(candidate) = made.first() else { continue };
            encoder.commit(Some(0))?;
            if let Some(decoded) = decoder.decode(&candidate.data)? {
                db += psnr(&picture, &decoded);
            }
            frames += 1;
            bits += candidate.frame.size.bits();
            quantizer += f64::from(candidate.frame.quantizer.unwrap_or(0));
        }
        let seconds = f64::from(pictures) * interval.as_secs_f64();
        let n = f64::from(frames);
        println!(
            "{kbps:>5}kbps {:>5.0}kbps {:>5.2}dB {:>6.1} {:>6.1}",
            bits as f64 / seconds / 1e3,
            db / n,
            quantizer / n,
            n / seconds
        );
    }
    Ok(())
}
