//! The encoder's frames decode to the pictures that it reports, in every available decoder.

mod decoders;
mod footage;
mod operations;
pub mod outside;
mod scenes;
mod sizes;

use outside::Emitted;
use scenes::Scene;
use thalweg_vp8::encode::{Plan, Settings, Speed, encode};
use thalweg_vp8::syntax::Partitions;
use thalweg_vp8::{Size, State, decode};

fn size(width: usize, height: usize) -> Size {
    Size::new(width, height).unwrap()
}

/// Settings of each speed.
fn presets() -> [Settings; 3] {
    Speed::ALL.map(|speed| Settings { speed, ..Settings::default() })
}

/// Encodes some pictures and checks that our decoder shows the pictures that the encoder reports.
fn check(scene: Scene, size: Size, quantizer: u8, settings: &Settings, frames: usize) -> Vec<Emitted> {
    let mut state = State::default();
    (0..frames)
        .map(|time| {
            let plan = if time == 0 { Plan::key(quantizer) } else { Plan::inter(quantizer) };
            let coded = encode(&state, &scene.image(size, time), &plan, settings).unwrap();
            let decoded = decode(&state, &coded.frame).unwrap();
            let name = || format!("{scene:?} {size} {settings:?} quantiser {quantizer}, frame {time}");
            assert!(decoded.image == coded.image, "{}", name());
            assert!(decoded.state == coded.state, "{}", name());
            let emitted = Emitted::from(&coded);
            state = coded.state;
            emitted
        })
        .collect()
}

#[test]
fn every_speed_scene_and_size_decodes_to_what_the_encoder_says() {
    for settings in presets() {
        for scene in Scene::ALL {
            for size in [size(1, 1), size(16, 16), size(17, 33), size(65, 40), size(175, 143)] {
                check(scene, size, 40, &settings, 4);
            }
        }
    }
}

#[test]
fn any_number_of_partitions_says_the_same() {
    let pictures = |partitions| {
        let settings = Settings { partitions, ..Settings::default() };
        check(Scene::Moving, size(100, 200), 30, &settings, 3)
            .into_iter()
            .map(|emitted| emitted.picture)
            .collect::<Vec<_>>()
    };
    for partitions in Partitions::ALL {
        assert_eq!(pictures(partitions), pictures(Partitions::One));
    }
}

#[test]
fn the_same_image_from_the_same_state_is_the_same_frame() {
    let all = || check(Scene::Moving, size(120, 90), 33, &Settings::default(), 5);
    assert_eq!(all(), all());
}

#[test]
fn a_finer_quantizer_is_nearer_and_larger() {
    let picture = Scene::Moving.image(size(176, 144), 0);
    let mut last = (usize::MAX, 0.0);
    for quantizer in [4, 20, 50, 90, 127] {
        let coded = encode(&State::default(), &picture, &Plan::key(quantizer), &Settings::default()).unwrap();
        let pairs = picture.to_i420().into_iter().zip(coded.image.to_i420());
        let error: f64 = pairs.map(|(a, b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
        assert!(coded.frame.len() < last.0 && error > last.1, "quantiser {quantizer}");
        last = (coded.frame.len(), error);
    }
}

#[test]
fn what_stands_still_costs_little() {
    let picture = Scene::Moving.image(size(640, 360), 0);
    let key = encode(&State::default(), &picture, &Plan::key(40), &Settings::default()).unwrap();
    let again = encode(&key.state, &picture, &Plan::inter(40), &Settings::default()).unwrap();
    assert!(again.frame.len() * 5 < key.frame.len(), "{} bytes after {}", again.frame.len(), key.frame.len());
}
