//! Encoder and decoder of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thalweg_codecs::functional::{FunctionalDecoder, FunctionalEncoder};
use thalweg_codecs::{Candidate, Codec, Decoder, Encoder, Image};
use thalweg_receiver::{Moves, Ready};
use thalweg_sender::frames::{EncodePlan, EncodedFrame, StateHash, Transition};
use thalweg_units::{Seed, Size};
use thalweg_video::Picture;
use thalweg_video::source::{Format, Scene, SceneConfig};

/// The result of decoding a frame at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded {
    /// The encoder's exact picture.
    Exact,
    /// An incomplete frame or a wrong state, which the receiver has noticed.
    Damaged,
    /// Not the encoder's picture, although the receiver assumes that it is.
    Wrong,
}

/// An encoder and the matching decoder.
pub trait Ends {
    fn offer(&mut self, picture: u64, plan: &EncodePlan) -> Vec<EncodedFrame>;

    /// Commits a candidate; returns the number under which the encoder keeps the state, if it does.
    fn commit(&mut self, choice: Option<(usize, u64)>) -> Option<u64>;

    fn forget(&mut self, frame: u64);

    /// Decodes a frame; returns the result and the number of states that the decoder then keeps.
    fn decode(&mut self, ready: &Ready) -> (Decoded, usize);
}

/// Number of pictures: two seconds of the built-in scene, played forwards and backwards.
const PICTURES: u64 = 60;

/// The functional encoder and a decoder.
pub struct Real {
    pictures: Vec<Picture>,
    encoder: FunctionalEncoder,
    decoder: Box<dyn Decoder>,
    offered: Vec<Candidate>,
    keep: Option<u64>,
    kept: BTreeSet<StateHash>,
    /// Bytes and picture of each frame that may still be decoded.
    frames: BTreeMap<u64, (Arc<[u8]>, Vec<u8>)>,
}

impl Real {
    /// With a stateful decoder.
    pub fn new(size: Size) -> Real {
        Real::with(size, Box::new(FunctionalDecoder::default()))
    }

    pub fn with(size: Size, decoder: Box<dyn Decoder>) -> Real {
        let format = Format { size, frame_rate: (30, 1) };
        let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
        Real {
            pictures: (0..PICTURES).map(|number| scene.picture(number)).collect(),
            encoder: FunctionalEncoder::new(Default::default()).unwrap(),
            decoder,
            offered: Vec::new(),
            keep: None,
            kept: BTreeSet::new(),
            frames: BTreeMap::new(),
        }
    }

    /// Decodes with the given moves; returns whether the target state was reached.
    fn follow(&mut self, data: &[u8], moves: &Moves) -> (Option<Picture>, bool) {
        let states = self.decoder.states().expect("the decoder keeps states");
        for gone in &moves.forget {
            assert!(self.kept.remove(gone), "state {gone} is forgotten, which was not kept");
            states.forget(*gone);
        }
        let loaded = moves.load.is_none_or(|state| states.load(state));
        let length = moves.length.map_or(data.len(), |length| length as usize);
        let picture = self.decoder.decode(&data[..length]).ok().flatten();
        let states = self.decoder.states().expect("the decoder keeps states");
        let arrived = moves.target.is_some_and(|target| loaded && states.current() == target);
        if arrived {
            states.keep();
            self.kept.insert(states.current());
        }
        (picture, arrived)
    }
}

impl Ends for Real {
    fn offer(&mut self, picture: u64, plan: &EncodePlan) -> Vec<EncodedFrame> {
        let turn = picture % (2 * PICTURES);
        let picture = &self.pictures[turn.min(2 * PICTURES - 1 - turn) as usize];
        self.keep = plan.keep;
        self.offered = self.encoder.candidates(picture, plan).unwrap();
        self.offered.iter().map(|candidate| candidate.frame).collect()
    }

    fn commit(&mut self, choice: Option<(usize, u64)>) -> Option<u64> {
        self.encoder.commit(choice.map(|choice| choice.0)).unwrap();
        let (index, frame) = choice?;
        let picture = self.encoder.state().references().unwrap().last.to_i420();
        self.frames.insert(frame, (self.offered[index].data.clone(), picture));
        self.keep
    }

    fn forget(&mut self, frame: u64) {
        self.encoder.forget(frame);
    }

    fn decode(&mut self, ready: &Ready) -> (Decoded, usize) {
        self.frames = self.frames.split_off(&ready.info.frame);
        let (data, meant) = self.frames.remove(&ready.info.frame).expect("frames are decoded in order");
        let decoded = match &ready.moves {
            None => {
                let picture = self.decoder.decode(&data).unwrap().unwrap();
                if picture.data() == meant { Decoded::Exact } else { Decoded::Wrong }
            }
            Some(moves) => {
                let (picture, arrived) = self.follow(&data, moves);
                let is_meant = picture.is_some_and(|picture| picture.data() == meant);
                match moves.target {
                    Some(_) if arrived && is_meant => Decoded::Exact,
                    Some(_) => Decoded::Wrong,
                    None => Decoded::Damaged,
                }
            }
        };
        (decoded, self.kept.len())
    }
}

/// The functional model and a decoder that represents states by their hashes: the protocol without pixels.
pub struct Modelled {
    size: Size,
    encoder: Box<dyn Encoder>,
    offered: Vec<EncodedFrame>,
    keep: Option<u64>,
    frames: BTreeMap<u64, (Transition, bool)>,
    current: StateHash,
    kept: BTreeSet<StateHash>,
}

impl Modelled {
    pub fn new(size: Size, seed: Seed) -> Modelled {
        let codec = Codec::Model(Default::default()).functional();
        Modelled {
            size,
            encoder: codec.build_seeded(size, seed).unwrap().encoder,
            offered: Vec::new(),
            keep: None,
            frames: BTreeMap::new(),
            current: StateHash::UNKNOWN,
            kept: BTreeSet::new(),
        }
    }
}

impl Ends for Modelled {
    fn offer(&mut self, _picture: u64, plan: &EncodePlan) -> Vec<EncodedFrame> {
        self.keep = plan.keep;
        let made = self.encoder.offer(Image::blank(self.size), plan).unwrap();
        self.offered = made.iter().map(|candidate| candidate.frame).collect();
        self.offered.clone()
    }

    fn commit(&mut self, choice: Option<(usize, u64)>) -> Option<u64> {
        self.encoder.commit(choice.map(|choice| choice.0)).unwrap();
        let (index, frame) = choice?;
        let made = self.offered[index];
        self.frames.insert(frame, (made.transition.unwrap(), made.keyframe));
        self.keep
    }

    fn forget(&mut self, frame: u64) {
        self.encoder.forget(frame);
    }

    fn decode(&mut self, ready: &Ready) -> (Decoded, usize) {
        self.frames = self.frames.split_off(&ready.info.frame);
        let (transition, keyframe) = self.frames.remove(&ready.info.frame).expect("frames are decoded in order");
        let moves = ready.moves.as_ref().expect("the receiver keeps states");
        for gone in &moves.forget {
            assert!(self.kept.remove(gone), "state {gone} is forgotten, which was not kept");
        }
        if let Some(state) = moves.load {
            // The initial state of every decoder is never kept.
            assert!(keyframe || self.kept.contains(&state), "state {state} is gone back to, which was not kept");
            self.current = state;
        }
        let exact = moves.length.is_none() && (keyframe || self.current == transition.source);
        self.current = if exact { transition.target } else { StateHash::UNKNOWN };
        let decoded = match moves.target {
            Some(target) if target == self.current => Decoded::Exact,
            Some(_) => Decoded::Wrong,
            None => Decoded::Damaged,
        };
        if decoded == Decoded::Exact {
            self.kept.insert(self.current);
        }
        (decoded, self.kept.len())
    }
}
