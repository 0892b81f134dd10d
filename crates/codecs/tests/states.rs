//! State transitions of the functional codec's frames: kept states, named buffers, and decoders that follow them.

use thalweg_codecs::functional::{FunctionalDecoder, FunctionalEncoder, Settings};
use thalweg_codecs::vp8::{ALTREF, GOLDEN};
use thalweg_codecs::{Candidate, Decoder, EncodeError, Encoder, States};
use thalweg_types::{Basis, Buffers, EncodePlan, StateHash, Target};
use thalweg_units::{Bytes, Size, Span};
use thalweg_video::source::{Format, Scene, SceneConfig};

const SIZE: Size = Size::new(320, 180);
const INTERVAL: Span = Span::from_nanos(33_333_333);

fn scene() -> Scene {
    Scene::new(SceneConfig { format: Format { size: SIZE, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

fn encoder() -> FunctionalEncoder {
    FunctionalEncoder::new(Settings::default()).unwrap()
}

fn plan(basis: Basis) -> EncodePlan {
    EncodePlan::new(vec![Target::Quantizer(50)], SIZE, INTERVAL).with(|plan| plan.basis = basis)
}

/// A plan for a frame that is kept under number `frame`.
fn kept(frame: u64, basis: Basis) -> EncodePlan {
    plan(basis).with(|plan| plan.keep = Some(frame))
}

fn one(encoder: &mut FunctionalEncoder, picture: u64, plan: &EncodePlan) -> Candidate {
    let made = encoder.candidates(&scene().picture(picture), plan).unwrap();
    encoder.commit(Some(0)).unwrap();
    made.into_iter().next().unwrap()
}

/// The picture shown by a receiver of every frame.
fn seen(encoder: &FunctionalEncoder) -> Vec<u8> {
    encoder.state().references().unwrap().last.to_i420()
}

fn source(made: &Candidate) -> StateHash {
    made.frame.transition.unwrap().source
}

fn target(made: &Candidate) -> StateHash {
    made.frame.transition.unwrap().target
}

#[test]
fn a_frame_after_a_kept_one_decodes_on_a_receiver_that_goes_back_to_that() {
    let mut encoder = encoder();
    let mut decoders = [FunctionalDecoder::default(), FunctionalDecoder::default()];
    let frames: Vec<Candidate> = (0..6).map(|i| one(&mut encoder, i, &kept(i, Basis::Latest))).collect();
    for (i, made) in frames.iter().enumerate() {
        assert_eq!(source(made), decoders[0].current());
        decoders[0].decode(&made.data).unwrap();
        decoders[0].keep();
        assert_eq!(target(made), decoders[0].current());
        if i <= 2 {
            // The other decoder misses all frames from 3 on.
            decoders[1].decode(&made.data).unwrap();
        }
    }
    let after = one(&mut encoder, 6, &kept(6, Basis::After(2)));
    assert!(!after.frame.keyframe && source(&after) == target(&frames[2]));
    assert!(decoders[0].load(source(&after)));
    for decoder in &mut decoders {
        let shown = decoder.decode(&after.data).unwrap().unwrap();
        assert_eq!((decoder.current(), shown.data()), (target(&after), &seen(&encoder)[..]));
    }
    // From then on it is the last frame.
    let next = one(&mut encoder, 7, &plan(Basis::Latest));
    assert_eq!(source(&next), target(&after));
    decoders.iter_mut().for_each(|decoder| assert!(decoder.decode(&next.data).unwrap().is_some()));
}

#[test]
fn what_was_not_kept_or_was_forgotten_cannot_be_gone_back_to_and_the_message_says_so() {
    let mut encoder = encoder();
    let picture = scene().picture(3);
    let first = one(&mut encoder, 0, &kept(0, Basis::Latest));
    one(&mut encoder, 1, &plan(Basis::Latest));
    encoder.candidates(&scene().picture(2), &kept(2, Basis::Latest)).unwrap();
    encoder.commit(None).unwrap();
    let state = encoder.state().hash();
    for never in [1, 2, 99] {
        let error = encoder.candidates(&picture, &plan(Basis::After(never))).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, EncodeError::Basis { basis: Basis::After(frame), .. } if frame == never));
        assert!(message.contains(&never.to_string()) && message.contains("kept and not forgotten"), "{message}");
    }
    assert_eq!(
        encoder.candidates(&picture, &plan(Basis::After(0))).unwrap()[0].frame.transition.unwrap().source,
        target(&first)
    );
    encoder.commit(None).unwrap();
    encoder.forget(0);
    encoder.forget(0);
    assert!(encoder.candidates(&picture, &plan(Basis::After(0))).is_err());
    assert!(encoder.commit(Some(0)).is_err(), "what was refused is no candidate");
    assert_eq!(encoder.state().hash(), state, "and leaves no trace");
}

#[test]
fn a_keyframe_leads_to_one_state_from_wherever_a_receiver_is() {
    let keyframe = plan(Basis::Latest).with(|plan| plan.keyframe = true);
    let (mut long, mut short) = (encoder(), encoder());
    let (mut behind, mut ahead) = (FunctionalDecoder::default(), FunctionalDecoder::default());
    for i in 0..5 {
        let made = one(&mut long, i, &plan(Basis::Latest));
        ahead.decode(&made.data).unwrap();
        if i < 2 {
            behind.decode(&made.data).unwrap();
        }
    }
    let made = one(&mut long, 5, &keyframe);
    assert!(made.frame.keyframe);
    assert_eq!(source(&made), FunctionalDecoder::default().current());
    for mut decoder in [FunctionalDecoder::default(), behind, ahead] {
        decoder.decode(&made.data).unwrap();
        assert_eq!((decoder.current(), decoder.state()), (target(&made), long.state()));
    }
    // The encoder's earlier frames do not matter either.
    assert_eq!(one(&mut short, 5, &keyframe).data, made.data);
}

#[test]
fn a_decoder_goes_back_to_what_it_kept_and_to_the_beginning_and_to_nothing_else() {
    let mut encoder = encoder();
    let mut decoder = FunctionalDecoder::default();
    let beginning = decoder.current();
    let frames: Vec<Candidate> = (0..3).map(|i| one(&mut encoder, i, &plan(Basis::Latest))).collect();
    for made in &frames {
        decoder.decode(&made.data).unwrap();
        if made.data != frames[1].data {
            decoder.keep();
        }
    }
    let last = decoder.state().clone();
    assert!(!decoder.load(target(&frames[1])) && !decoder.load(StateHash::UNKNOWN));
    assert_eq!(decoder.state(), &last, "what cannot be done changes nothing");
    assert!(decoder.load(target(&frames[0])) && decoder.current() == target(&frames[0]));
    assert!(decoder.load(beginning) && decoder.decode(&frames[1].data).is_err());
    assert_eq!(decoder.current(), beginning, "nor does a frame that cannot be decoded");
    decoder.forget(target(&frames[2]));
    assert!(!decoder.load(target(&frames[2])) && decoder.load(target(&frames[0])));
}

/// A frame of `picture` that refers to these buffers, and whether the receiver gets it.
struct Step {
    buffers: Option<Buffers>,
    arrives: bool,
}

/// A keyframe, a frame kept in the altref buffer, and losses in between; each frame refers only to frames that arrived.
fn losses() -> Vec<Step> {
    let frame = |last, long_term, kept_in, arrives| Step {
        buffers: Some(Buffers { last, long_term, kept_in, becomes_last: true, sendable: true }),
        arrives,
    };
    let golden = Some((GOLDEN, 0));
    let altref = Some((ALTREF, 5));
    vec![
        Step { buffers: None, arrives: true },
        frame(true, golden, None, true),
        frame(true, golden, None, true),
        // Two are lost; one of them was to be kept.
        frame(true, golden, Some(ALTREF), false),
        frame(true, golden, None, false),
        // Based on the keyframe's picture again, and kept.
        frame(false, golden, Some(ALTREF), true),
        frame(true, golden, None, true),
        frame(true, altref, Some(GOLDEN), false),
        frame(true, altref, None, false),
        frame(true, altref, None, false),
        frame(false, altref, None, true),
        frame(true, altref, None, true),
        frame(true, None, None, true),
    ]
}

/// Plays [`losses`] to a decoder without states; returns how many frames it got.
fn miss_frames(decoder: &mut dyn Decoder) -> usize {
    let mut encoder = encoder();
    let mut got = 0;
    for (picture, Step { buffers, arrives }) in losses().into_iter().enumerate() {
        let plan = plan(buffers.map_or(Basis::Latest, Basis::Buffers));
        let made = one(&mut encoder, picture as u64, &plan);
        assert_eq!(made.frame.keyframe, picture == 0);
        if arrives {
            let shown = decoder.decode(&made.data).unwrap().unwrap();
            assert!(shown.data() == seen(&encoder), "picture {picture} is not what the encoder made");
            got += 1;
        }
    }
    got
}

#[test]
fn frames_in_named_buffers_decode_exactly_on_a_decoder_that_missed_those_in_between() {
    assert_eq!(miss_frames(&mut FunctionalDecoder::default()), 8);
}

#[cfg(feature = "libvpx")]
#[test]
fn and_so_they_do_in_libvpx() {
    assert_eq!(miss_frames(&mut thalweg_codecs::libvpx::Vp8Decoder::new().unwrap()), 8);
}

#[test]
fn a_frame_after_the_last_one_is_wrong_on_a_decoder_that_missed_it() {
    // Proves that the tests above would fail if buffers did not matter.
    let (mut encoder, mut decoder) = (encoder(), FunctionalDecoder::default());
    decoder.decode(&one(&mut encoder, 0, &plan(Basis::Latest)).data).unwrap();
    one(&mut encoder, 1, &plan(Basis::Latest));
    let made = one(&mut encoder, 8, &plan(Basis::Latest));
    let shown = decoder.decode(&made.data).unwrap().unwrap();
    assert!(shown.data() != seen(&encoder) && decoder.current() != target(&made));
}

#[test]
fn candidates_made_on_two_cores_are_those_made_on_one() {
    let targets = [Target::Quantizer(30), Target::Size(Bytes::new(2500)), Target::Quantizer(90)];
    let candidates = |cores| {
        let mut encoder = encoder();
        let mut made = Vec::new();
        for picture in 0..8 {
            let plan = EncodePlan::new(targets.to_vec(), SIZE, INTERVAL).with(|plan| plan.cores = cores);
            let offered = encoder.candidates(&scene().picture(picture), &plan).unwrap();
            encoder.commit(Some(picture as usize % 3)).unwrap();
            made.extend(offered.into_iter().map(|candidate| (candidate.data, candidate.frame)));
        }
        made
    };
    let alone = candidates(1);
    assert_eq!(alone.len(), 24);
    assert!(alone[0].0.len() > alone[2].0.len());
    for cores in [2, 3, 8] {
        assert!(candidates(cores) == alone, "{cores} cores");
    }
}

#[test]
fn a_guessed_quantiser_makes_frames_of_about_the_size() {
    for (size, bytes) in [(SIZE, 4000), (Size::new(640, 360), 3000), (Size::new(640, 360), 20_000)] {
        let format = Format { size, frame_rate: (30, 1) };
        let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
        let mut encoder = encoder();
        let guess = EncodePlan::new(vec![Target::Guess(Bytes::new(bytes))], size, INTERVAL);
        let shares = (0..30).map(|picture| {
            let made = encoder.candidates(&scene.picture(picture), &guess).unwrap();
            encoder.commit(Some(0)).unwrap();
            made[0].frame.size.as_f64() / bytes as f64
        });
        let shares: Vec<f64> = shares.collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let within = shares.iter().filter(|share| (0.5..=2.0).contains(*share)).count();
        println!("{size}, {bytes} bytes: mean {mean:.2}, {within} of 30 within a factor of two");
        // A picture of half the width and height has more than a quarter of the detail, so guesses are rather too
        // coarse than too fine.
        assert!((0.5..1.2).contains(&mean) && within >= 18, "{size}, {bytes} bytes: {shares:.2?}");
        assert!(shares.iter().all(|share| (0.25..=2.0).contains(share)), "{size}, {bytes} bytes: {shares:.2?}");
    }
}

#[test]
fn a_picture_that_is_not_sent_does_not_move_the_guess() {
    let guess = EncodePlan::new(vec![Target::Guess(Bytes::new(3000))], SIZE, INTERVAL);
    let sent = |unsent: bool| {
        let mut encoder = encoder();
        (0..5).for_each(|i| drop(one(&mut encoder, i, &guess)));
        if unsent {
            encoder.candidates(&scene().picture(5), &guess).unwrap();
            encoder.commit(None).unwrap();
        }
        let made = one(&mut encoder, 6, &guess);
        (made.data, made.frame.transition)
    };
    assert!(sent(true) == sent(false));
}

#[cfg(all(feature = "libvpx", feature = "openh264"))]
#[test]
fn codecs_whose_state_is_their_own_refuse_what_only_states_as_values_can_do() {
    use thalweg_codecs::Codec;
    use thalweg_units::Rate;
    let rate = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(300))], SIZE, INTERVAL);
    let after = rate.clone().with(|plan| plan.basis = Basis::After(0));
    let kept = rate.clone().with(|plan| plan.keep = Some(0));
    let buffers = Buffers { last: true, long_term: None, kept_in: None, becomes_last: true, sendable: true };
    let buffers = rate.clone().with(|plan| plan.basis = Basis::Buffers(buffers));
    for (name, names_buffers) in [("vp8", true), ("vp9", true), ("model", true), ("h264", false)] {
        let mut encoder = name.parse::<Codec>().unwrap().build(SIZE).unwrap().encoder;
        let mut refused = vec![&after, &kept];
        refused.extend((!names_buffers).then_some(&buffers));
        for plan in refused {
            let error = encoder.candidates(&scene().picture(0), plan).unwrap_err();
            let message = error.to_string();
            match error {
                EncodeError::Basis { basis, .. } => {
                    assert!(basis == plan.basis && message.contains("the last one sent"), "{message}")
                }
                EncodeError::Keep { frame, .. } => {
                    assert_eq!((plan.keep, plan.basis), (Some(frame), Basis::Latest), "{message}")
                }
                other => panic!("{name}: {other}"),
            }
            assert!(message.contains("functional"), "{message}");
        }
        for plan in [&rate, &buffers].into_iter().take(1 + usize::from(names_buffers)) {
            assert_eq!(encoder.candidates(&scene().picture(0), plan).unwrap().len(), 1, "{name} goes on");
            encoder.commit(Some(0)).unwrap();
        }
    }
}
