//! Natural video: other decoders show the pictures that the encoder reports.

use std::process::{Command, Stdio};

use thalweg_vp8::encode::{Plan, Settings, Speed, encode};
use thalweg_vp8::{Image, Size, State};

use crate::outside::{Emitted, Stream, all, show_what_the_encoder_says};

/// The clips.
const CLIPS: [&str; 4] =
    ["bigbuckbunny-720p25.mp4", "talking-head-720p30.mp4", "flower-720p30.264", "foreman-cif30.mp4"];

/// The first pictures of a clip, scaled down; without ffmpeg `None`, and a message.
fn clip(name: &str, size: Size, pictures: usize) -> Option<Vec<Image>> {
    let path = thalweg_data::testing::needed("video").join(name);
    let scale = format!("scale={}:{}", size.width(), size.height());
    let ffmpeg = Command::new("ffmpeg")
        .args(["-v", "fatal", "-i"])
        .arg(path)
        .args(["-vf", &scale, "-frames:v", &pictures.to_string(), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = ffmpeg else {
        println!("skipped: ffmpeg is not installed");
        return None;
    };
    let images = output.stdout.chunks_exact(Image::i420_length(size));
    let images: Vec<_> = images.map(|bytes| Image::from_i420(size, bytes).unwrap()).collect();
    assert_eq!(images.len(), pictures, "of {name}");
    Some(images)
}

/// Encodes pictures in order, each from the state after the one before.
fn in_order(name: String, pictures: &[Image], quantizer: u8, settings: &Settings) -> Stream {
    let mut state = State::default();
    let emitted = pictures.iter().enumerate().map(|(index, picture)| {
        let plan = if index == 0 { Plan::key(quantizer) } else { Plan::inter(quantizer) };
        let coded = encode(&state, picture, &plan, settings).unwrap();
        state = coded.state.clone();
        Emitted::from(&coded)
    });
    Stream::new(name, emitted.collect())
}

pub fn natural_clips_are_shown_as_the_encoder_says_at_every_preset() {
    let size = Size::new(322, 182).unwrap();
    let mut streams = Vec::new();
    for name in CLIPS {
        let Some(pictures) = clip(name, size, 12) else { return };
        for settings in Speed::ALL.map(|speed| Settings { speed, ..Settings::default() }) {
            for quantizer in [6, 40, 100] {
                let name = format!("{name} {settings:?} quantiser {quantizer}");
                streams.push(in_order(name, &pictures, quantizer, &settings));
            }
        }
    }
    show_what_the_encoder_says(&all(), &streams);
}
