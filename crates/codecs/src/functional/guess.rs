//! Guesses a quantiser from a smaller picture: for an encoder that can code each picture only once (Salsify section
//! 5.2).

use thalweg_units::{Bytes, Size};
use thalweg_video::{Picture, scale};
use thalweg_vp8::State;
use thalweg_vp8::encode::{self, Analysis, Plan};

use super::settings::GUESS_SCALE;
use super::{CODEC, FIRST_QUANTIZER, library, to_image};
use crate::seam::EncodeError;

/// Weight of the newest frame in the running ratio.
const RATIO_GAIN: f64 = 0.2;

/// Codes the stream a second time at a fraction of its size, to learn which quantiser its frames would need.
#[derive(Debug)]
pub(super) struct Guesser {
    /// Codec state of the small stream.
    state: State,
    quantizer: u8,
    /// Ratio of full-size frame bytes to those predicted from the small stream by pixel count: small pictures have more
    /// detail per pixel.
    ratio: f64,
    /// Bytes predicted for the guessed frame at a ratio of one.
    expected: f64,
    /// The state to continue from if the guessed frame is sent.
    next: Option<State>,
}

impl Default for Guesser {
    fn default() -> Guesser {
        Guesser { state: State::new(), quantizer: FIRST_QUANTIZER, ratio: 1.0, expected: 0.0, next: None }
    }
}

impl Guesser {
    /// Guesses the quantiser at which `picture`, at `size`, would take `bytes`: the quantiser at which the small
    /// picture takes its share of them by pixels.
    pub(super) fn guess(
        &mut self,
        picture: &Picture,
        size: Size,
        bytes: Bytes,
        keyframe: bool,
        settings: &encode::Settings,
    ) -> Result<(), EncodeError> {
        let side = |length: u16| (length / GUESS_SCALE).max(1);
        let small_size = Size::new(side(size.width), side(size.height));
        let refuse = || EncodeError::Size { codec: CODEC, size: small_size, range: "1x1 to 16383x16383".into() };
        let small = to_image(&scale(picture, small_size)).ok_or_else(refuse)?;
        let keyframe = keyframe || self.state.size() != Some(small.size());
        let plan = if keyframe { Plan::key(self.quantizer) } else { Plan::inter(self.quantizer) };
        let analysis = Analysis::new(&self.state, &small, &plan, settings).map_err(library)?;
        let share = small_size.pixels() as f64 / size.pixels() as f64;
        let coded = analysis.encode_about(bytes.scale(share / self.ratio).get() as usize, 0);
        self.expected = coded.frame.len() as f64 / share;
        self.quantizer = coded.quantizer;
        self.next = Some(coded.state);
        Ok(())
    }

    /// The last guessed quantiser.
    pub(super) fn quantizer(&self) -> u8 {
        self.quantizer
    }

    /// Reports that the guessed frame was sent with this size, or was not sent (`None`).
    pub(super) fn commit(&mut self, sent: Option<Bytes>) {
        if let (Some(next), Some(size)) = (self.next.take(), sent) {
            self.state = next;
            let ratio = (size.as_f64() / self.expected.max(1.0)).clamp(0.25, 4.0);
            self.ratio += RATIO_GAIN * (ratio - self.ratio);
        }
    }
}
