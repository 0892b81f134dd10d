//! Encoding and decoding times of real codecs per picture, at 720p and 1080p: `cargo run --release -p thalweg-calibrate
//! -- coding-time`.
//!
//! Prints the median and the minimum, since other load on the machine only ever adds to the time.
#![allow(clippy::disallowed_methods, reason = "what is measured is time on a clock")]

use std::time::Instant;

use crate::Result;
use thalweg_codecs::Codec;
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Size, Span};
use thalweg_video::source::{Format, Scene, SceneConfig};

pub fn run() -> Result<()> {
    println!("{:>6} {:>10} {:>8} {:>16} {:>16}", "codec", "size", "made", "encode ms (min)", "decode ms (min)");
    for (size, kbps) in [(Size::HD, 2000), (Size::FULL_HD, 4000)] {
        let scene = Scene::new(SceneConfig { format: Format { size, frame_rate: (30, 1) }, ..SceneConfig::default() });
        let pictures: Vec<_> = (0..90).map(|i| scene.picture(i)).collect();
        for codec in ["vp8", "h264"].iter().filter_map(|name| name.parse::<Codec>().ok()) {
            let mut pair = codec.build(size)?;
            let targets = vec![Target::Rate(Rate::from_kbps(kbps))];
            let interval = Span::from_nanos(33_333_333);
            let plan = EncodePlan::new(targets, size, interval);
            let (mut encode, mut decode, mut bits) = (Vec::new(), Vec::new(), 0);
            for picture in &pictures {
                let begin = Instant::now();
                let made = pair.encoder.candidates(picture, &plan)?;
                encode.push(begin.elapsed().as_secs_f64() * 1e3);
                let Some(candidate) = made.first() else { continue };
                pair.encoder.commit(Some(0))?;
                bits += candidate.frame.size.bits();
                if let Some(decoder) = &mut pair.decoder {
                    let begin = Instant::now();
                    decoder.decode(&candidate.data)?;
                    decode.push(begin.elapsed().as_secs_f64() * 1e3);
                }
            }
            let summary = |mut times: Vec<f64>| {
                times.sort_by(f64::total_cmp);
                format!("{:.1} ({:.1})", times[times.len() / 2], times[0])
            };
            let kbps = bits as f64 / (pictures.len() as f64 * interval.as_secs_f64()) / 1e3;
            let (codec, size) = (codec.to_string(), size.to_string());
            println!("{codec:>6} {size:>10} {kbps:>4.0}kbps {:>16} {:>16}", summary(encode), summary(decode));
        }
    }
    Ok(())
}
