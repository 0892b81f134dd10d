//! A traffic model as an [`Encoder`].

use std::sync::Arc;

use thalweg_types::{Basis, Buffers, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_units::{Bytes, Random, Rate, Seed, Size, Span, above, check};

use super::config::{Config, Hybrid, TrafficModel};
use super::noise::lateness;
use super::{CODEC, Cbr, Fixfps, Made, Sharing, Statistical, fixfps, recordings, statistical};
use crate::layers::weight;
use crate::seam::{Candidate, EncodeError, Encoder, Image};
use crate::stand_ins::StandIns;

/// An encoder of sizes only. It has no references: every frame can follow every other, one that is not sent costs
/// nothing, and a keyframe is as large as any.
pub struct TrafficEncoder {
    config: Config,
    state: State,
    /// The state after each candidate of the last offer.
    offered: Vec<State>,
    /// How much longer than usual the last offer took.
    delay: Span,
    stand_ins: StandIns,
    no_bytes: Arc<[u8]>,
}

/// Everything that one frame passes on to the next.
#[derive(Debug, Clone)]
struct State {
    source: Source,
    random: Random,
    /// The size of the last frame.
    size: Option<Size>,
    /// Stand-in for the receiver's state after the frame.
    hash: StateHash,
}

/// A model and its state.
#[derive(Debug, Clone)]
enum Source {
    Fixfps(Fixfps, fixfps::State),
    Statistical(Statistical, statistical::State),
    Trace(recordings::State),
    /// And whether there was a frame before.
    Sharing(Sharing, bool),
    Hybrid(Statistical, statistical::State, recordings::State),
    /// And packets that the target has paid for: the first at once.
    Cbr(Cbr, f64),
}

impl TrafficEncoder {
    /// Creates an encoder with random numbers from `seed.child("codec.traffic")`.
    ///
    /// # Errors
    /// When a parameter is out of range; the error names the range.
    pub fn new(config: &Config, seed: Seed) -> Result<TrafficEncoder, EncodeError> {
        config.check().map_err(EncodeError::of_setting(CODEC))?;
        let mut random = seed.child("codec.traffic").random();
        let mut read =
            |recordings| recordings::State::new(recordings, &mut random).map_err(EncodeError::of_setting(CODEC));
        let source = match &config.model {
            TrafficModel::Fixfps(config) => Source::Fixfps(config.clone(), fixfps::State::default()),
            TrafficModel::Statistical(config) => Source::Statistical(config.clone(), statistical::State::default()),
            TrafficModel::Trace(recordings) => Source::Trace(read(recordings)?),
            TrafficModel::Sharing(config) => Source::Sharing(config.clone(), false),
            TrafficModel::Hybrid(Hybrid { recordings, transients }) => {
                Source::Hybrid(transients.clone(), statistical::State::default(), read(recordings)?)
            }
            TrafficModel::Cbr(config) => Source::Cbr(config.clone(), 1.0),
        };
        Ok(TrafficEncoder {
            config: config.clone(),
            state: State { source, random, size: None, hash: StandIns::NOTHING },
            offered: Vec::new(),
            delay: Span::ZERO,
            stand_ins: StandIns::default(),
            no_bytes: Arc::from([]),
        })
    }
}

impl State {
    /// Encodes a picture at this target, which is within the model's bounds.
    fn next(&mut self, target: Rate, interval: Span) -> Made {
        let random = &mut self.random;
        match &mut self.source {
            Source::Fixfps(config, state) => state.next(config, target, interval, random),
            Source::Statistical(config, state) => state.next(config, target, interval, random),
            Source::Trace(state) => Made { bytes: Some(state.next(target.as_bps_f64(), interval)), late: 0.0 },
            Source::Sharing(config, begun) => config.next(begun, target, interval, random),
            Source::Hybrid(config, state, recorded) => {
                let rate = state.take(config, target, interval);
                let transient = state.transient(config, rate * interval.as_secs_f64() / 8.0);
                let bytes = match transient {
                    Some(bytes) => {
                        recorded.skip();
                        bytes
                    }
                    None => recorded.next(rate, interval),
                };
                Made { bytes: Some(bytes), late: lateness(random, config.interval_noise) }
            }
            Source::Cbr(config, due) => config.next(due, target, interval),
        }
    }
}

impl Encoder for TrafficEncoder {
    fn offer(&mut self, _image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        self.offered.clear();
        self.delay = Span::ZERO;
        check("plan.interval", plan.interval)
            .within(above(Span::ZERO), "33.3ms")
            .map_err(EncodeError::of_setting(CODEC))?;
        let range = "a rate, or a size in bytes";
        if plan.targets.is_empty() {
            return Err(EncodeError::Target { codec: CODEC, target: "nothing".into(), range: range.into() });
        }
        let source = self.stand_ins.source(CODEC, plan.basis, self.state.hash)?;
        self.stand_ins.keep = plan.keep;
        let keyframe = plan.keyframe || self.state.size != Some(plan.size);
        let source = if keyframe { StandIns::NOTHING } else { source };
        let mut candidates = Vec::with_capacity(plan.targets.len());
        for target in &plan.targets {
            let mut next = self.state.clone();
            let bytes = match *target {
                Target::Rate(rate) => {
                    let rate = rate.clamp(self.config.min_rate, self.config.max_rate);
                    let Made { bytes, late } = next.next(rate, plan.interval);
                    self.delay = self.delay.max(plan.interval.scale(late));
                    let Some(bytes) = bytes else {
                        // Time passes without a frame, and there is nothing to commit.
                        self.state = next;
                        self.offered.clear();
                        return Ok(Vec::new());
                    };
                    bytes * weight(plan.layer)
                }
                Target::Size(size) | Target::Guess(size) => size.as_f64(),
                Target::Quantizer(_) => {
                    let target = format!("{target:?}");
                    return Err(EncodeError::Target { codec: CODEC, target, range: range.into() });
                }
            };
            next.size = Some(plan.size);
            next.hash = self.stand_ins.after(source, candidates.len());
            let frame = EncodedFrame::new(Bytes::new(libm::round(bytes).max(1.0) as u64), plan.size).with(|frame| {
                frame.keyframe = keyframe;
                frame.layer = if keyframe { 0 } else { plan.layer.number };
                frame.transition = Some(Transition { source, target: next.hash });
            });
            candidates.push(Candidate { data: self.no_bytes.clone(), frame, modelled: None });
            self.offered.push(next);
        }
        if matches!(plan.basis, Basis::Buffers(Buffers { sendable: false, .. })) && !keyframe {
            // Made only to learn its size.
            self.stand_ins.keep = None;
        }
        Ok(candidates)
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let candidates = self.offered.len();
        match choice {
            Some(choice) if choice < candidates => {
                self.state = self.offered.swap_remove(choice);
            }
            Some(choice) => return Err(EncodeError::Choice { choice, candidates }),
            // Time passes; the receiver's state stays.
            None if candidates > 0 => {
                let State { source, random, .. } = self.offered.swap_remove(0);
                self.state = State { source, random, ..self.state };
            }
            None => {}
        }
        self.offered.clear();
        self.stand_ins.on_commit(choice.map(|_| self.state.hash));
        Ok(())
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn forget(&mut self, frame: u64) {
        self.stand_ins.forget(frame);
    }

    fn settings(&self) -> String {
        self.config.to_string()
    }
}
