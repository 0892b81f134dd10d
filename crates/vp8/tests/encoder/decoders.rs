//! Other decoders see the same pictures.

use crate::scenes::Scene;
use crate::{Shown, check, size};
use std::io::Write;
use std::process::{Command, Stdio};
use thalweg_vp8::encode::{Settings, Speed};
use thalweg_vp8::{Size, ivf};

/// A stream.
struct Stream {
    name: String,
    size: Size,
    frames: Vec<Shown>,
}

/// Streams of every kind.
fn streams() -> Vec<Stream> {
    let mut streams = Vec::new();
    for speed in Speed::ALL {
        for scene in Scene::ALL {
            for (size, quantizer) in
                [(size(176, 144), 4), (size(175, 143), 40), (size(33, 17), 127), (size(97, 161), 70)]
            {
                let settings = Settings { speed, ..Settings::default() };
                let name = format!("{speed:?} {scene:?} {size} quantiser {quantizer}");
                streams.push(Stream { name, size, frames: check(scene, size, quantizer, &settings, 6) });
            }
        }
    }
    streams
}

#[test]
fn oxideav_sees_the_same() {
    for Stream { name, frames, .. } in streams() {
        let mut decoder = oxideav_vp8::Vp8DecoderState::new();
        for (index, Shown { frame, picture }) in frames.iter().enumerate() {
            let decoded = decoder.decode_frame(frame).unwrap();
            assert!([decoded.y, decoded.u, decoded.v].concat() == *picture, "{name}, frame {index}");
        }
    }
}

#[cfg(feature = "libvpx")]
#[path = "../common/libvpx.rs"]
mod libvpx;

#[cfg(feature = "libvpx")]
#[test]
fn libvpx_sees_the_same() {
    for Stream { name, frames, .. } in streams() {
        let mut decoder = libvpx::Decoder::new();
        for (index, Shown { frame, picture }) in frames.iter().enumerate() {
            let decoded = decoder.decode(frame).unwrap().expect("a picture");
            assert!(decoded.to_i420() == *picture, "{name}, frame {index}");
        }
    }
}

#[test]
fn ffmpegs_own_decoder_sees_the_same() {
    if !Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: ffmpeg is not installed");
        return;
    }
    for Stream { name, size, frames } in streams() {
        let mut file = ivf::Writer::new(Vec::new(), ivf::Header { size, rate: 30, scale: 1 }).unwrap();
        for (time, shown) in frames.iter().enumerate() {
            file.write(time as u64, &shown.frame).unwrap();
        }
        let mut ffmpeg = Command::new("ffmpeg")
            .args(["-v", "error", "-c:v", "vp8", "-f", "ivf", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = ffmpeg.stdin.take().unwrap();
        let file = file.finish();
        let writer = std::thread::spawn(move || input.write_all(&file));
        let output = ffmpeg.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        let pictures: Vec<u8> = frames.into_iter().flat_map(|shown| shown.picture).collect();
        assert!(output.stdout == pictures, "{name}");
    }
}
