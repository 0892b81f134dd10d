//! A thread that makes pictures at their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use thalweg_lab::footage::{self, Footage};
use thalweg_lab::scenario::Video;
use thalweg_units::{Seed, Span, Time};
use thalweg_video::source::{Format, Source, SourceError};
use thalweg_video::{Picture, barcode};

use crate::clock::{Clock, pause};

/// A picture, and when it was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Which, from 0; numbers follow one another.
    pub number: u64,
    /// When.
    pub at: Time,
    /// What is seen; `None` from a camera for encoders that look at no samples.
    pub picture: Option<Arc<Picture>>,
}

/// Where pictures come from.
enum Pictures {
    /// Any number of them, at times of our choosing.
    Footage(Box<Footage>),
    /// As they come: their times are when they do.
    Stream(Box<dyn Source>),
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
        ended: impl FnOnce(Result<(), SourceError>) + Send + 'static,
    ) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let body = move || ended(self.run(clock, begin, &stopped, &mut take));
        Running { stop, thread: Some(spawn("camera", body)) }
    }

    fn run(self, clock: Clock, begin: Time, stop: &AtomicBool, take: &mut dyn FnMut(Taken)) -> Result<(), SourceError> {
        let Camera { mut pictures, format, barcode } = self;
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            let due = begin + nth(format, number);
            let picture = match &mut pictures {
                Pictures::None => None,
                Pictures::Footage(footage) => {
                    let Some(picture) = footage.picture(number)? else { return Ok(()) };
                    Some(picture)
                }
                Pictures::Stream(stream) => {
                    let Some(picture) = stream.next_picture()? else { return Ok(()) };
                    Some(picture)
                }
            };
            let picture = picture.map(|picture| if barcode { numbered(&picture, number) } else { picture });
            let at = match pictures {
                Pictures::Stream(_) => clock.now(),
                Pictures::Footage(_) | Pictures::None => {
                    wait_until(&clock, due, stop);
                    due
                }
            };
            take(Taken { number, at, picture });
            number += 1;
            // What could not be made in time is not made up for: a camera that falls behind skips.
            while !matches!(pictures, Pictures::Stream(_))
                && begin + nth(format, number) + format.interval() < clock.now()
            {
                number += 1;
            }
        }
        Ok(())
    }
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

fn wait_until(clock: &Clock, due: Time, stop: &AtomicBool) {
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
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    match std::thread::Builder::new().name(name.into()).spawn(body) {
        Ok(thread) => thread,
        Err(error) => panic!("the system gives no thread: {error}"),
    }
}
