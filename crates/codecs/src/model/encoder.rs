//! The statistical model as an [`Encoder`].

use std::sync::Arc;

use thalweg_types::{Basis, Buffers, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_units::{Bytes, ConfigError, Rate, Seed, Size, Span, above, check};

use super::CODEC;
use super::config::Config;
use super::content::Content;
use super::costs::Costs;
use super::lag::Follower;
use super::quality::Curve;
use super::sizes::{Account, Noise};
use crate::seam::{Candidate, EncodeError, Encoder, Image, ModelledQuality, buffers_at_most};
use crate::stand_ins::StandIns;

/// A statistical encoder: sizes and quality without pixels or bytes.
///
/// State changes only in [`Encoder::commit`], not in [`Encoder::offer`]. A frame that is not sent leaves no trace,
/// except that time has passed and, unless the model is functional, that a keyframe is now required (or, for a frame
/// based on named buffers that does not become the last one, that its bits are spent). When the model's own rate
/// control drops a frame (an empty answer), the time passes at once and there is nothing to commit.
pub struct ModelEncoder {
    config: Config,
    content: Content,
    curve: Curve,
    largest: Size,
    costs: Option<Costs>,
    state: State,
    /// The state after each candidate of the last offer.
    offered: Vec<State>,
    /// The state if none of the candidates is sent.
    declined: State,
    /// True if a receiver can decode the offered candidates.
    sendable: bool,
    stand_ins: StandIns,
    no_bytes: Arc<[u8]>,
}

/// Everything that one frame passes on to the next.
#[derive(Debug, Clone)]
struct State {
    follower: Follower,
    /// The account's balance in bits.
    balance: f64,
    noise: Noise,
    /// The size of the last frame.
    size: Option<Size>,
    /// True if the receiver's references differ from the encoder's.
    diverged: bool,
    /// Stand-in for the receiver's state after the frame.
    hash: StateHash,
}

impl ModelEncoder {
    /// Creates an encoder for pictures of up to `largest`, with random numbers from `seed.child("codec.model")`.
    ///
    /// # Errors
    /// When a parameter is out of range; the error names the range.
    pub fn new(config: &Config, largest: Size, seed: Seed) -> Result<ModelEncoder, EncodeError> {
        let content = config.content.content();
        let content = if config.functional { content.of_functional() } else { content };
        let (curve, follower) = Self::parts(config, &content).map_err(EncodeError::of_setting(CODEC))?;
        let state = State {
            follower,
            balance: 0.0,
            noise: Noise::new(seed.child("codec.model").random()),
            size: None,
            diverged: false,
            hash: StandIns::NOTHING,
        };
        Ok(ModelEncoder {
            curve,
            config: config.clone(),
            content,
            largest,
            costs: None,
            declined: state.clone(),
            state,
            offered: Vec::new(),
            sendable: true,
            stand_ins: StandIns::default(),
            no_bytes: Arc::from([]),
        })
    }

    /// The parts that a configuration describes; an error if it is out of range.
    fn parts(config: &Config, content: &Content) -> Result<(Curve, Follower), ConfigError> {
        content.check()?;
        config.account.check()?;
        Ok((Curve::new(&content.points)?, Follower::new(config.lag.lag())?))
    }

    fn check_plan(&self, plan: &EncodePlan) -> Result<(), EncodeError> {
        let (size, largest) = (plan.size, self.largest);
        if size.width > largest.width || size.height > largest.height || size.width < 2 || size.height < 2 {
            let range = format!("2x2 to {largest}, the size it was opened at; open it at the largest");
            return Err(EncodeError::Size { codec: CODEC, size, range });
        }
        let targets = plan.targets.len();
        if targets == 0 || (targets > 1 && !self.config.functional) {
            let range = "one target; with functional = true as many as wanted";
            return Err(EncodeError::Target {
                codec: CODEC,
                target: format!("{:?}", plan.targets),
                range: range.into(),
            });
        }
        let positive = check("plan.interval", plan.interval).within(above(Span::ZERO), "33.3ms");
        positive.map_err(EncodeError::of_setting(CODEC))?;
        if self.config.functional { Ok(()) } else { buffers_at_most(CODEC, plan) }
    }
}

/// The result of one modelled frame.
struct Made {
    bits: f64,
    quantizer: u8,
    quality: ModelledQuality,
}

impl State {
    /// Advances by one frame interval at the requested rate; returns the rate that the lag model follows.
    fn pass(&mut self, parts: &Parts<'_>, target: Target, plan: &EncodePlan) -> Rate {
        let Target::Rate(mut target) = target else { return Rate::ZERO };
        if parts.account.bound_debt && !plan.may_drop {
            target = target.max(Rate::from_bps_f64(parts.costs.bounds.0 / plan.interval.as_secs_f64()));
        }
        let rate = self.follower.follow(target, plan.interval);
        self.balance = parts.account.refill(self.balance, rate, plan.interval);
        rate
    }

    /// Makes the next frame, after time has advanced.
    fn make(&mut self, parts: &Parts<'_>, target: Target, rate: Rate, keyframe: bool, plan: &EncodePlan) -> Made {
        let interval = plan.interval;
        let layer = parts.content.layered.factors(plan.layer);
        // A keyframe has no references, so their distance does not matter.
        let own = if keyframe { 1.0 } else { layer.own };
        let (floor, ceiling) = (parts.costs.bounds.0 * own, parts.costs.bounds.1 * own);
        let asked = match target {
            Target::Rate(_) => parts.account.budget(self.balance, rate, interval) * layer.steered,
            Target::Size(size) | Target::Guess(size) => size.bits() as f64,
            Target::Quantizer(quantizer) => parts.costs.bits_at(quantizer) * own,
        };
        let steady = asked.clamp(floor, ceiling);
        let (quantizer, quality) = parts.costs.quality(steady / own);
        let coarseness = (asked > floor).then(|| f64::from(quantizer) / f64::from(parts.costs.coarsest).max(1.0));
        let (mut factor, cut) = self.noise.next(&parts.content.scatter, coarseness, interval);
        if matches!(target, Target::Size(_)) {
            // The target is a maximum: all scatter is below it, and the coarsest quantiser sets the minimum.
            factor = factor.min(1.0);
        }
        let bits = match (keyframe, target) {
            (false, Target::Size(_) | Target::Guess(_)) => steady * factor,
            (false, _) => steady * factor * cut,
            (true, Target::Size(_) | Target::Guess(_)) => (steady * factor).max(parts.costs.keyframe_floor),
            (true, _) => {
                let allowance = match target {
                    Target::Rate(_) => rate.as_bps_f64() * interval.as_secs_f64(),
                    _ => steady,
                };
                let ratio = parts.content.keyframe_ratio * layer.keyframe;
                (allowance.min(ceiling) * ratio).max(parts.costs.keyframe_floor) * factor
            }
        };
        Made { bits, quantizer, quality }
    }
}

/// Parts of the model that are constant from frame to frame.
struct Parts<'a> {
    content: &'a Content,
    costs: &'a Costs,
    account: &'a Account,
}

impl Encoder for ModelEncoder {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        self.offered.clear();
        self.check_plan(plan)?;
        let sizes = (image.size, plan.size);
        if self.costs.as_ref().is_none_or(|costs| costs.sizes != sizes) {
            self.costs = None;
        }
        let costs = self.costs.get_or_insert_with(|| Costs::new(&self.content, &self.curve, image.size, plan.size));
        let parts = Parts { content: &self.content, costs, account: &self.config.account };
        let source = self.stand_ins.source(CODEC, plan.basis, self.state.hash)?;
        self.stand_ins.keep = plan.keep;
        let sendable = !matches!(plan.basis, Basis::Buffers(Buffers { sendable: false, .. }));
        let keyframe = plan.keyframe || self.state.diverged && sendable || self.state.size != Some(plan.size);
        let mut candidates = Vec::with_capacity(plan.targets.len());
        for target in &plan.targets {
            let steered = matches!(target, Target::Rate(_));
            let mut next = self.state.clone();
            let rate = next.pass(&parts, *target, plan);
            if candidates.is_empty() {
                self.declined.clone_from(&next);
                self.declined.diverged = self.state.diverged || !self.config.functional;
            }
            let may_drop = plan.may_drop && plan.targets.len() == 1 && steered && !keyframe;
            if may_drop && parts.account.drained(next.balance, rate) {
                self.state = next;
                return Ok(Vec::new());
            }
            let made = next.make(&parts, *target, rate, keyframe, plan);
            let bytes = libm::ceil(made.bits / 8.0).max(1.0);
            if steered {
                next.balance -= bytes * 8.0;
            }
            next.size = Some(plan.size);
            // A frame made only for its size does not update the receiver.
            next.diverged = self.state.diverged && !keyframe;
            let Made { quantizer, quality, .. } = made;
            let size = Bytes::new(bytes as u64);
            let source = if keyframe { StandIns::NOTHING } else { source };
            next.hash = self.stand_ins.after(source, candidates.len());
            let frame = EncodedFrame::new(size, plan.size).with(|frame| {
                frame.keyframe = keyframe;
                frame.layer = if keyframe { 0 } else { plan.layer.number };
                frame.quantizer = Some(quantizer);
                frame.transition = Some(Transition { source, target: next.hash });
            });
            candidates.push(Candidate { data: self.no_bytes.clone(), frame, modelled: Some(quality) });
            self.offered.push(next);
        }
        if let (Basis::Buffers(Buffers { becomes_last, .. }), false, [made]) =
            (plan.basis, self.config.functional, &self.offered[..])
        {
            // Rate control has spent the bits of the frame that is not sent; the receiver only misses it if other
            // frames will refer to it.
            self.declined.clone_from(made);
            self.declined.diverged = self.state.diverged || becomes_last || keyframe;
        }
        self.sendable = sendable || keyframe;
        Ok(candidates)
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let candidates = self.offered.len();
        match choice {
            Some(choice) if choice < candidates && !self.sendable => return Err(EncodeError::Unsendable { choice }),
            Some(choice) if choice < candidates => {
                self.state = self.offered.swap_remove(choice);
            }
            Some(choice) => return Err(EncodeError::Choice { choice, candidates }),
            None if candidates > 0 => self.state.clone_from(&self.declined),
            None => {}
        }
        self.offered.clear();
        self.stand_ins.on_commit(choice.map(|_| self.state.hash));
        Ok(())
    }

    fn forget(&mut self, frame: u64) {
        self.stand_ins.forget(frame);
    }

    fn settings(&self) -> String {
        self.config.to_string()
    }
}
