//! VP9 by libvpx through the codec interface.

use thalweg_codecs::libvpx::{Vp9Decoder, Vp9Encoder, Vp9Settings};
use thalweg_codecs::{Candidate, Decoder, Encoder};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Size, Span};
use thalweg_video::quality::psnr;
use thalweg_video::source::{Format, Scene, SceneConfig};

const SIZE: Size = Size::new(640, 360);
const INTERVAL: Span = Span::from_nanos(33_333_333);

fn scene() -> Scene {
    Scene::new(SceneConfig { format: Format { size: SIZE, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

fn plan(kbps: u64) -> EncodePlan {
    EncodePlan::new(vec![Target::Rate(Rate::from_kbps(kbps))], SIZE, INTERVAL)
}

fn one(encoder: &mut Vp9Encoder, picture: u64, plan: &EncodePlan) -> Candidate {
    let made = encoder.candidates(&scene().picture(picture), plan).unwrap().remove(0);
    encoder.commit(Some(0)).unwrap();
    made
}

#[test]
fn what_is_encoded_decodes_to_something_like_the_source_at_about_the_rate() {
    let mut encoder = Vp9Encoder::new(Vp9Settings::default(), SIZE).unwrap();
    let mut decoder = Vp9Decoder::new().unwrap();
    let (mut db, mut bits) = (0.0, 0);
    for number in 0..90 {
        let made = one(&mut encoder, number, &plan(1000));
        assert_eq!(made.frame.keyframe, number == 0);
        let decoded = decoder.decode(&made.data).unwrap().unwrap();
        db += psnr(&scene().picture(number), &decoded) / 90.0;
        bits += made.frame.size.bits();
    }
    let kbps = bits as f64 / 3000.0;
    assert!((30.0..50.0).contains(&db), "{db} dB");
    assert!((700.0..1400.0).contains(&kbps), "{kbps} kbps");
}

#[test]
fn the_same_pictures_give_the_same_bytes() {
    let run = || {
        let mut encoder = Vp9Encoder::new(Vp9Settings::default(), SIZE).unwrap();
        (0..15).map(|number| one(&mut encoder, number, &plan(500 + 50 * number)).data).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_size_changes_with_a_keyframe() {
    let mut encoder = Vp9Encoder::new(Vp9Settings::default(), SIZE).unwrap();
    let mut decoder = Vp9Decoder::new().unwrap();
    for (number, height) in [(0, 360), (1, 180), (2, 180), (3, 270), (4, 360)] {
        let size = SIZE.scale(f64::from(height) / 360.0);
        let made = one(&mut encoder, number, &plan(2000).with(|plan| plan.size = size));
        assert_eq!(made.frame.keyframe, number != 2);
        assert_eq!(decoder.decode(&made.data).unwrap().unwrap().size(), size);
    }
}

#[test]
fn damage_is_an_error_or_a_picture_and_never_a_panic() {
    let mut encoder = Vp9Encoder::new(Vp9Settings::default(), SIZE).unwrap();
    let keyframe = one(&mut encoder, 0, &plan(1000)).data;
    let next = one(&mut encoder, 1, &plan(1000)).data;
    assert!(!matches!(Vp9Decoder::new().unwrap().decode(&next), Ok(Some(_))));
    assert!(Vp9Decoder::new().unwrap().decode(&[]).is_err());
    for cut in (1..keyframe.len()).step_by(331) {
        let mut damaged = keyframe[..cut].to_vec();
        damaged[cut / 2] ^= 0x55;
        let _ = Vp9Decoder::new().unwrap().decode(&damaged);
    }
}

#[test]
fn a_keyframe_that_says_it_is_enormous_is_refused_before_memory_is_taken() {
    let mut encoder = Vp9Encoder::new(Vp9Settings::default(), SIZE).unwrap();
    let mut keyframe = one(&mut encoder, 0, &plan(1000)).data.to_vec();
    // After marker, sync code and colour (VP9 bitstream section 6.2): width minus one in 16 bits from bit 36 on, then
    // the height.
    for bit in 36..68 {
        keyframe[bit / 8] |= 0x80 >> (bit % 8);
    }
    let message = Vp9Decoder::new().unwrap().decode(&keyframe).unwrap_err().to_string();
    assert!(message.contains("65536x65536") && message.contains("16383"), "{message}");
}

#[test]
fn settings_out_of_range_are_refused_with_the_range() {
    let refused = |settings| Vp9Encoder::new(settings, SIZE).err().unwrap().to_string();
    let message = refused(Vp9Settings { cpu_used: 2, ..Vp9Settings::default() });
    assert!(message.contains("5 to 9"), "{message}");
    let message = refused(Vp9Settings { aq_mode: 1, ..Vp9Settings::default() });
    assert!(message.contains("cyclic"), "{message}");
    let message = refused(Vp9Settings { min_quantizer: 60, ..Vp9Settings::default() });
    assert!(message.contains("quantisers is 60 to 52"), "{message}");
}
