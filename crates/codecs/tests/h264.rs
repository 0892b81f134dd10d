//! openh264 through the codec interface.

use std::sync::Arc;

use thalweg_codecs::openh264::{H264Decoder, H264Encoder, Settings, Usage};
use thalweg_codecs::{Decoder, EncodeError, Encoder, Image};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Bytes, Rate, Size, Span};
use thalweg_video::quality::psnr;
use thalweg_video::source::{Format, Scene, SceneConfig};
use thalweg_video::{Picture, Plane, scale};

const SIZE: Size = Size::new(640, 360);
const INTERVAL: Span = Span::from_nanos(33_333_333);

fn scene() -> Scene {
    Scene::new(SceneConfig { format: Format { size: SIZE, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

fn plan(kbps: u64) -> EncodePlan {
    let targets = vec![Target::Rate(Rate::from_kbps(kbps))];
    EncodePlan::new(targets, SIZE, INTERVAL)
}

fn encoder() -> H264Encoder {
    H264Encoder::new(Settings::default(), SIZE).unwrap()
}

#[test]
fn what_is_encoded_decodes_to_something_like_the_source_at_the_rate_asked_for() {
    let scene = scene();
    for (kbps, low, high) in [(500, 28.0, 40.0), (1500, 32.0, 46.0)] {
        let (mut encoder, mut decoder) = (encoder(), H264Decoder::new().unwrap());
        let (mut total, mut bits) = (0.0, 0);
        for i in 0..150 {
            let picture = scene.picture(i);
            let made = encoder.candidates(&picture, &plan(kbps)).unwrap();
            encoder.commit(Some(0)).unwrap();
            assert_eq!(made[0].frame.keyframe, i == 0);
            assert_eq!(made[0].frame.size.get(), made[0].data.len() as u64);
            assert!(made[0].frame.quantizer.is_some_and(|quantizer| (1..=51).contains(&quantizer)));
            let decoded = decoder.decode(&made[0].data).unwrap().unwrap();
            total += psnr(&picture, &decoded);
            bits += made[0].frame.size.bits();
        }
        let (db, made) = (total / 150.0, bits as f64 / 5000.0);
        println!("{kbps} kbps asked for: {made:.0} kbps, {db:.2} dB");
        assert!((low..high).contains(&db), "{db} dB at {kbps} kbps");
        assert!((made / kbps as f64 - 1.0).abs() < 0.15, "{made} kbps for {kbps}");
    }
}

#[test]
fn the_rate_follows_a_target_that_changes() {
    let (scene, mut encoder) = (scene(), encoder());
    let mut made = [0.0; 3];
    for i in 0..360u64 {
        let kbps = if (120..240).contains(&i) { 2000 } else { 500 };
        let bits = encoder.candidates(&scene.picture(i), &plan(kbps)).unwrap()[0].frame.size.bits();
        encoder.commit(Some(0)).unwrap();
        // The second half of each phase.
        if i % 120 >= 60 {
            made[(i / 120) as usize] += bits as f64 / 2000.0;
        }
    }
    for (kbps, made) in [500.0, 2000.0, 500.0].into_iter().zip(made) {
        assert!((made / kbps - 1.0f64).abs() < 0.2, "{made} kbps for {kbps}");
    }
}

#[test]
fn the_same_pictures_give_the_same_bytes() {
    let scene = scene();
    let run = || -> Vec<Arc<[u8]>> {
        let mut encoder = encoder();
        (0..30)
            .flat_map(|i| {
                let keyframe = i == 17;
                encoder
                    .candidates(&scene.picture(i), &plan(500 + 50 * i).with(|plan| plan.keyframe = keyframe))
                    .unwrap()
            })
            .map(|candidate| candidate.data)
            .collect()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_bytes_are_the_same_on_every_machine_with_assembly_or_without() {
    // Integer arithmetic only, so that the bytes depend on nothing but the encoder.
    let picture = |i: usize| {
        let mut picture = Picture::filled(SIZE, 0, 120, 136);
        for (row, line) in picture.plane_mut(Plane::Y).chunks_exact_mut(usize::from(SIZE.width)).enumerate() {
            for (column, sample) in line.iter_mut().enumerate() {
                let (x, y) = (column + 3 * i, row + i);
                *sample = (96 + (x * y / 64) % 96 + 24 * (x / 32 % 2)) as u8;
            }
        }
        picture
    };
    let mut encoder = encoder();
    let mut fingerprint = 0xcbf2_9ce4_8422_2325_u64;
    for i in 0..20 {
        let made = encoder.candidates(&picture(i), &plan(1200).with(|plan| plan.keyframe = i == 12)).unwrap();
        encoder.commit(Some(0)).unwrap();
        for byte in made[0].data.iter() {
            fingerprint = (fingerprint ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    assert_eq!(format!("{fingerprint:016x}"), "881262bb1e34a077", "openh264-sys2 0.9.9");
}

#[test]
fn the_size_changes_mid_stream_with_a_keyframe_and_never_beyond_the_largest() {
    let (scene, mut encoder, mut decoder) = (scene(), encoder(), H264Decoder::new().unwrap());
    for (i, height) in [(0, 360), (1, 180), (2, 180), (3, 270), (4, 360)] {
        let size = SIZE.scale(f64::from(height) / 360.0);
        let made = encoder.candidates(&scene.picture(i), &plan(2000).with(|plan| plan.size = size)).unwrap();
        encoder.commit(Some(0)).unwrap();
        assert_eq!((made[0].frame.keyframe, made[0].frame.picture), (i != 2, size));
        let decoded = decoder.decode(&made[0].data).unwrap().unwrap();
        assert_eq!(decoded.size(), size);
        let db = psnr(&scale(&decoded, SIZE), &scene.picture(i));
        assert!((20.0..60.0).contains(&db), "{db}");
    }
    let refused = |encoder: &mut H264Encoder, size| {
        encoder.candidates(&scene.picture(9), &plan(2000).with(|plan| plan.size = size)).unwrap_err().to_string()
    };
    let message = refused(&mut encoder, Size::HD);
    assert!(message.contains("1280x720") && message.contains("640x360"), "{message}");
    let message = refused(&mut encoder, Size::new(321, 180));
    assert!(message.contains("321x180") && message.contains("even"), "{message}");
}

#[test]
fn keyframes_come_when_asked_for_or_owed_and_not_otherwise() {
    let (scene, mut encoder) = (scene(), encoder());
    let mut key = |i, keyframe, choice| {
        let made = encoder.candidates(&scene.picture(i), &plan(1000).with(|plan| plan.keyframe = keyframe)).unwrap();
        encoder.commit(choice).unwrap();
        made[0].frame.keyframe
    };
    assert!(key(0, false, Some(0)));
    assert!(!key(1, false, Some(0)));
    assert!(key(2, true, Some(0)));
    assert!(!key(3, false, None));
    assert!(key(4, false, Some(0)), "the receiver never saw picture 3");
    assert!((5..100).all(|i| !key(i, false, Some(0))));
    assert!(encoder.commit(Some(0)).is_err(), "nothing is offered any more");
}

#[test]
fn only_a_plan_that_allows_it_lets_the_encoder_drop_pictures() {
    let scene = scene();
    let frames = |may_drop| {
        let mut encoder = encoder();
        (0..90)
            .filter(|i| {
                let made =
                    encoder.candidates(&scene.picture(*i), &plan(60).with(|plan| plan.may_drop = may_drop)).unwrap();
                encoder.commit((!made.is_empty()).then_some(0)).unwrap();
                !made.is_empty()
            })
            .count()
    };
    assert_eq!(frames(false), 90);
    let dropping = frames(true);
    assert!((5..80).contains(&dropping), "{dropping} of 90 frames at 60 kbps");
}

#[test]
fn damage_is_an_error_and_a_delta_frame_needs_its_keyframe() {
    let (scene, mut encoder) = (scene(), encoder());
    let frames: Vec<_> =
        (0..3).map(|i| encoder.candidates(&scene.picture(i), &plan(1000)).unwrap().remove(0).data).collect();
    let mut fresh = H264Decoder::new().unwrap();
    let message = fresh.decode(&frames[1]).unwrap_err().to_string();
    assert!(message.contains("keyframe"), "{message}");
    assert!(fresh.decode(&[]).is_err());
    assert!(fresh.decode(&frames[0]).unwrap().is_some(), "it goes on with a keyframe");
    assert!(fresh.decode(&frames[2]).is_err(), "its reference, frame 1, never came");
    assert!(fresh.decode(&frames[0]).unwrap().is_some(), "and again");
    // Half a frame, and a frame with its middle overwritten.
    assert!(fresh.decode(&frames[1][..frames[1].len() / 2]).is_err());
    let mut damaged = frames[0].to_vec();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 200].fill(0xff);
    assert!(H264Decoder::new().unwrap().decode(&damaged).is_err());
    for cut in (1..frames[0].len()).step_by(997) {
        let mut damaged = frames[0][..cut].to_vec();
        damaged[cut / 2] ^= 0x55;
        let _ = H264Decoder::new().unwrap().decode(&damaged);
    }
}

#[test]
fn what_it_cannot_do_is_refused_with_the_range() {
    let (scene, mut encoder) = (scene(), encoder());
    for target in [Target::Quantizer(20), Target::Size(Bytes::new(1000))] {
        let message = encoder
            .candidates(&scene.picture(0), &plan(1).with(|plan| plan.targets = vec![target]))
            .unwrap_err()
            .to_string();
        assert!(message.contains("one rate"), "{message}");
    }
    let blank = encoder.offer(Image::blank(SIZE), &plan(1000));
    assert!(matches!(blank, Err(EncodeError::Blank { size: SIZE, .. })));
    let message = H264Encoder::new(Settings { max_quantizer: 52, ..Settings::default() }, SIZE).err().unwrap();
    assert!(message.to_string().contains("max <= 51"), "{message}");
    let huge = H264Encoder::new(Settings::default(), Size::new(4096, 2160)).err().unwrap().to_string();
    assert!(huge.contains("4096x2160") && huge.contains("3840x2160"), "{huge}");
}

#[test]
fn a_screen_is_encoded_too() {
    let (scene, mut decoder) = (scene(), H264Decoder::new().unwrap());
    let mut encoder = H264Encoder::new(Settings { usage: Usage::Screen, ..Settings::default() }, SIZE).unwrap();
    for i in 0..10 {
        let picture = scene.picture(i);
        let made = encoder.candidates(&picture, &plan(1500)).unwrap();
        encoder.commit(Some(0)).unwrap();
        let db = psnr(&picture, &decoder.decode(&made[0].data).unwrap().unwrap());
        assert!((26.0..50.0).contains(&db), "{db}");
    }
}
