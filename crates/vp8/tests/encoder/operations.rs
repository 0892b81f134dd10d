//! Random sequences of operations of a caller.

use super::outside::{Emitted, Stream, all, in_process, show_what_the_encoder_says};
use super::scenes::{Random, Scene};
use std::sync::Arc;

use proptest::prelude::*;
use thalweg_vp8::encode::{Analysis, Coded, EncodeError, Plan, PlanKind, ReferenceSet, Settings, Speed, encode};
use thalweg_vp8::syntax::Partitions;
use thalweg_vp8::syntax::header::ReferenceUpdate;
use thalweg_vp8::{Image, Size, State, decode};

const UPDATES: [ReferenceUpdate; 4] =
    [ReferenceUpdate::Keep, ReferenceUpdate::ThisFrame, ReferenceUpdate::Last, ReferenceUpdate::Other];

/// Any plan of an inter frame.
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
        fit: None,
    }
}

fn any_settings(random: &mut Random) -> Settings {
    Settings { speed: Speed::ALL[random.below(3)], partitions: Partitions::ALL[random.below(4)] }
}

/// An encoded frame, the state after it, and its predecessor.
struct Node {
    /// The index of the frame that it was coded after; `None` for a key frame at the start of a stream.
    before: Option<usize>,
    emitted: Arc<Emitted>,
    state: State,
}

/// A sender with the possible states of its receiver, and the checks of each frame.
struct Session {
    random: Random,
    scene: Scene,
    size: Size,
    time: usize,
    /// All frames, including those not chosen: a tree, of which a receiver sees one path.
    nodes: Vec<Node>,
    /// The indices of the frames whose states the sender may continue from.
    chosen: Vec<usize>,
}

impl Session {
    /// A dozen operations from a seed.
    fn of(seed: u64) -> Session {
        let mut random = Random(seed);
        let scene = Scene::ALL[random.below(4)];
        let size = Size::new(1 + random.below(100), 1 + random.below(100)).unwrap();
        let mut session = Session { random, scene, size, time: 0, nodes: Vec::new(), chosen: Vec::new() };
        (0..12).for_each(|_| session.step());
        session
    }

    fn image(&mut self) -> Image {
        self.time += 1 + self.random.below(3);
        self.scene.image(self.size, self.time)
    }

    /// Checks a frame and keeps it.
    fn keep(&mut self, before: Option<usize>, coded: &Coded) -> usize {
        let decoded = decode(&self.state(before), &coded.frame).unwrap();
        assert!(decoded.image == coded.image && decoded.state == coded.state);
        assert_eq!(decoded.state.hash(), coded.state.hash());
        self.nodes.push(Node { before, emitted: Arc::new(Emitted::from(coded)), state: coded.state.clone() });
        self.nodes.len() - 1
    }

    fn state(&self, node: Option<usize>) -> State {
        node.map(|node| self.nodes[node].state.clone()).unwrap_or_default()
    }

    /// The frame that the next one continues from.
    fn before(&mut self) -> Option<usize> {
        match self.random.below(6) {
            // The frames since then were lost, and the receiver is known to have only an older state.
            0 if !self.chosen.is_empty() => Some(self.chosen[self.random.below(self.chosen.len())]),
            _ => self.chosen.last().copied(),
        }
    }

    fn step(&mut self) {
        let place = self.before();
        let before = self.state(place);
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
        let [first, second] = candidates.map(|candidate| self.keep(place, &candidate));
        match self.random.below(4) {
            // Skipped after it was coded.
            0 => {}
            1 => self.chosen.push(second),
            _ => self.chosen.push(first),
        }
    }

    /// Every path through the tree to a leaf: together all frames, each as seen by a receiver that got the frames
    /// leading to it.
    fn streams(&self) -> Vec<Stream> {
        let is_last = |place: &usize| self.nodes.iter().all(|node| node.before != Some(*place));
        let path = |end: usize| {
            let mut places: Vec<_> = std::iter::successors(Some(end), |&place| self.nodes[place].before).collect();
            places.reverse();
            let frames = places.iter().map(|&place| Arc::clone(&self.nodes[place].emitted)).collect();
            Stream { name: format!("the path {places:?}"), frames }
        };
        (0..self.nodes.len()).filter(is_last).map(path).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_candidate_of_any_sequence_is_shown_as_the_encoder_says(seed in 1u64..) {
        show_what_the_encoder_says(&in_process(), &Session::of(seed).streams());
    }
}

#[test]
fn every_decoder_shows_some_sequences_as_the_encoder_says() {
    // Each stream begins with a key frame, so a decoder in a separate process is started only once.
    let streams: Vec<_> = (1..=40).flat_map(|seed| Session::of(seed << 40 | 0x1234).streams()).collect();
    let frames = || streams.iter().flat_map(|stream| &stream.frames);
    assert!(frames().any(|emitted| !emitted.is_shown));
    assert!(streams.iter().any(|stream| stream.frames.iter().any(|emitted| emitted.size != stream.frames[0].size)));
    show_what_the_encoder_says(&all(), &streams);
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
    // From here on the receiver's states differ in the last frame; all of them have the golden frame.
    let fragile = Plan { keeps_probabilities: false, ..Plan::inter(30) };
    let next = encode(&key.state, &image(1), &fragile, &settings).unwrap();
    let plan = Plan {
        kind: PlanKind::Inter {
            from: ReferenceSet { golden: true, ..ReferenceSet::NONE },
            refreshes_last: true,
            golden: ReferenceUpdate::Keep,
            altref: ReferenceUpdate::Keep,
        },
        ..Plan::inter(30)
    };
    let recovered = encode(&next.state, &image(2), &plan, &settings).unwrap();
    let without_next = decode(&key.state, &recovered.frame).unwrap();
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
