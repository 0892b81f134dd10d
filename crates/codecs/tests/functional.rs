//! The functional codec through the codec interface.

use thalweg_codecs::functional::{FunctionalDecoder, FunctionalEncoder, Settings};
use thalweg_codecs::{Candidate, Decoder, EncodeError, Encoder, Image};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Bytes, Rate, Size, Span};
use thalweg_video::quality::psnr;
use thalweg_video::source::{Format, Scene, SceneConfig};

const SIZE: Size = Size::new(640, 360);
const INTERVAL: Span = Span::from_nanos(33_333_333);

fn scene() -> Scene {
    Scene::new(SceneConfig { format: Format { size: SIZE, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

fn plan(targets: &[Target]) -> EncodePlan {
    EncodePlan::new(targets.to_vec(), SIZE, INTERVAL)
}

fn rate(kbps: u64) -> EncodePlan {
    plan(&[Target::Rate(Rate::from_kbps(kbps))])
}

fn encoder() -> FunctionalEncoder {
    FunctionalEncoder::new(Settings::default()).unwrap()
}

fn one(encoder: &mut FunctionalEncoder, picture: u64, plan: &EncodePlan) -> Candidate {
    let made = encoder.candidates(&scene().picture(picture), plan).unwrap();
    assert_eq!(made.len(), 1);
    encoder.commit(Some(0)).unwrap();
    made.into_iter().next().unwrap()
}

#[test]
fn what_is_encoded_decodes_to_something_like_the_source_at_the_rate_asked_for() {
    for (kbps, low, high) in [(500, 28.0, 40.0), (1500, 32.0, 46.0)] {
        let (mut encoder, mut decoder) = (encoder(), FunctionalDecoder::default());
        let (mut total, mut bits) = (0.0, 0);
        for i in 0..90 {
            let made = one(&mut encoder, i, &rate(kbps));
            assert_eq!(made.frame.keyframe, i == 0);
            assert_eq!(made.frame.size.get(), made.data.len() as u64);
            let decoded = decoder.decode(&made.data).unwrap().unwrap();
            total += psnr(&scene().picture(i), &decoded);
            bits += made.frame.size.bits();
        }
        let (db, made) = (total / 90.0, bits as f64 / 3000.0);
        println!("{kbps} kbps asked for: {made:.0} kbps, {db:.2} dB");
        assert!((low..high).contains(&db), "{db} dB at {kbps} kbps");
        assert!((0.8..1.05).contains(&(made / kbps as f64)), "{made} kbps for {kbps}");
        assert_eq!(encoder.state(), decoder.state());
    }
}

#[test]
fn the_rate_follows_a_target_from_one_frame_to_the_next() {
    let mut encoder = encoder();
    (0..30).for_each(|i| drop(one(&mut encoder, i, &rate(2000))));
    let share = |kbps: u64| Rate::from_kbps(kbps).over(INTERVAL).as_f64();
    let after = one(&mut encoder, 30, &rate(400)).frame.size.as_f64();
    assert!(after < 2.0 * share(400), "{after} bytes, of {} a frame", share(400));
    (31..40).for_each(|i| drop(one(&mut encoder, i, &rate(400))));
    let after = one(&mut encoder, 40, &rate(2000)).frame.size.as_f64();
    assert!((0.7..1.4).contains(&(after / share(2000))), "{after} bytes, of {} a frame", share(2000));
}

#[test]
fn any_candidate_can_be_sent_and_none_without_a_trace() {
    let (mut encoder, mut decoder) = (encoder(), FunctionalDecoder::default());
    decoder.decode(&one(&mut encoder, 0, &plan(&[Target::Quantizer(30)])).data).unwrap();
    let sizes = plan(&[Target::Size(Bytes::new(2_000)), Target::Size(Bytes::new(6_000)), Target::Quantizer(20)]);
    for i in 1..12 {
        let before = encoder.state().hash();
        let made = encoder.candidates(&scene().picture(i), &sizes).unwrap();
        assert_eq!(made.len(), 3);
        assert!(made[0].data.len() <= 2_000 && made[1].data.len() <= 6_000 && !made[2].frame.keyframe);
        let choice = [Some(0), Some(1), Some(2), None][i as usize % 4];
        encoder.commit(choice).unwrap();
        match choice {
            None => assert_eq!(encoder.state().hash(), before),
            Some(index) => {
                let decoded = decoder.decode(&made[index].data).unwrap().unwrap();
                assert!(psnr(&scene().picture(i), &decoded) > 25.0);
            }
        }
        assert_eq!(encoder.state(), decoder.state());
    }
}

#[test]
fn a_change_of_size_is_a_keyframe() {
    let (mut encoder, mut decoder) = (encoder(), FunctionalDecoder::default());
    one(&mut encoder, 0, &rate(800));
    let smaller = rate(800).with(|plan| plan.size = Size::new(320, 180));
    let made = one(&mut encoder, 1, &smaller);
    assert!(made.frame.keyframe);
    assert_eq!(decoder.decode(&made.data).unwrap().unwrap().size(), Size::new(320, 180));
}

#[test]
fn where_even_the_coarsest_frames_are_too_large_pictures_are_dropped_if_they_may_be() {
    let mut encoder = encoder();
    let tight = rate(5).with(|plan| plan.may_drop = true);
    let dropped = (0..60).filter(|&i| {
        let made = encoder.candidates(&scene().picture(i), &tight).unwrap();
        encoder.commit((!made.is_empty()).then_some(0)).unwrap();
        made.is_empty()
    });
    assert!((1..60).contains(&dropped.count()));
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    let refused = |settings: Settings| FunctionalEncoder::new(settings).unwrap_err().to_string();
    let message = refused(Settings { min_quantizer: 128, ..Settings::default() });
    assert!(message.contains("128") && message.contains("0 to 127"), "{message}");
    assert!(refused(Settings { rate_window: Span::ZERO, ..Settings::default() }).contains("200ms"));
    assert!(refused(Settings { keyframe_percent: 50, ..Settings::default() }).contains("100 % or more"));
    assert!(matches!(encoder().offer(Image::blank(SIZE), &rate(500)), Err(EncodeError::Blank { .. })));
    assert!(matches!(encoder().commit(Some(0)), Err(EncodeError::Choice { choice: 0, candidates: 0 })));
}
