//! How large libvpx's VP8 makes the frames of each temporal layer, and the model beside it:
//! `cargo run --release -p thalweg-calibrate -- layer-sizes`.
//!
//! The talking head is from the data set `video`, if it is present.

use std::sync::Arc;

use crate::Result;
use thalweg_codecs::libvpx::{Settings, Vp8Encoder};
use thalweg_codecs::model::{Config, ContentPreset, ModelEncoder};
use thalweg_codecs::{Encoder, Image};
use thalweg_types::{EncodePlan, Target, layers};
use thalweg_units::{Rate, Seed, Size, Span};
use thalweg_video::Picture;
use thalweg_video::source::{Decoded, Endless, Format, OnDisk, Scene, SceneConfig, Source};

const INTERVAL: Span = Span::from_nanos(33_333_333);
/// Eight intra periods.
const PICTURES: u32 = 256;

/// Bytes of each frame with its position in the group, for a stream with groups of so many pictures.
fn sizes(encoder: &mut dyn Encoder, pictures: &[Arc<Picture>], group: u32, target: Target) -> Result<Vec<f64>> {
    let pattern = layers::Config { group, period: 32 }.build()?;
    let mut sizes = Vec::new();
    for (place, picture) in (0..).zip(pictures) {
        let mut plan = EncodePlan::new(vec![target], picture.size(), INTERVAL);
        pattern.plan(place, Some(0), &mut plan);
        sizes.push(encoder.offer(Image::from(&**picture), &plan)?[0].frame.size.as_f64());
        encoder.commit(Some(0))?;
    }
    Ok(sizes)
}

/// Prints means by layer, relative to the mean of all frames except keyframes, and that mean in bytes.
fn row(name: &str, sizes: &[f64]) {
    let pattern = layers::Config::default().build().unwrap_or_else(|error| unreachable!("{error}"));
    let mean = |layer: Option<u8>| {
        let of = |place: &u32| {
            !pattern.is_keyframe(*place) && layer.is_none_or(|layer| pattern.layer(*place).number == layer)
        };
        let of: Vec<f64> = (0..).zip(sizes).filter(|(place, _)| of(place)).map(|(_, size)| *size).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let keyframes: Vec<f64> = sizes.iter().step_by(32).skip(1).copied().collect();
    let keyframe = keyframes.iter().sum::<f64>() / keyframes.len() as f64;
    let all = mean(None);
    let [base, first, second] = [0, 1, 2].map(|layer| mean(Some(layer)) / all);
    println!("{name:>28}: {all:>8.0} bytes, layers {base:.2} {first:.2} {second:.2}, keyframes {:.2}", keyframe / all);
}

pub fn run() -> Result<()> {
    let format = Format { size: Size::HD, frame_rate: (30, 1) };
    let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    let mut videos: Vec<(&str, ContentPreset, Box<dyn Source>)> =
        vec![("scene", ContentPreset::Scene, Box::new(scene))];
    if let Some(clips) = thalweg_data::testing::folder("video") {
        let file = clips.join("talking-head-720p30.mp4").display().to_string();
        let source = Endless::there_and_back(OnDisk::new(Decoded::open(&file, None)?)?);
        videos.push(("talking head", ContentPreset::TalkingHead, Box::new(source)));
    } else {
        println!("the talking head is not here: `thalweg data fetch video` gets it");
    }
    for (name, content, mut source) in videos {
        println!("\n{name}");
        let mut pictures = Vec::new();
        for _ in 0..PICTURES {
            pictures.push(source.next_picture()?.ok_or("the video is too short")?);
        }
        let rates = [500, 1000, 2000, 4000].map(|kbps| (format!("{kbps} kbps"), Target::Rate(Rate::from_kbps(kbps))));
        let quantizers = [20, 40, 80].map(|index| (format!("quantiser {index}"), Target::Quantizer(index)));
        for (target_name, target) in rates.into_iter().chain(quantizers) {
            let libvpx = || Vp8Encoder::new(Settings::default(), Size::HD);
            row(&format!("{target_name}, one layer"), &sizes(&mut libvpx()?, &pictures, 1, target)?);
            row(&format!("{target_name}, three"), &sizes(&mut libvpx()?, &pictures, 4, target)?);
            let mut model =
                ModelEncoder::new(&Config { content: content.clone(), ..Config::default() }, Size::HD, Seed::new(1))?;
            row("model", &sizes(&mut model, &pictures, 4, target)?);
        }
    }
    Ok(())
}
