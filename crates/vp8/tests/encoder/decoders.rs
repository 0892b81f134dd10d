//! Other decoders show the pictures that the encoder reports: each test is one kind of stream.

use super::outside::{Emitted, Stream, all, show_what_the_encoder_says};
use super::scenes::{Random, Scene};
use super::{check, footage, presets, size};
use thalweg_vp8::encode::{Analysis, Coded, Plan, PlanKind, ReferenceSet, Settings, encode};
use thalweg_vp8::syntax::header::ReferenceUpdate;
use thalweg_vp8::syntax::{Frame, FrameKind, Reference};
use thalweg_vp8::{Image, State, decode};

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

#[test]
fn every_preset_scene_and_odd_size_is_shown_as_the_encoder_says() {
    let mut streams = Vec::new();
    for settings in presets() {
        for scene in Scene::ALL {
            for (size, quantizer) in
                [(size(176, 144), 4), (size(175, 143), 40), (size(33, 17), 127), (size(97, 161), 70), (size(1, 1), 20)]
            {
                let name = format!("{settings:?} {scene:?} {size} quantiser {quantizer}");
                streams.push(Stream::new(name, check(scene, size, quantizer, &settings, 6)));
            }
        }
    }
    show_what_the_encoder_says(&all(), &streams);
}

#[test]
fn every_quantizer_is_shown_as_the_encoder_says() {
    let mut streams = Vec::new();
    for quantizer in 0..128 {
        for scene in Scene::ALL {
            let emitted = check(scene, size(49, 35), quantizer, &Settings::default(), 3);
            streams.push(Stream::new(format!("{scene:?} quantiser {quantizer}"), emitted));
        }
    }
    show_what_the_encoder_says(&all(), &streams);
}

#[test]
fn the_built_in_scene_is_shown_as_the_encoder_says_at_every_preset() {
    let pictures = footage::built_in_scene(size(320, 180), 10);
    let streams: Vec<_> = presets()
        .into_iter()
        .flat_map(|settings| [10, 50, 110].map(|quantizer| (settings, quantizer)))
        .map(|(settings, quantizer)| {
            in_order(format!("{settings:?} quantiser {quantizer}"), &pictures, quantizer, &settings)
        })
        .collect();
    show_what_the_encoder_says(&all(), &streams);
}

#[test]
fn frames_of_a_size_are_shown_as_the_encoder_says() {
    let mut streams = Vec::new();
    for scene in [Scene::Moving, Scene::Noise, Scene::Extremes] {
        let (mut state, mut random, mut emitted) = (State::default(), Random(11), Vec::new());
        for time in 0..12 {
            let plan = if time == 0 { Plan::key(50) } else { Plan::inter(50) };
            let image = scene.image(size(160, 130), time);
            let analysis = Analysis::new(&state, &image, &plan, &Settings::default()).unwrap();
            // From no space at all, through space for the most important macroblocks, to space for everything.
            let coded = analysis.encode_to_size([30, 400, 2_000, 20_000][random.below(4)]);
            emitted.push(Emitted::from(&coded));
            state = coded.state;
        }
        streams.push(Stream::new(format!("{scene:?}"), emitted));
    }
    show_what_the_encoder_says(&all(), &streams);
}

/// Two candidates of each picture, of which one or none is chosen: the stream that a standard receiver gets.
fn late_choices(pictures: impl Iterator<Item = Image>, settings: &Settings, random: &mut Random) -> Vec<Emitted> {
    let mut state = State::default();
    let mut emitted = Vec::new();
    for image in pictures {
        let is_first = emitted.is_empty();
        let plan = if is_first { Plan::key(40) } else { Plan::inter(40) };
        let analysis = Analysis::new(&state, &image, &plan, settings).unwrap();
        let candidates = [23, 63].map(|quantizer| analysis.encode(quantizer));
        let chosen = candidates.into_iter().nth(random.below(3));
        // The third choice is to skip the picture: its candidates are discarded.
        if let Some(chosen) = chosen {
            emitted.push(Emitted::from(&chosen));
            state = chosen.state;
        }
    }
    emitted
}

#[test]
fn after_late_choices_and_skips_the_rest_is_shown_as_the_encoder_says() {
    let mut random = Random(5);
    let mut streams = Vec::new();
    for settings in presets() {
        for scene in Scene::ALL {
            let pictures = (0..16).map(|time| scene.image(size(120, 90), time));
            let emitted = late_choices(pictures, &settings, &mut random);
            assert!((4..16).contains(&emitted.len()), "{} frames of 16 pictures", emitted.len());
            streams.push(Stream::new(format!("{settings:?} {scene:?}"), emitted));
        }
    }
    show_what_the_encoder_says(&all(), &streams);
}

/// A frame that uses one reference only, with its reference updates.
fn only_from(reference: Reference, golden: ReferenceUpdate, refreshes_last: bool) -> Plan {
    let is = |other| reference == other;
    let from = ReferenceSet { last: is(Reference::Last), golden: is(Reference::Golden), altref: is(Reference::Altref) };
    Plan { kind: PlanKind::Inter { from, refreshes_last, golden, altref: ReferenceUpdate::Keep }, ..Plan::inter(40) }
}

#[test]
fn a_receiver_that_lost_frames_is_shown_what_is_made_from_its_golden_frame() {
    let (size, settings) = (size(160, 120), Settings::default());
    let image = |time| Scene::Moving.image(size, time);
    let mut received = Vec::new();
    let mut send = |coded: &Coded, is_lost: bool| {
        if !is_lost {
            received.push(Emitted::from(coded));
        }
    };
    let key = encode(&State::default(), &image(0), &Plan::key(30), &settings).unwrap();
    send(&key, false);
    let golden = only_from(Reference::Last, ReferenceUpdate::ThisFrame, true);
    let mut acknowledged = encode(&key.state, &image(1), &golden, &settings).unwrap();
    send(&acknowledged, false);
    for round in 0..5 {
        // The changes of probabilities in frames that may be lost do not apply to later frames.
        let fragile = Plan { keeps_probabilities: false, ..Plan::inter(35) };
        let mut state = acknowledged.state.clone();
        for time in 0..3 {
            let coded = encode(&state, &image(2 + round * 4 + time), &fragile, &settings).unwrap();
            send(&coded, time >= round % 3);
            state = coded.state;
        }
        // From the state that contains the lost frames, but not predicted from them.
        let recovery = only_from(Reference::Golden, ReferenceUpdate::ThisFrame, true);
        acknowledged = encode(&state, &image(5 + round * 4), &recovery, &settings).unwrap();
        send(&acknowledged, false);
    }
    assert_eq!(received.len(), 2 + 5 + 4);
    show_what_the_encoder_says(&all(), &[Stream::new("with losses".into(), received)]);
}

#[test]
fn what_is_predicted_from_hidden_frames_is_shown_as_the_encoder_says() {
    let (size, settings) = (size(150, 110), Settings::default());
    let mut state = State::default();
    let mut emitted = Vec::new();
    for time in 0..12 {
        let plan = match time % 4 {
            _ if time == 0 => Plan::key(40),
            // Only the altref frame contains it.
            1 => {
                let kind = PlanKind::Inter {
                    from: ReferenceSet::ALL,
                    refreshes_last: false,
                    golden: ReferenceUpdate::Keep,
                    altref: ReferenceUpdate::ThisFrame,
                };
                Plan { kind, is_shown: false, ..Plan::inter(15) }
            }
            2 => only_from(Reference::Altref, ReferenceUpdate::Other, true),
            _ => Plan::inter(50),
        };
        let coded = encode(&state, &Scene::Moving.image(size, time), &plan, &settings).unwrap();
        emitted.push(Emitted::from(&coded));
        state = coded.state;
    }
    assert_eq!(emitted.iter().filter(|emitted| !emitted.is_shown).count(), 3);
    show_what_the_encoder_says(&all(), &[Stream::new("with hidden frames".into(), emitted)]);
}

#[test]
fn every_pair_of_what_golden_and_altref_become_is_shown_as_the_encoder_says() {
    use ReferenceUpdate::{Keep, Last, Other, ThisFrame};
    let (size, settings) = (size(96, 80), Settings::default());
    let image = |time| Scene::Moving.image(size, time);
    const PAIR: usize = 4;
    let mut streams = Vec::new();
    for golden in [Keep, ThisFrame, Last, Other] {
        for altref in [Keep, ThisFrame, Last, Other] {
            let updates = |golden, altref| {
                let kind = PlanKind::Inter { from: ReferenceSet::ALL, refreshes_last: true, golden, altref };
                Plan { kind, ..Plan::inter(40) }
            };
            // Three different references, the ambiguous pair, and the picture of each reference afterwards.
            let plans = [
                Plan::key(40),
                updates(ThisFrame, Keep),
                updates(Keep, ThisFrame),
                updates(Keep, Keep),
                updates(golden, altref),
                only_from(Reference::Golden, Keep, true),
                only_from(Reference::Altref, Keep, true),
            ];
            let (mut state, mut emitted) = (State::default(), Vec::new());
            for (time, plan) in plans.iter().enumerate() {
                let coded = encode(&state, &image(time), plan, &settings).unwrap();
                if time == PAIR {
                    // For our decoder the pair as the plan gives it has the same result.
                    let mut frame = Frame::read(&state, &coded.frame).unwrap();
                    let FrameKind::Inter(header) = &mut frame.header.kind else { panic!("not a key frame") };
                    (header.golden, header.altref) = (golden, altref);
                    assert!(decode(&state, &frame.write(&state).unwrap()).unwrap().state == coded.state);
                }
                emitted.push(Emitted::from(&coded));
                state = coded.state;
            }
            streams.push(Stream::new(format!("golden {golden:?}, altref {altref:?}"), emitted));
        }
    }
    show_what_the_encoder_says(&all(), &streams);
}

#[test]
fn another_picture_than_the_encoder_says_is_noticed() {
    for decoder in all() {
        let mut emitted = check(Scene::Moving, size(40, 30), 40, &Settings::default(), 3);
        emitted[1].picture[777] ^= 1;
        let streams = [Stream::new("wrong".into(), emitted)];
        let decoders = [decoder];
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            show_what_the_encoder_says(&decoders, &streams);
        }));
        assert!(found.is_err(), "{}", decoders[0].name());
    }
}
