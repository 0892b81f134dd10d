//! The functional VP8 encoder.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_types::{Basis, Buffers, EncodePlan, EncodedFrame, StateHash, Target, Transition};
use thalweg_units::{Bytes, Rate, Span};
use thalweg_vp8::State;
use thalweg_vp8::encode::{self, Analysis, Coded, Fit, Plan, PlanKind, ReferenceSet};
use thalweg_vp8::syntax::header::ReferenceUpdate;

use super::effort::Effort;
use super::guess::Guesser;
use super::rate::RateAccount;
use super::settings::Settings;
use super::{CODEC, FIRST_QUANTIZER, hash, library, to_image};
use crate::layers::weight;
use crate::seam::{Candidate, EncodeError, Encoder, Image, at_size};
use crate::vp8::{self, ALTREF, GOLDEN};

/// A VP8 encoder whose only memory is a [`State`]: an offered frame has no effect until it is committed.
#[derive(Debug)]
pub struct FunctionalEncoder {
    settings: Settings,
    state: State,
    /// Quantiser of the last frame that was sent: the best guess for the next one.
    quantizer: u8,
    /// How its size differed from its estimate.
    fit: Option<Fit>,
    account: RateAccount,
    guesser: Guesser,
    effort: Effort,
    /// States that may be requested again, by frame number.
    kept: BTreeMap<u64, State>,
    offered: Offered,
}

/// State between an offer and its commit.
#[derive(Debug, Default)]
struct Offered {
    candidates: Vec<Coded>,
    /// The target rate, if the plan had one, and the picture interval.
    pays: Option<(Rate, Span)>,
    /// The frame number under which to keep the state.
    keep: Option<u64>,
    /// True if a receiver can decode the offered frames.
    sendable: bool,
}

impl FunctionalEncoder {
    /// Creates an encoder at the beginning of a stream.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn new(settings: Settings) -> Result<FunctionalEncoder, EncodeError> {
        settings.check().map_err(EncodeError::of_setting(CODEC))?;
        let quantizer = settings.min_quantizer.max(FIRST_QUANTIZER);
        Ok(FunctionalEncoder {
            settings,
            state: State::new(),
            quantizer,
            fit: None,
            account: RateAccount::default(),
            guesser: Guesser::default(),
            effort: Effort::default(),
            kept: BTreeMap::new(),
            offered: Offered::default(),
        })
    }

    /// The state of a receiver that has every committed frame.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state from which a frame on this basis is coded.
    fn source(&self, basis: Basis) -> Result<State, EncodeError> {
        let Basis::After(frame) = basis else {
            let range = "only to the last one sent, one of two long-term buffers or a kept state";
            let state = vp8::suffices(basis).then(|| self.state.clone());
            return state.ok_or(EncodeError::Basis { codec: CODEC, basis, range });
        };
        let range = "only to one that was kept and not forgotten";
        self.kept.get(&frame).cloned().ok_or(EncodeError::Basis { codec: CODEC, basis, range })
    }

    fn code(&self, analysis: &Analysis<'_>, target: Target, keyframe: bool, plan: &EncodePlan) -> Coded {
        let Settings { min_quantizer, rate_window, keyframe_percent, .. } = self.settings;
        match target {
            Target::Quantizer(quantizer) => analysis.encode(quantizer),
            Target::Guess(_) => analysis.encode(self.guesser.quantizer().max(min_quantizer)),
            Target::Size(size) => {
                let coded = analysis.encode_to_size(size.get() as usize);
                // Do not code easy content finer than a viewer can see.
                if coded.quantizer < min_quantizer { analysis.encode(min_quantizer) } else { coded }
            }
            Target::Rate(rate) => {
                let boost = if keyframe { f64::from(keyframe_percent) / 100.0 } else { weight(plan.layer) };
                let size = self.account.budget(rate, plan.interval, rate_window, boost);
                analysis.encode_about(size.get() as usize, min_quantizer)
            }
        }
    }

    /// Codes every candidate, in target order, on as many cores as the plan allows.
    fn code_all(&self, analysis: &Analysis<'_>, keyframe: bool, plan: &EncodePlan) -> Vec<Coded> {
        let code = |target: &Target| self.code(analysis, *target, keyframe, plan);
        let mut coded = Vec::with_capacity(plan.targets.len());
        for together in plan.targets.chunks(usize::from(plan.cores).max(1)) {
            let Some((first, others)) = together.split_first() else { continue };
            std::thread::scope(|scope| {
                let others: Vec<_> = others.iter().map(|target| scope.spawn(|| code(target))).collect();
                coded.push(code(first));
                coded.extend(others.into_iter().map(|thread| match thread.join() {
                    Ok(coded) => coded,
                    Err(panic) => std::panic::resume_unwind(panic),
                }));
            });
        }
        coded
    }
}

impl Encoder for FunctionalEncoder {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        let picture = image.picture.ok_or(EncodeError::Blank { codec: CODEC, size: image.size })?;
        let rate = plan.targets.iter().find_map(|target| match target {
            Target::Rate(rate) => Some(*rate),
            Target::Size(_) | Target::Quantizer(_) | Target::Guess(_) => None,
        });
        if let (true, Some(rate)) = (plan.may_drop && !plan.keyframe, rate)
            && self.account.is_exhausted(rate, plan.interval, self.settings.rate_window)
        {
            self.account.on_picture(Bytes::ZERO, rate, plan.interval, self.settings.rate_window);
            return Ok(Vec::new());
        }
        let input = at_size(picture, plan.size);
        let input = to_image(&input).ok_or_else(|| EncodeError::Size {
            codec: CODEC,
            size: plan.size,
            range: "1x1 to 16383x16383".into(),
        })?;
        let latest = self.source(plan.basis)?;
        let keyframe = plan.keyframe || latest.size() != Some(input.size());
        // A keyframe starts from the empty state, so it leads to the same state whatever the receiver has.
        let source = if keyframe { State::new() } else { latest };
        let settings =
            encode::Settings { speed: self.effort.preset(self.settings.preset).speed(), ..Default::default() };
        if let Some(size) = plan.targets.iter().find_map(|target| match target {
            Target::Guess(size) => Some(*size),
            Target::Rate(_) | Target::Size(_) | Target::Quantizer(_) => None,
        }) {
            self.guesser.guess(picture, plan.size, size, keyframe, &settings)?;
        }
        let fit = self.fit.filter(|_| !keyframe);
        let wanted = Plan { fit, ..wanted(plan.basis, keyframe, self.quantizer) };
        let analysis = Analysis::new(&source, &input, &wanted, &settings).map_err(library)?;
        let candidates = self.code_all(&analysis, keyframe, plan);
        let from = hash(&source);
        let offers = candidates.iter().map(|coded| candidate(coded, from, keyframe, plan)).collect();
        let sendable = keyframe || !matches!(plan.basis, Basis::Buffers(Buffers { sendable: false, .. }));
        let pays = rate.map(|rate| (rate, plan.interval));
        self.offered = Offered { candidates, pays, keep: plan.keep, sendable };
        Ok(offers)
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let Offered { mut candidates, pays, keep, sendable } = std::mem::take(&mut self.offered);
        let mut size = Bytes::ZERO;
        if let Some(choice) = choice {
            if choice >= candidates.len() {
                return Err(EncodeError::Choice { choice, candidates: candidates.len() });
            }
            if !sendable {
                return Err(EncodeError::Unsendable { choice });
            }
            let coded = candidates.swap_remove(choice);
            size = Bytes::new(coded.frame.len() as u64);
            (self.quantizer, self.fit) = (coded.quantizer, coded.fit);
            self.state = coded.state;
            if let Some(frame) = keep {
                self.kept.insert(frame, self.state.clone());
            }
        }
        self.guesser.commit(choice.map(|_| size));
        if let Some((rate, interval)) = pays {
            self.account.on_picture(size, rate, interval, self.settings.rate_window);
        }
        Ok(())
    }

    fn on_encoded(&mut self, took: Span, interval: Span) {
        self.effort.on_frame(took, interval);
    }

    fn forget(&mut self, frame: u64) {
        self.kept.remove(&frame);
    }

    fn settings(&self) -> String {
        self.settings.to_string()
    }
}

/// Translates a basis to this codec's plan.
fn wanted(basis: Basis, keyframe: bool, quantizer: u8) -> Plan {
    if keyframe {
        return Plan::key(quantizer);
    }
    let Basis::Buffers(Buffers { last, long_term, kept_in, becomes_last, .. }) = basis else {
        return Plan::inter(quantizer);
    };
    let may_use = |buffer| long_term.is_some_and(|(used, _)| used == buffer);
    let becomes = |buffer| if kept_in == Some(buffer) { ReferenceUpdate::ThisFrame } else { ReferenceUpdate::Keep };
    let kind = PlanKind::Inter {
        from: ReferenceSet { last, golden: may_use(GOLDEN), altref: may_use(ALTREF) },
        refreshes_last: becomes_last,
        golden: becomes(GOLDEN),
        altref: becomes(ALTREF),
    };
    Plan { kind, keeps_probabilities: false, ..Plan::inter(quantizer) }
}

fn candidate(coded: &Coded, from: StateHash, keyframe: bool, plan: &EncodePlan) -> Candidate {
    let frame = EncodedFrame::new(Bytes::new(coded.frame.len() as u64), plan.size).with(|frame| {
        frame.keyframe = keyframe;
        frame.layer = if keyframe { 0 } else { plan.layer.number };
        frame.quantizer = Some(coded.quantizer);
        frame.transition = Some(Transition { source: from, target: hash(&coded.state) });
    });
    Candidate { data: Arc::from(coded.frame.as_slice()), frame, modelled: None }
}
