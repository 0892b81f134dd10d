//! Frames of a given size.

use super::scenes::{Random, Scene};
use super::size;
use thalweg_vp8::encode::{Analysis, Plan, Settings, encode};
use thalweg_vp8::{State, decode};

#[test]
fn a_frame_is_at_most_as_long_as_asked_for_and_near_to_it() {
    let (size, settings) = (size(320, 240), Settings::default());
    let mut random = Random(7);
    for scene in [Scene::Moving, Scene::Noise, Scene::Extremes] {
        let mut state = State::default();
        let (mut used, mut frames) = (0.0, 0);
        for time in 0..25 {
            let target = 300 + random.below(9_000);
            let plan = if time == 0 { Plan::key(60) } else { Plan::inter(60) };
            let image = scene.image(size, time);
            let coded = Analysis::new(&state, &image, &plan, &settings).unwrap().encode_to_size(target);
            let decoded = decode(&state, &coded.frame).unwrap();
            assert!(decoded.image == coded.image && decoded.state == coded.state, "{scene:?}, frame {time}");
            if time > 0 {
                assert!(coded.frame.len() <= target, "{scene:?}, frame {time}: {} of {target}", coded.frame.len());
                // No quantiser between the coarsest and skipping all levels would fit.
                if (1..127).contains(&coded.quantizer) {
                    (used, frames) = (used + coded.frame.len() as f64 / target as f64, frames + 1);
                }
            }
            state = coded.state;
        }
        assert!(frames == 0 || used / f64::from(frames) > 0.85, "{scene:?}: {used} of {frames}");
    }
}

#[test]
fn what_cannot_be_made_so_small_is_as_small_as_it_gets_but_no_key_frame_is_without_levels() {
    let image = Scene::Noise.image(size(640, 480), 0);
    let key =
        Analysis::new(&State::default(), &image, &Plan::key(60), &Settings::default()).unwrap().encode_to_size(10);
    let coarsest = encode(&State::default(), &image, &Plan::key(127), &Settings::default()).unwrap();
    assert_eq!(key.frame, coarsest.frame);
    let other = Scene::Noise.image(size(640, 480), 1);
    let analysis = Analysis::new(&coarsest.state, &other, &Plan::inter(60), &Settings::default()).unwrap();
    let bare = analysis.encode_to_size(10);
    assert!(bare.frame.len() < 100, "{} bytes", bare.frame.len());
    assert!(decode(&coarsest.state, &bare.frame).unwrap().state == bare.state);
}

#[test]
fn frames_too_small_for_a_whole_picture_make_it_right_one_after_the_other() {
    let (size, settings) = (size(320, 240), Settings::default());
    let start = encode(&State::default(), &Scene::Moving.image(size, 0), &Plan::key(127), &settings).unwrap();
    let image = Scene::Noise.image(size, 3);
    let whole = encode(&start.state, &image, &Plan::inter(127), &settings).unwrap();
    let target = whole.frame.len() / 5;
    let error = |coded: &thalweg_vp8::Image| -> u64 {
        let (ours, theirs) = (coded.to_i420(), image.to_i420());
        ours.iter().zip(&theirs).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum()
    };
    let (mut state, mut errors) = (start.state, vec![error(&start.image)]);
    for _ in 0..12 {
        let coded = Analysis::new(&state, &image, &Plan::inter(127), &settings).unwrap().encode_to_size(target);
        assert!(coded.frame.len() <= target);
        assert!(decode(&state, &coded.frame).unwrap().state == coded.state);
        errors.push(error(&coded.image));
        state = coded.state;
    }
    let (first, last, possible) = (errors[0], errors[12], error(&whole.image));
    assert!(last < first / 2 && last < possible * 3 / 2, "{errors:?}, in one frame {possible}");
}

/// After a cut, or a grey picture, nearly every macroblock has a mode of its own: the modes alone are longer than this.
#[test]
fn a_picture_unlike_the_last_comes_out_too_where_not_even_its_modes_fit() {
    let (size, settings) = (size(640, 480), Settings::default());
    let image = Scene::Moving.image(size, 3);
    let grey = thalweg_vp8::Image::filled(size, 128, 128, 128);
    let start = encode(&State::default(), &grey, &Plan::key(127), &settings).unwrap();
    let error = |coded: &thalweg_vp8::Image| -> u64 {
        let (ours, theirs) = (coded.to_i420(), image.to_i420());
        ours.iter().zip(&theirs).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum()
    };
    let (mut state, mut errors) = (start.state, vec![error(&start.image)]);
    for _ in 0..40 {
        let coded = Analysis::new(&state, &image, &Plan::inter(127), &settings).unwrap().encode_to_size(300);
        assert!(coded.frame.len() <= 300, "{}", coded.frame.len());
        assert!(decode(&state, &coded.frame).unwrap().state == coded.state);
        errors.push(error(&coded.image));
        state = coded.state;
    }
    assert!(errors[40] < errors[0] / 3, "{errors:?}");
}

#[test]
fn of_frames_of_about_a_size_none_is_far_too_large() {
    let (size, settings) = (size(320, 240), Settings::default());
    let mut random = Random(3);
    // Moving content: no estimate fits noise.
    let scene = Scene::Moving;
    let mut state = encode(&State::default(), &scene.image(size, 0), &Plan::key(60), &settings).unwrap().state;
    let mut quantizer = 60;
    for time in 1..40 {
        let target = 300 + random.below(9_000);
        let image = scene.image(size, time);
        let analysis = Analysis::new(&state, &image, &Plan::inter(quantizer), &settings).unwrap();
        let coded = analysis.encode_about(target, 4);
        let length = coded.frame.len();
        assert!(coded.quantizer >= 4);
        let is_bound = coded.quantizer == 127 || length <= analysis.encode(127).frame.len() * 2;
        assert!(length * 2 <= target * 3 || is_bound, "{time}: {length} of {target}");
        (state, quantizer) = (coded.state, coded.quantizer);
    }
}
