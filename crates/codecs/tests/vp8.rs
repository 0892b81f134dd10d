//! VP8 by libvpx through the codec interface.

use thalweg_codecs::libvpx::{RateBuffer, Settings, Vp8Decoder, Vp8Encoder};
use thalweg_codecs::{Decoder, Encoder};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Size, Span};
use thalweg_video::quality::psnr;
use thalweg_video::scale;
use thalweg_video::source::{Format, Scene, SceneConfig};

const SIZE: Size = Size::new(640, 360);
const INTERVAL: Span = Span::from_nanos(33_333_333);

fn scene(size: Size) -> Scene {
    Scene::new(SceneConfig { format: Format { size, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

fn plan(kbps: u64) -> EncodePlan {
    let targets = vec![Target::Rate(Rate::from_kbps(kbps))];
    EncodePlan::new(targets, SIZE, INTERVAL).with(|plan| plan.may_drop = true)
}

/// Settings that never drop a frame, for tests of single frames.
fn every_frame() -> Settings {
    Settings { drop_frame_threshold: 0, ..Settings::default() }
}

fn encoder(settings: Settings) -> Vp8Encoder {
    Vp8Encoder::new(settings, SIZE).unwrap()
}

#[test]
fn what_is_encoded_decodes_to_something_like_the_source() {
    let (scene, mut encoder, mut decoder) = (scene(SIZE), encoder(Settings::default()), Vp8Decoder::new().unwrap());
    let (mut total, mut frames, mut bits) = (0.0, 0, 0);
    for i in 0..90 {
        let picture = scene.picture(i);
        let candidates = encoder.candidates(&picture, &plan(1000)).unwrap();
        let Some(candidate) = candidates.first() else { continue };
        encoder.commit(Some(0)).unwrap();
        assert_eq!(candidate.frame.keyframe, i == 0);
        let decoded = decoder.decode(&candidate.data).unwrap().unwrap();
        total += psnr(&picture, &decoded);
        frames += 1;
        bits += candidate.frame.size.bits();
    }
    let (db, kbps) = (total / f64::from(frames), bits as f64 / 3000.0);
    assert!((30.0..50.0).contains(&db), "{db} dB");
    assert!((700.0..1300.0).contains(&kbps), "{kbps} kbps");
    assert!(frames >= 80, "{frames} frames");
}

#[test]
fn the_same_pictures_give_the_same_bytes() {
    let scene = scene(SIZE);
    let run = || {
        let mut encoder = encoder(Settings::default());
        (0..20)
            .flat_map(|i| encoder.candidates(&scene.picture(i), &plan(500 + 50 * i)).unwrap())
            .map(|c| c.data)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_size_changes_mid_stream_with_a_keyframe_and_never_beyond_the_largest() {
    let (scene, mut encoder, mut decoder) = (scene(SIZE), encoder(every_frame()), Vp8Decoder::new().unwrap());
    for (i, height) in [(0, 360), (1, 180), (2, 180), (3, 270), (4, 360)] {
        let size = SIZE.scale(f64::from(height) / 360.0);
        let candidates = encoder.candidates(&scene.picture(i), &plan(2000).with(|plan| plan.size = size)).unwrap();
        encoder.commit(Some(0)).unwrap();
        assert_eq!(candidates[0].frame.keyframe, i != 2);
        let decoded = decoder.decode(&candidates[0].data).unwrap().unwrap();
        assert_eq!(decoded.size(), size);
        let db = psnr(&scale(&decoded, SIZE), &scene.picture(i));
        assert!((20.0..60.0).contains(&db), "{db}");
    }
    let larger = plan(2000).with(|plan| plan.size = Size::HD);
    let message = encoder.candidates(&scene.picture(9), &larger).unwrap_err().to_string();
    assert!(message.contains("1280x720") && message.contains("640x360"), "{message}");
}

#[test]
fn a_frame_that_is_not_sent_makes_the_next_a_keyframe() {
    let (scene, mut encoder) = (scene(SIZE), encoder(every_frame()));
    let key = |encoder: &mut Vp8Encoder, i, choice| {
        let keyframe = encoder.candidates(&scene.picture(i), &plan(1000)).unwrap()[0].frame.keyframe;
        encoder.commit(choice).unwrap();
        keyframe
    };
    assert!(key(&mut encoder, 0, Some(0)));
    assert!(!key(&mut encoder, 1, None));
    assert!(key(&mut encoder, 2, Some(0)));
    assert!(!key(&mut encoder, 3, Some(0)));
    assert!(encoder.commit(Some(0)).is_err(), "nothing is offered any more");
}

/// Seconds after a step until the mean rate over half a second is within a fifth of the target.
fn lag(buffer: RateBuffer, from: u64, to: u64) -> f64 {
    let (scene, mut encoder) = (scene(SIZE), encoder(Settings { rate_buffer: buffer, ..Settings::default() }));
    let mut sizes = Vec::new();
    for i in 0..300 {
        let kbps = if i < 150 { from } else { to };
        let made = encoder.candidates(&scene.picture(i), &plan(kbps)).unwrap();
        encoder.commit((!made.is_empty()).then_some(0)).unwrap();
        sizes.push(made.first().map_or(0, |candidate| candidate.frame.size.bits()));
    }
    let near = |end: usize| {
        let kbps = sizes[end - 10..end].iter().sum::<u64>() as f64 / 1000.0 * 3.0;
        (kbps / to as f64 - 1.0).abs() < 0.2
    };
    (150..300).find(|start| near(start + 10)).map_or(f64::INFINITY, |start| (start - 150) as f64 / 30.0)
}

#[test]
fn the_rate_buffer_decides_how_fast_the_encoder_follows_its_target() {
    let small = RateBuffer::Span(Span::from_millis(200));
    let (up, down) = (lag(RateBuffer::Webrtc, 300, 1200), lag(RateBuffer::Webrtc, 1200, 300));
    let (small_up, small_down) = (lag(small, 300, 1200), lag(small, 1200, 300));
    println!("WebRTC's buffer: {up:.2} s up, {down:.2} s down; 200 ms: {small_up:.2} up, {small_down:.2} down");
    assert!((0.5..2.2).contains(&up) && (0.15..0.9).contains(&down), "{up} {down}");
    assert!((0.0..0.3).contains(&small_up) && (0.0..0.3).contains(&small_down), "{small_up} {small_down}");
}

#[test]
fn damage_never_panics_and_a_delta_frame_needs_its_keyframe() {
    let (scene, mut encoder) = (scene(SIZE), encoder(every_frame()));
    let frames: Vec<_> =
        (0..5).map(|i| encoder.candidates(&scene.picture(i), &plan(1000)).unwrap().remove(0).data).collect();
    let mut fresh = Vp8Decoder::new().unwrap();
    assert!(!matches!(fresh.decode(&frames[1]), Ok(Some(_))));
    assert!(fresh.decode(&[]).is_err());
    for cut in (0..frames[0].len()).step_by(997) {
        let mut damaged = frames[0][..cut].to_vec();
        if let Some(byte) = damaged.get_mut(cut / 2) {
            *byte ^= 0x55;
        }
        let _ = Vp8Decoder::new().unwrap().decode(&damaged);
    }
}

#[test]
fn a_positive_speed_is_refused_because_runs_would_not_repeat() {
    let settings = Settings { cpu_used: 6, ..Settings::default() };
    let message = Vp8Encoder::new(settings, SIZE).err().unwrap().to_string();
    assert!(message.contains("-16 to -1"), "{message}");
}
