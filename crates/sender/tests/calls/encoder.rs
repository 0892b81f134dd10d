//! An encoder without pixels: a picture is a number computed from every picture it depends on.

use std::collections::BTreeMap;

use thalweg_sender::frames::{Basis, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_units::{Bytes, Random};

/// A hash of all `parts`.
fn mixed(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |sum: u64, part| {
        let sum = (sum ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum ^ (sum >> 29)
    })
}

/// The initial state of every decoder.
pub const NOTHING: StateHash = StateHash(17);

/// The pictures that a standard decoder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pictures {
    last: u64,
    long_term: [u64; 2],
}

impl Pictures {
    /// Decodes a frame and returns its picture.
    pub fn decode(&mut self, frame: &Made) -> u64 {
        let buffers = match frame.basis {
            Basis::Buffers(buffers) if !frame.keyframe => buffers,
            _ => {
                let picture = mixed(&[frame.content]);
                *self = Pictures { last: picture, long_term: [picture; 2] };
                return picture;
            }
        };
        let mut parts = vec![frame.content];
        parts.extend(buffers.last.then_some(self.last));
        parts.extend(buffers.long_term.map(|(buffer, _)| self.long_term[usize::from(buffer.0)]));
        let picture = mixed(&parts);
        self.last = picture;
        if let Some(buffer) = buffers.kept_in {
            self.long_term[usize::from(buffer.0)] = picture;
        }
        picture
    }
}

/// A frame as the encoder made it.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    pub keyframe: bool,
    pub basis: Basis,
    pub content: u64,
    pub transition: Transition,
    /// The picture it shows, for a frame in named buffers.
    pub picture: u64,
}

impl Made {
    /// The frame that must be decoded before it, if it is frame `frame`.
    pub fn needs(&self, frame: u64) -> Option<u64> {
        match self.basis {
            _ if self.keyframe => None,
            Basis::After(source) => Some(source),
            Basis::Buffers(buffers) if !buffers.last => buffers.long_term.map(|(_, frame)| frame),
            Basis::Latest | Basis::Buffers(_) => frame.checked_sub(1),
        }
    }
}

/// Keeps and forgets states as asked; panics when asked for a forgotten state.
#[derive(Debug)]
pub struct ModelEncoder {
    random: Random,
    pictures: Pictures,
    pub kept: BTreeMap<u64, StateHash>,
    max_kept: usize,
    offered: Option<(EncodePlan, Vec<(u64, EncodedFrame)>)>,
    /// By frame number.
    pub made: Vec<Made>,
}

impl ModelEncoder {
    pub fn new(random: Random, max_kept: usize) -> ModelEncoder {
        ModelEncoder {
            random,
            pictures: Pictures::default(),
            kept: BTreeMap::new(),
            max_kept,
            offered: None,
            made: Vec::new(),
        }
    }

    /// Returns true if it still keeps one of these states; the sender is right to forget them when too many newer ones
    /// follow.
    pub fn keeps_any(&self, states: &[StateHash]) -> bool {
        self.kept.values().any(|kept| states.contains(kept))
    }

    pub fn offer(&mut self, plan: EncodePlan) -> Vec<EncodedFrame> {
        let source = match plan.basis {
            _ if plan.keyframe => NOTHING,
            Basis::After(frame) => {
                *self.kept.get(&frame).unwrap_or_else(|| panic!("{frame} was forgotten or never kept"))
            }
            Basis::Latest | Basis::Buffers(_) => NOTHING,
        };
        let candidates = plan.targets.iter().map(|target| {
            let content = self.random.bits();
            let size = match target {
                Target::Quantizer(quantizer) => 60.0 * (130.0 - f64::from(*quantizer)) * self.random.between(0.3, 1.7),
                Target::Size(size) | Target::Guess(size) => size.as_f64() * self.random.between(0.3, 1.0),
                Target::Rate(rate) => rate.over(plan.interval).as_f64(),
            };
            let target_hash = StateHash(mixed(&[source.0, content]));
            let frame = EncodedFrame::new(Bytes::new(size.clamp(50.0, 20_000.0) as u64), plan.size).with(|frame| {
                frame.keyframe = plan.keyframe;
                frame.quantizer = Some(40);
                frame.transition = Some(Transition { source, target: target_hash });
            });
            (content, frame)
        });
        let candidates: Vec<_> = candidates.collect();
        let frames = candidates.iter().map(|(_, frame)| *frame).collect();
        self.offered = Some((plan, candidates));
        frames
    }

    pub fn commit(&mut self, choice: Option<(usize, u64)>) {
        let (plan, candidates) = self.offered.take().expect("something was offered");
        let Some((index, number)) = choice else { return };
        let (content, frame) = candidates[index];
        let transition = frame.transition.expect("it was given");
        let mut made = Made { keyframe: frame.keyframe, basis: plan.basis, content, transition, picture: 0 };
        made.picture = self.pictures.decode(&made);
        assert_eq!(number, self.made.len() as u64, "frames are numbered in order");
        self.made.push(made);
        if let Some(keep) = plan.keep {
            assert_eq!(keep, number, "a state is kept under its frame's number");
            self.kept.insert(keep, transition.target);
            // One state is about to be dropped.
            assert!(self.kept.len() <= self.max_kept + 1, "{} states are kept", self.kept.len());
        }
    }

    pub fn forget(&mut self, frame: u64) {
        assert!(self.kept.remove(&frame).is_some(), "{frame} was kept, and is forgotten once");
    }
}
