//! Time for an encoder to follow its target (Vidaptive Fig. 2).

use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_units::{Rate, Seed, Span};
use thalweg_video::Video;
use thalweg_video::footage::Footage;

use thalweg_codecs::Codec;
use thalweg_lab::simulate::SimulateError;

/// A target that steps from low to high and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncoderStep {
    /// The low target.
    pub low: Rate,
    /// The high target.
    pub high: Rate,
    /// Duration of each phase: low, high, low.
    pub each: Span,
}

/// The measured response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResponse {
    /// Seconds from the step up until the output over half a second reaches 90 % of the target; `None` if it never
    /// does.
    pub lag_up_s: Option<f64>,
    /// Seconds from the step down until the output over half a second is within 110 % of the target; `None` if it never
    /// is.
    pub lag_down_s: Option<f64>,
    /// Time to send the excess output after the step down at the new target, in ms.
    pub queue_ms: f64,
}

impl StepResponse {
    /// The names of its figures.
    pub const KEYS: [&'static str; 3] = ["lag_up_s", "lag_down_s", "queue_ms"];

    /// Its figures, in the order of [`StepResponse::KEYS`].
    pub fn values(&self) -> [Option<f64>; 3] {
        [self.lag_up_s, self.lag_down_s, Some(self.queue_ms)]
    }
}

impl EncoderStep {
    /// Runs it with `codec`.
    ///
    /// # Errors
    /// When the video cannot be read or the encoder fails.
    pub fn play(&self, codec: &Codec, video: &Video, seed: Seed) -> Result<StepResponse, SimulateError> {
        let mut footage = Footage::open(video, seed)?;
        let (size, interval) = (footage.format().size, footage.format().interval());
        let mut pair = codec.build_seeded(size, seed)?;
        let pictures = (self.each.as_secs_f64() / interval.as_secs_f64()).round() as u64;
        let mut made = Vec::new();
        for number in 0..3 * pictures {
            let rate = if (pictures..2 * pictures).contains(&number) { self.high } else { self.low };
            let Some(picture) = footage.picture(number)? else { break };
            let targets = vec![Target::Rate(rate)];
            let plan = EncodePlan::new(targets, size, interval).with(|plan| {
                plan.keyframe = number == 0;
                plan.may_drop = true;
            });
            let candidates = pair.encoder.candidates(&picture, &plan)?;
            if !candidates.is_empty() {
                pair.encoder.commit(Some(0))?;
            }
            made.push(candidates.first().map_or(0.0, |candidate| candidate.frame.size.bits() as f64));
        }
        Ok(self.judge(&made, interval.as_secs_f64(), pictures as usize))
    }

    /// `made` holds the bits of each picture, `interval` seconds apart; the steps are after `pictures` and twice that
    /// many.
    fn judge(&self, made: &[f64], interval: f64, pictures: usize) -> StepResponse {
        let half = (0.5 / interval).round() as usize;
        let follows = |from: usize, fits: &dyn Fn(f64) -> bool| {
            let until = (from + pictures).min(made.len());
            let found = made.get(from..until)?.windows(half).position(|window| {
                let rate = window.iter().sum::<f64>() / (half as f64 * interval);
                fits(rate)
            });
            found.map(|index| (index + half) as f64 * interval)
        };
        let (low, high) = (self.low.as_bps_f64(), self.high.as_bps_f64());
        let mut queue = 0.0f64;
        let mut worst = 0.0f64;
        for bits in made.iter().skip(2 * pictures) {
            queue = (queue + bits - low * interval).max(0.0);
            worst = worst.max(queue);
        }
        StepResponse {
            lag_up_s: follows(pictures, &|rate| rate >= 0.9 * high),
            lag_down_s: follows(2 * pictures, &|rate| rate <= 1.1 * low),
            queue_ms: worst / low * 1e3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoder_half_a_second_late_is_measured_so() {
        let step = EncoderStep { low: Rate::from_kbps(500), high: Rate::from_kbps(2000), each: Span::from_secs(2) };
        // 10 fps, 500 kbps and 2 Mbps, each five pictures late.
        let made: Vec<f64> = (0..60).map(|i| if (25..45).contains(&i) { 200_000.0 } else { 50_000.0 }).collect();
        let response = step.judge(&made, 0.1, 20);
        assert!(response.lag_up_s.is_some_and(|lag| (0.9..=1.0).contains(&lag)), "{response:?}");
        assert!(response.lag_down_s.is_some_and(|lag| (0.9..=1.0).contains(&lag)), "{response:?}");
        // An excess of 5 x 150 kbit at 500 kbps.
        assert!((response.queue_ms - 1500.0).abs() < 1.0);
    }
}
