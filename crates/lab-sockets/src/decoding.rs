//! Decoding, twice: during the run for the time at which each frame could be shown, and after it for quality, since
//! comparing pictures takes longer than the interval between two of them.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use thalweg_codecs::{DecodeError, Decoder};
use thalweg_lab::Scenario;
use thalweg_lab::simulate::SimulateError;
use thalweg_units::Time;
use thalweg_video::footage::Footage;
use thalweg_video::quality::psnr;
use thalweg_video::scale;

use crate::RealTimeError;
use crate::receiving::{Frames, ReceivedFrame};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::thread::spawn;

/// A decoder in its own thread.
pub(crate) struct Decoding(JoinHandle<Result<Vec<Time>, DecodeError>>);

impl Decoding {
    /// Starts the decoder; it ends when the returned sender is dropped.
    pub(crate) fn start(mut decoder: Box<dyn Decoder>, clock: Clock) -> Result<(Decoding, Frames), RealTimeError> {
        let (frames, inbox) = mpsc::channel::<Arc<[u8]>>();
        let thread = spawn("decoder", move || {
            let decode = |frame: Arc<[u8]>| decoder.decode(&frame).map(|_| clock.now());
            inbox.into_iter().map(decode).collect()
        })?;
        Ok((Decoding(thread), frames))
    }

    /// The time at which each frame was decoded.
    pub(crate) fn finish(self) -> Result<Vec<Time>, RealTimeError> {
        let done = self.0.join().map_err(|_| RealTimeError::Failed("the decoder's thread panicked".into()))?;
        Ok(done.map_err(SimulateError::from)?)
    }
}

/// PSNR in dB and SSIM.
pub(crate) type Quality = (f64, f64);

/// The quality of each frame, compared with its picture.
pub(crate) fn measure(
    scenario: &Scenario,
    decoder: &mut dyn Decoder,
    footage: &mut Footage,
    frames: &[(&ReceivedFrame, Option<u64>)],
) -> Result<Vec<Option<Quality>>, SimulateError> {
    let mut measured = Vec::with_capacity(frames.len());
    for (frame, picture) in frames {
        let decoded = decoder.decode(&frame.data)?;
        let source = picture.map(|number| footage.picture(number)).transpose()?.flatten();
        measured.push(source.zip(decoded).map(|(source, decoded)| {
            let shown = scale(&decoded, source.size());
            (psnr(&source, &shown), scenario.ssim.measure(&source, &shown))
        }));
    }
    Ok(measured)
}
