//! Decoding what came: once by the clock, to know when it could be shown, and once more after the run, to know how it looked. Comparing
//! pictures takes longer than there is time for between two of them.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use thalweg_codecs::{DecodeError, Decoder};
use thalweg_lab::Scenario;
use thalweg_lab::footage::Footage;
use thalweg_units::Time;
use thalweg_video::quality::psnr;
use thalweg_video::scale;

use super::RehearseError;
use super::receiving::Whole;
use crate::clock::Clock;
use crate::thread::spawn;

/// Where whole frames go to be decoded.
pub(super) type Frames = Sender<Arc<[u8]>>;

/// A decoder in a thread of its own.
pub(super) struct Decoding(JoinHandle<Result<Vec<Time>, DecodeError>>);

impl Decoding {
    /// Starts it; it ends when what it gives to send frames to is dropped.
    pub(super) fn start(mut decoder: Box<dyn Decoder>, clock: Clock) -> Result<(Decoding, Frames), RehearseError> {
        let (frames, inbox) = mpsc::channel::<Arc<[u8]>>();
        let thread = spawn("decoder", move || {
            let decode = |frame: Arc<[u8]>| decoder.decode(&frame).map(|_| clock.now());
            inbox.into_iter().map(decode).collect()
        })?;
        Ok((Decoding(thread), frames))
    }

    /// When each frame was decoded.
    pub(super) fn finish(self) -> Result<Vec<Time>, RehearseError> {
        let done = self.0.join().map_err(|_| RehearseError::Broken("the decoder's thread panicked".into()))?;
        Ok(done?)
    }
}

/// PSNR in dB and SSIM.
pub(super) type Quality = (f64, f64);

/// The quality of each frame against its picture.
pub(super) fn measure(
    scenario: &Scenario,
    decoder: &mut dyn Decoder,
    footage: &mut Footage,
    frames: &[(&Whole, Option<u64>)],
) -> Result<Vec<Option<Quality>>, RehearseError> {
    let mut measured = Vec::with_capacity(frames.len());
    for (whole, picture) in frames {
        let decoded = decoder.decode(&whole.data)?;
        let source = picture.map(|number| footage.picture(number)).transpose()?.flatten();
        measured.push(source.zip(decoded).map(|(source, decoded)| {
            let shown = scale(&decoded, source.size());
            (psnr(&source, &shown), scenario.ssim.measure(&source, &shown))
        }));
    }
    Ok(measured)
}
