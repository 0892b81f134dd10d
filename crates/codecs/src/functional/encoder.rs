//! Encoding.

use std::sync::Arc;

use thalweg_sender::frames::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, Rate, Size, Span};
use thalweg_vp8::State;
use thalweg_vp8::encode::{self, Analysis, Coded, Plan};

use super::rate::RateAccount;
use super::settings::Settings;
use super::{CODEC, to_image};
use crate::seam::{Candidate, EncodeError, Encoder, Image, at_size};

/// What the first frame is expected to be coded with, until its size is known.
const FIRST_QUANTIZER: u8 = 40;

/// A VP8 encoder whose whole memory is a [`State`]: what is not committed has not happened.
#[derive(Debug)]
pub struct FunctionalEncoder {
    settings: Settings,
    state: State,
    /// What the last frame that was sent was coded with: the best guess at what the next will be.
    quantizer: u8,
    account: RateAccount,
    offered: Offered,
}

/// Between offering and committing.
#[derive(Debug, Default)]
struct Offered {
    candidates: Vec<Coded>,
    /// The rate to keep, if one was asked for, and the picture's interval.
    pays: Option<(Rate, Span)>,
}

impl FunctionalEncoder {
    /// An encoder at the beginning of a stream.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn new(settings: Settings) -> Result<FunctionalEncoder, EncodeError> {
        let refuse = |setting, value: String, range| EncodeError::Setting { codec: CODEC, setting, value, range };
        if settings.min_quantizer > 127 {
            return Err(refuse("min_quantizer", settings.min_quantizer.to_string(), "0 to 127, such as 4"));
        }
        if settings.rate_window <= Span::ZERO {
            return Err(refuse("rate_window", settings.rate_window.to_string(), "longer than 0, such as 200ms"));
        }
        if settings.keyframe_percent < 100 {
            let value = format!("{} %", settings.keyframe_percent);
            return Err(refuse("keyframe_percent", value, "100 % or more, such as 400"));
        }
        let quantizer = settings.min_quantizer.max(FIRST_QUANTIZER);
        Ok(FunctionalEncoder {
            settings,
            state: State::new(),
            quantizer,
            account: RateAccount::default(),
            offered: Offered::default(),
        })
    }

    /// What a receiver that has every committed frame has.
    pub fn state(&self) -> &State {
        &self.state
    }

    fn code(&self, analysis: &Analysis<'_>, target: Target, keyframe: bool, interval: Span) -> Coded {
        let Settings { min_quantizer, rate_window, keyframe_percent, .. } = self.settings;
        match target {
            Target::Quantizer(quantizer) => analysis.encode(quantizer),
            Target::Size(size) => {
                let coded = analysis.encode_to_size(size.get() as usize);
                // Easy content is made no finer than anybody sees.
                if coded.quantizer < min_quantizer { analysis.encode(min_quantizer) } else { coded }
            }
            Target::Rate(rate) => {
                let boost = if keyframe { f64::from(keyframe_percent) / 100.0 } else { 1.0 };
                let size = self.account.budget(rate, interval, rate_window, boost);
                analysis.encode_about(size.get() as usize, min_quantizer)
            }
        }
    }
}

impl Encoder for FunctionalEncoder {
    fn offer(&mut self, image: Image<'_>, plan: &EncodePlan) -> Result<Vec<Candidate>, EncodeError> {
        let picture = image.picture.ok_or(EncodeError::Blank { codec: CODEC, size: image.size })?;
        let rate = plan.targets.iter().find_map(|target| match target {
            Target::Rate(rate) => Some(*rate),
            Target::Size(_) | Target::Quantizer(_) => None,
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
        let keyframe = plan.keyframe || self.state.size() != Some(input.size());
        let wanted = if keyframe { Plan::key(self.quantizer) } else { Plan::inter(self.quantizer) };
        let settings = encode::Settings { speed: self.settings.preset.speed(), ..Default::default() };
        let library = |error: encode::EncodeError| EncodeError::Library {
            codec: CODEC,
            call: "Analysis::new",
            reason: error.to_string(),
        };
        let analysis = Analysis::new(&self.state, &input, &wanted, &settings).map_err(library)?;
        let candidates: Vec<Coded> =
            plan.targets.iter().map(|target| self.code(&analysis, *target, keyframe, plan.interval)).collect();
        let offers = candidates.iter().map(|coded| candidate(coded, keyframe, plan.size)).collect();
        self.offered = Offered { candidates, pays: rate.map(|rate| (rate, plan.interval)) };
        Ok(offers)
    }

    fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let Offered { mut candidates, pays } = std::mem::take(&mut self.offered);
        let mut size = Bytes::ZERO;
        if let Some(choice) = choice {
            if choice >= candidates.len() {
                return Err(EncodeError::Choice { choice, candidates: candidates.len() });
            }
            let coded = candidates.swap_remove(choice);
            size = Bytes::new(coded.frame.len() as u64);
            self.quantizer = coded.quantizer;
            self.state = coded.state;
        }
        if let Some((rate, interval)) = pays {
            self.account.on_picture(size, rate, interval, self.settings.rate_window);
        }
        Ok(())
    }

    fn settings(&self) -> String {
        self.settings.to_string()
    }
}

fn candidate(coded: &Coded, keyframe: bool, picture: Size) -> Candidate {
    let frame = EncodedFrame {
        size: Bytes::new(coded.frame.len() as u64),
        keyframe,
        quantizer: Some(coded.quantizer),
        picture,
    };
    Candidate { data: Arc::from(coded.frame.as_slice()), frame, modelled: None }
}
