//! The decoder, in its own thread: decoding takes milliseconds and must not delay packets. The thread writes the files
//! too.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use thalweg_codecs::Decoder;
use thalweg_codecs::functional::FunctionalDecoder;
use thalweg_receiver::rtp::VideoFrame;
use thalweg_sender::frames::StateHash;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::FrameRate;
use thalweg_video::{Picture, Size, barcode};

use super::config::WatchConfig;
use super::error::WatchError;
use super::measured::Measured;
use super::published::{Published, wall_ms};
use super::record::{Pictures, Recorder};
use crate::clock::Clock;
use crate::reactor::Waker;
use crate::thread::spawn;

/// Maximum number of frames that wait for the decoder: two seconds at 60 fps. Beyond that frames are skipped up to the
/// next keyframe.
const WAITING: usize = 120;

/// The handle of a decoder; its thread ends when `finish` is called.
pub(super) struct DecoderThread {
    jobs: SyncSender<Job>,
    thread: Option<JoinHandle<Result<(), WatchError>>>,
    /// Frames are skipped until the next keyframe.
    is_behind: bool,
}

/// A decoding failure to report to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The frame with this number was not decoded, or was skipped.
    Frame(u64),
    /// The decoder did not reach this state.
    State(StateHash),
}

impl Failure {
    /// The failure to report when a frame is not decoded; `None` for a frame after which no state is kept.
    fn of(frame: &VideoFrame) -> Option<Failure> {
        match &frame.moves {
            None => Some(Failure::Frame(frame.number)),
            Some(moves) => moves.target.map(Failure::State),
        }
    }
}

enum Job {
    /// A new session, with what the server publishes.
    Session {
        codec: VideoCodec,
        published: Option<Published>,
    },
    Frame(VideoFrame),
}

/// The parameters of a decoder thread.
pub(super) struct Work {
    pub(super) clock: Clock,
    pub(super) codec: VideoCodec,
    pub(super) published: Option<Published>,
    pub(super) measured: Arc<Mutex<Measured>>,
    /// Receives failures to report to the sender.
    pub(super) failures: Sender<Failure>,
    pub(super) waker: Waker,
}

impl DecoderThread {
    /// # Errors
    /// When there is no decoder for the codec, or a file cannot be created.
    pub(super) fn start(config: &WatchConfig, work: Work) -> Result<DecoderThread, WatchError> {
        let size = work.published.as_ref().map_or(Size::new(0, 0), |about| Size::new(about.width, about.height));
        let interval_ms = work.published.as_ref().map_or(0.0, |published| published.frame_interval_ms);
        // Without an interval from the publisher a camera of 30 fps is assumed.
        let frame_rate = FrameRate::near(1e3 / interval_ms).unwrap_or(FrameRate::whole(30)).ratio();
        let recorder = config.record.as_ref().map(|path| Recorder::create(path, work.codec, size)).transpose()?;
        let pictures = config.y4m.as_ref().map(|path| Pictures::new(path, frame_rate));
        let standard = if config.decode { standard(work.codec)? } else { None };
        let decodes = config.decode;
        let (jobs, inbox) = sync_channel(WAITING);
        let mut decoding = Decoding { work, standard, functional: None, recorder, pictures, decodes };
        let thread = spawn("decoder", move || {
            let done = decoding.run(&inbox);
            // What was decoded before an error is written nevertheless.
            let finished = decoding.finish();
            done.and(finished)
        })?;
        Ok(DecoderThread { jobs, thread: Some(thread), is_behind: false })
    }

    /// A new session began: its frames do not refer to earlier ones.
    pub(super) fn begin_anew(&self, codec: VideoCodec, published: Option<Published>) {
        // If the thread has failed, `finish` returns the error.
        let _ = self.jobs.send(Job::Session { codec, published });
    }

    /// Queues a frame to decode. Returns the failure to report if the frame is skipped.
    pub(super) fn decode(&mut self, frame: VideoFrame) -> Result<(), Option<Failure>> {
        let failure = Failure::of(&frame);
        if self.is_behind && !frame.keyframe && frame.moves.is_none() {
            return Err(failure);
        }
        match self.jobs.try_send(Job::Frame(frame)) {
            Ok(()) => {
                self.is_behind = false;
                Ok(())
            }
            Err(TrySendError::Full(_)) => {
                self.is_behind = true;
                Err(failure)
            }
            // The thread has failed: `finish` returns the error.
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }

    /// Whether the thread has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Waits until everything is decoded and written.
    pub(super) fn finish(self) -> Result<(), WatchError> {
        drop(self.jobs);
        match self.thread.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(done)) => done,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

/// The standard decoder of a codec; `None` if this build has none.
fn standard(codec: VideoCodec) -> Result<Option<Box<dyn Decoder>>, WatchError> {
    Ok(match codec {
        #[cfg(feature = "libvpx")]
        VideoCodec::Vp8 => Some(Box::new(thalweg_codecs::libvpx::Vp8Decoder::new()?)),
        #[cfg(not(feature = "libvpx"))]
        VideoCodec::Vp8 => Some(Box::new(FunctionalDecoder::default())),
        #[cfg(feature = "openh264")]
        VideoCodec::H264 => Some(Box::new(thalweg_codecs::openh264::H264Decoder::new()?)),
        #[cfg(not(feature = "openh264"))]
        VideoCodec::H264 => None,
        #[cfg(feature = "libvpx")]
        VideoCodec::Vp9 => Some(Box::new(thalweg_codecs::libvpx::Vp9Decoder::new()?)),
        #[cfg(not(feature = "libvpx"))]
        VideoCodec::Vp9 => None,
    })
}

struct Decoding {
    work: Work,
    standard: Option<Box<dyn Decoder>>,
    functional: Option<FunctionalDecoder>,
    recorder: Option<Recorder>,
    pictures: Option<Pictures>,
    decodes: bool,
}

impl Decoding {
    fn run(&mut self, jobs: &Receiver<Job>) -> Result<(), WatchError> {
        for job in jobs {
            match job {
                Job::Frame(frame) => self.on_frame(&frame)?,
                Job::Session { codec, published } => self.begin_anew(codec, published)?,
            }
        }
        Ok(())
    }

    fn begin_anew(&mut self, codec: VideoCodec, published: Option<Published>) -> Result<(), WatchError> {
        if self.decodes {
            self.standard = standard(codec)?;
        }
        self.functional = None;
        (self.work.codec, self.work.published) = (codec, published);
        if let Some(recorder) = self.recorder.take_if(|recorder| recorder.codec() != codec) {
            tracing::warn!(codec = codec.name(), "the codec is another: the recording ends here");
            recorder.finish()?;
        }
        self.recorder.iter_mut().for_each(Recorder::begin_anew);
        self.pictures.iter_mut().for_each(Pictures::begin_anew);
        Ok(())
    }

    fn on_frame(&mut self, frame: &VideoFrame) -> Result<(), WatchError> {
        if let Some(recorder) = &mut self.recorder {
            recorder.add(frame.timestamp, &frame.data)?;
        }
        let decoded = match &frame.moves {
            _ if !self.decodes => None,
            Some(_) => Some(self.functional(frame)),
            None => self.standard.as_mut().map(|decoder| decoder.decode(&frame.data).map_err(|e| e.to_string())),
        };
        match decoded {
            // Without a decoder, a complete frame counts as shown.
            None => self.measure(|measured, now| measured.on_shown(now, None)),
            Some(Ok(picture)) => self.on_picture(frame, picture)?,
            Some(Err(error)) => {
                tracing::debug!(frame = frame.number, %error, "not decoded");
                self.measure(|measured, _| measured.on_undecodable());
                if frame.moves.is_none() {
                    self.report_failure(Failure::Frame(frame.number));
                }
            }
        }
        Ok(())
    }

    /// Decodes a frame from the state that it names, as the laboratory does.
    fn functional(&mut self, frame: &VideoFrame) -> Result<Option<Picture>, String> {
        use thalweg_codecs::States;
        let decoder = self.functional.get_or_insert_default();
        let Some(moves) = &frame.moves else { return Err("it names no state".into()) };
        moves.forget.iter().for_each(|state| States::forget(decoder, *state));
        let loaded = moves.load.is_none_or(|state| decoder.load(state));
        // The session has already removed the length field of the state moves.
        let decoded = decoder.decode(&frame.data);
        if let Some(target) = moves.target {
            if loaded && decoded.is_ok() && decoder.current() == target {
                decoder.keep();
            } else {
                self.report_failure(Failure::State(target));
            }
        }
        decoded.map_err(|error| error.to_string())
    }

    fn report_failure(&self, failure: Failure) {
        // If the network thread has ended, no request can be sent.
        if self.work.failures.send(failure).is_ok() {
            self.work.waker.wake();
        }
    }

    fn on_picture(&mut self, frame: &VideoFrame, picture: Option<Picture>) -> Result<(), WatchError> {
        self.measure(|measured, _| measured.on_decoded());
        let Some(picture) = picture else { return Ok(()) };
        let published = self.work.published.as_ref().filter(|published| published.barcodes);
        let numbered = published.zip(published.and_then(|_| barcode::read(&picture)));
        let clock = self.work.clock;
        self.measure(|measured, now| {
            measured.on_shown(now, Some(picture.size()));
            if let Some((published, number)) = numbered {
                let there_ms = wall_ms(&clock, now) + measured.offset_ms();
                measured.on_number(number, |number| there_ms - published.taken_ms(number));
            }
        });
        match &mut self.pictures {
            Some(pictures) => pictures.add(frame.timestamp, &picture),
            None => Ok(()),
        }
    }

    fn measure(&self, change: impl FnOnce(&mut Measured, thalweg_units::Time)) {
        let now = self.work.clock.now();
        change(&mut self.work.measured.lock().unwrap_or_else(PoisonError::into_inner), now);
    }

    fn finish(&mut self) -> Result<(), WatchError> {
        let recorded = self.recorder.take().map_or(Ok(()), Recorder::finish);
        recorded.and(self.pictures.take().map_or(Ok(()), Pictures::finish))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use thalweg_units::{Span, Time};

    use super::*;
    use crate::reactor::{Poller, PollerConfig};
    use crate::watch::Place;

    fn frame(number: u64, data: &[u8]) -> VideoFrame {
        VideoFrame {
            number,
            frame: None,
            picture: None,
            data: data.to_vec(),
            keyframe: number == 0,
            timestamp: 3000 * number,
            captured: None,
            sequences: number..=number,
            first_arrival: Time::ZERO,
            last_arrival: Time::ZERO,
            retransmitted: 0,
            recovered: 0,
            moves: None,
        }
    }

    #[test]
    fn what_the_decoder_refuses_is_told_by_its_number() {
        let place = Place::new("http://127.0.0.1:9/", None, None, None).unwrap();
        let clock = Clock::new();
        let poller = Poller::new(clock, PollerConfig::default()).unwrap();
        let measured = Arc::new(Mutex::new(Measured::new(Span::from_millis(400))));
        let (failures, reported) = channel();
        let work = Work {
            clock,
            codec: VideoCodec::Vp8,
            published: None,
            measured: measured.clone(),
            failures,
            waker: poller.waker(),
        };
        let mut decoder = DecoderThread::start(&WatchConfig::new(place), work).unwrap();
        // A keyframe without its start code, and a frame that refers to a missing frame.
        decoder.decode(frame(0, &[0x10, 2, 0, 0, 0, 0, 64, 1, 180, 0])).unwrap();
        decoder.decode(frame(1, &[0x31, 2, 0, 7, 7, 7, 7])).unwrap();
        decoder.finish().unwrap();
        assert_eq!(reported.iter().collect::<Vec<_>>(), [Failure::Frame(0), Failure::Frame(1)]);
        assert_eq!(measured.lock().unwrap().report(clock.now()).frames_undecodable, 2);
    }
}
