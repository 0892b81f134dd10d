//! Sequences of whatever a caller may do.

use crate::scenes::{Random, Scene};
use proptest::prelude::*;
use thalweg_vp8::encode::{Analysis, Coded, EncodeError, Plan, PlanKind, ReferenceSet, Settings, Speed, encode};
use thalweg_vp8::syntax::Partitions;
use thalweg_vp8::syntax::header::ReferenceUpdate;
use thalweg_vp8::{Image, Size, State, decode};

const UPDATES: [ReferenceUpdate; 4] =
    [ReferenceUpdate::Keep, ReferenceUpdate::ThisFrame, ReferenceUpdate::Last, ReferenceUpdate::Other];

/// Any plan of a frame predicted from others.
fn any_inter(random: &mut Random) -> Plan {
    let references = 1 + random.below(7);
    let from = ReferenceSet { last: references & 1 == 1, golden: references & 2 == 2, altref: references & 4 == 4 };
    Plan {
        kind: PlanKind::Inter {
            from,
            refreshes_last: random.below(4) > 0,
            golden: UPDATES[random.below(4)],
            altref: UPDATES[random.below(4)],
        },
        is_shown: random.below(5) > 0,
        keeps_probabilities: random.below(3) > 0,
        quantizer: random.below(128) as u8,
    }
}

fn any_settings(random: &mut Random) -> Settings {
    Settings { speed: Speed::ALL[random.below(3)], partitions: Partitions::ALL[random.below(4)] }
}

/// A sender and what its receiver may have, and what has to be true of each frame.
struct Session {
    random: Random,
    scene: Scene,
    size: Size,
    time: usize,
    /// All states there were.
    states: Vec<State>,
}

impl Session {
    fn image(&mut self) -> Image {
        self.time += 1 + self.random.below(3);
        self.scene.image(self.size, self.time)
    }

    fn check(&self, before: &State, coded: &Coded) {
        let decoded = decode(before, &coded.frame).unwrap();
        assert!(decoded.image == coded.image && decoded.state == coded.state);
        assert_eq!(decoded.state.hash(), coded.state.hash());
    }

    fn step(&mut self) {
        let last = self.states.last().cloned().unwrap_or_default();
        let before = match self.random.below(6) {
            // The receiver is known to have an older state only.
            0 => self.states.get(self.random.below(self.states.len().max(1))).cloned().unwrap_or_default(),
            _ => last,
        };
        if self.random.below(12) == 0 {
            self.size = Size::new(1 + self.random.below(80), 1 + self.random.below(80)).unwrap();
        }
        let image = self.image();
        let settings = any_settings(&mut self.random);
        let is_predictable = before.size() == Some(self.size);
        let plan = any_inter(&mut self.random);
        if !is_predictable {
            let expected = match before.size() {
                None => EncodeError::NoReference,
                Some(state) => EncodeError::Size { image: self.size, state },
            };
            assert_eq!(encode(&before, &image, &plan, &settings).unwrap_err(), expected);
        }
        let plan = if is_predictable { plan } else { Plan::key(self.random.below(128) as u8) };
        let analysis = Analysis::new(&before, &image, &plan, &settings).unwrap();
        let candidates =
            [self.random.below(128), self.random.below(128)].map(|quantizer| analysis.encode(quantizer as u8));
        candidates.iter().for_each(|candidate| self.check(&before, candidate));
        let [first, second] = candidates;
        match self.random.below(4) {
            // Skipped after it was coded.
            0 => {}
            1 => self.states.push(second.state),
            _ => self.states.push(first.state),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_candidate_of_any_sequence_decodes_to_what_the_encoder_says(seed in 1u64..) {
        let mut random = Random(seed);
        let scene = Scene::ALL[random.below(4)];
        let size = Size::new(1 + random.below(100), 1 + random.below(100)).unwrap();
        let mut session = Session { random, scene, size, time: 0, states: Vec::new() };
        (0..12).for_each(|_| session.step());
    }
}

#[test]
fn candidates_on_two_threads_are_those_on_one() {
    let size = Size::new(160, 120).unwrap();
    let settings = Settings::default();
    let key = encode(&State::default(), &Scene::Moving.image(size, 0), &Plan::key(30), &settings).unwrap();
    let image = Scene::Moving.image(size, 1);
    let analysis = Analysis::new(&key.state, &image, &Plan::inter(40), &settings).unwrap();
    let [one, other] = std::thread::scope(|scope| {
        [23, 63]
            .map(|quantizer| {
                scope.spawn({
                    let analysis = &analysis;
                    move || analysis.encode(quantizer)
                })
            })
            .map(|thread| thread.join().unwrap())
    });
    assert_eq!(one.frame, analysis.encode(23).frame);
    assert_eq!(other.frame, analysis.encode(63).frame);
}

#[test]
fn a_frame_predicted_from_an_old_reference_does_without_the_others() {
    let size = Size::new(160, 120).unwrap();
    let settings = Settings::default();
    let image = |time| Scene::Moving.image(size, time);
    let key = encode(&State::default(), &image(0), &Plan::key(30), &settings).unwrap();
    // The receiver's states from here on differ in the last frame; the golden frame all of them have.
    let next = encode(&key.state, &image(1), &Plan::inter(30), &settings).unwrap();
    let plan = Plan {
        kind: PlanKind::Inter {
            from: ReferenceSet::only(thalweg_vp8::syntax::Reference::Golden),
            refreshes_last: true,
            golden: ReferenceUpdate::Keep,
            altref: ReferenceUpdate::Keep,
        },
        ..Plan::inter(30)
    };
    let recovered = encode(&next.state, &image(2), &plan, &settings).unwrap();
    let without_next = decode(&next.state, &recovered.frame).unwrap();
    assert!(without_next.image == recovered.image);
}

#[test]
fn a_frame_predicted_from_nothing_is_refused() {
    let image = Scene::Black.image(Size::new(16, 16).unwrap(), 0);
    let key = encode(&State::default(), &image, &Plan::key(30), &Settings::default()).unwrap();
    let kind = PlanKind::Inter {
        from: ReferenceSet::NONE,
        refreshes_last: true,
        golden: ReferenceUpdate::Keep,
        altref: ReferenceUpdate::Keep,
    };
    let refused = encode(&key.state, &image, &Plan { kind, ..Plan::inter(30) }, &Settings::default());
    assert_eq!(refused.unwrap_err(), EncodeError::NoneOfTheReferences);
}
