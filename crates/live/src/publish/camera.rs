//! A thread that makes pictures at their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use thalweg_lab::footage::{self, Footage};
use thalweg_lab::scenario::Video;
use thalweg_sender::frames::EncodedFrame;
use thalweg_session::Encoded;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Bytes, Seed, Span, Time};
use thalweg_video::source::{Format, Source, SourceError};
use thalweg_video::{Picture, barcode};

use crate::clock::{Clock, pause};
use crate::media::encoded::{EncodedOptions, EncodedSource, EncodedVideoFrame};
use crate::media::{MediaError, Repeat};

/// A picture that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Which, from 0; numbers follow one another.
    pub number: u64,
    /// What is seen.
    pub seen: Seen,
}

/// What a camera gives.
#[derive(Debug, Clone)]
pub enum Seen {
    /// Samples, to be encoded.
    Picture(Arc<Picture>),
    /// A frame that is encoded already.
    Frame(Encoded),
    /// Nothing: for encoders that look at no samples.
    Nothing,
}

/// Where pictures come from.
enum Pictures {
    /// Any number of them, at times of our choosing.
    Footage(Box<Footage>),
    /// As they come: their times are when they do.
    Stream(Box<dyn Source>),
    /// Frames that somebody else has encoded, at their own times.
    Encoded(Box<EncodedSource>),
    /// For encoders that look at none.
    None,
}

/// A camera that has not begun yet.
pub struct Camera {
    pictures: Pictures,
    format: Format,
    barcode: bool,
}

impl Camera {
    /// Opens what `video` names. Standard input is live: a picture's time is when it came. Everything else is played at its own rate, forth and
    /// back without end.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn open(video: &Video, barcode: bool, seed: Seed) -> Result<Camera, SourceError> {
        let (pictures, format) = if video.source == "-" {
            let stream = footage::once(video, seed)?;
            let format = stream.format();
            (Pictures::Stream(stream), format)
        } else {
            let footage = Footage::open(video, seed)?;
            let format = footage.format();
            (Pictures::Footage(Box::new(footage)), format)
        };
        Ok(Camera { pictures, format, barcode })
    }

    /// Frames as they are in `name` ([`crate::media::encoded`]), from the beginning again at the end where that is possible; and their codec.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn encoded(name: &str, format: Format) -> Result<(Camera, VideoCodec), MediaError> {
        let repeat = if name == "-" { Repeat::Once } else { Repeat::Forever };
        let source = EncodedSource::open(name, EncodedOptions { repeat, frame_rate: format.frame_rate })?;
        let codec = source.codec();
        Ok((Camera { pictures: Pictures::Encoded(Box::new(source)), format, barcode: false }, codec))
    }

    /// A camera whose pictures nobody looks at.
    pub fn blank(format: Format) -> Camera {
        Camera { pictures: Pictures::None, format, barcode: false }
    }

    /// Size and rate of its pictures.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Begins: picture n is taken n intervals after `begin`, and `take` is called with each; it says whether to go on. `ended` is told why
    /// there are no more.
    pub fn start(
        self,
        clock: Clock,
        begin: Time,
        mut take: impl FnMut(Taken) + Send + 'static,
        ended: impl FnOnce(Result<(), CameraError>) + Send + 'static,
    ) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let body = move || ended(self.run(clock, begin, &stopped, &mut take));
        Running::new(stop, spawn("camera", body))
    }

    fn run(self, clock: Clock, begin: Time, stop: &AtomicBool, take: &mut dyn FnMut(Taken)) -> Result<(), CameraError> {
        let Camera { mut pictures, format, barcode } = self;
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            let mut due = begin + nth(format, number);
            let seen = match &mut pictures {
                Pictures::None => Seen::Nothing,
                Pictures::Footage(footage) => match footage.picture(number)? {
                    Some(picture) => Seen::Picture(picture),
                    None => return Ok(()),
                },
                Pictures::Stream(stream) => match stream.next_picture()? {
                    Some(picture) => Seen::Picture(picture),
                    None => return Ok(()),
                },
                Pictures::Encoded(source) => match source.next_frame()? {
                    Some(frame) => {
                        due = begin + frame.time;
                        Seen::Frame(encoded(frame, format))
                    }
                    None => return Ok(()),
                },
            };
            let seen = match seen {
                Seen::Picture(picture) if barcode => Seen::Picture(numbered(&picture, number)),
                seen => seen,
            };
            if !matches!(pictures, Pictures::Stream(_)) {
                wait_until(&clock, due, stop);
            }
            take(Taken { number, seen });
            number += 1;
            // What could not be made in time is not made up for: a camera that falls behind skips. Frames that are encoded already need each
            // other, and have times of their own.
            while matches!(pictures, Pictures::Footage(_) | Pictures::None)
                && begin + nth(format, number) + format.interval() < clock.now()
            {
                number += 1;
            }
        }
        Ok(())
    }
}

/// A camera has failed.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// Its pictures cannot be read on.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Its frames cannot be read on.
    #[error(transparent)]
    Media(#[from] MediaError),
}

/// The frame as the engine takes it; its quantiser and states are known to who encoded it.
fn encoded(frame: EncodedVideoFrame, format: Format) -> Encoded {
    let size = Bytes::new(frame.data.len() as u64);
    let (keyframe, picture) = (frame.keyframe, format.size);
    let about = EncodedFrame { size, keyframe, quantizer: None, picture, transition: None };
    Encoded { frame: about, data: frame.data.into() }
}

/// When picture `number` is taken after the first; exact for every frame rate, without drift.
pub fn nth(format: Format, number: u64) -> Span {
    let (rate, per) = format.frame_rate;
    let nanos = u128::from(number) * u128::from(per) * 1_000_000_000 / u128::from(rate.max(1));
    Span::from_nanos(nanos as i64)
}

fn numbered(picture: &Picture, number: u64) -> Arc<Picture> {
    let mut picture = picture.clone();
    barcode::draw(&mut picture, number);
    Arc::new(picture)
}

pub(super) fn wait_until(clock: &Clock, due: Time, stop: &AtomicBool) {
    /// So long a stop may wait.
    const STEP: Span = Span::from_millis(100);
    loop {
        let left = due - clock.now();
        if left <= Span::ZERO || stop.load(Ordering::Relaxed) {
            return;
        }
        pause(left.min(STEP));
    }
}

/// A camera that runs. It stops when this is dropped.
pub struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// A thread that looks at `stop`.
    pub(super) fn new(stop: Arc<AtomicBool>, thread: JoinHandle<()>) -> Running {
        Running { stop, thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A camera that waits for standard input may never wake: it is left to the end of the process.
        if let Some(thread) = self.thread.take().filter(|thread| thread.is_finished()) {
            let _ = thread.join();
        }
    }
}

/// A thread with a name that shows in debuggers.
pub(crate) fn spawn<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match std::thread::Builder::new().name(name.into()).spawn(body) {
        Ok(thread) => thread,
        Err(error) => panic!("the system gives no thread: {error}"),
    }
}
