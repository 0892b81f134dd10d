//! A thread that produces pictures at their times.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thalweg_sender::frames::EncodedFrame;
use thalweg_session::Encoded;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Bytes, Seed, Span, Time};
use thalweg_video::footage::{self, Footage};
use thalweg_video::source::{Format, SceneConfig, Source, SourceError};
use thalweg_video::{Picture, Video, barcode};

use super::running::{Running, wait_until};
use crate::media::Repeat;
use crate::media::encoded::{EncodedOptions, EncodedSource, EncodedVideoFrame};
use thalweg_emulate::clock::Clock;

/// A picture that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Its number, from 0: it was taken this many intervals after the camera started. Numbers may be skipped.
    pub number: u64,
    /// Its content.
    pub seen: Seen,
}

/// The content of a picture.
#[derive(Debug, Clone)]
pub enum Seen {
    /// Samples to encode.
    Picture(Arc<Picture>),
    /// An already encoded frame.
    Frame(Encoded),
    /// Nothing, for encoders that use no samples.
    Nothing,
}

/// The origin of the pictures.
enum Pictures {
    /// Pictures that can be produced at any time.
    Footage(Box<Footage>),
    /// Live pictures: each is timed by its arrival.
    Stream(Box<dyn Source>),
    /// Already encoded frames, with their own times.
    Encoded(Box<EncodedSource>),
    /// None, for encoders that use no samples.
    None,
}

/// How far live pictures may fall behind before their count is reset: pictures that waited in a pipe are late, pictures
/// that a camera skipped are not.
const BEHIND: Span = Span::from_millis(500);

/// A camera that is not started yet.
pub struct Camera {
    pictures: Pictures,
    format: Format,
    barcode: bool,
}

impl Camera {
    /// Opens the source that `video` names. Standard input is live: a picture's time is its arrival. Any other source
    /// is played at its own rate, forwards and backwards without end.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn open(video: &Video, barcode: bool, seed: Seed) -> Result<Camera, SourceError> {
        let name = video.source.as_str();
        if name != "-" && !SceneConfig::is_named_by(name) && !Path::new(name).exists() {
            let problem = "no such file; the video is scene, scene:easy, a .y4m file, - for y4m on standard input, or a file ffmpeg reads";
            return Err(SourceError::format(name, problem));
        }
        let (pictures, format) = if name == "-" {
            if video.retimed {
                let (pictures, seconds) = video.scene_format().frame_rate;
                let problem = format!(
                    "{pictures}/{seconds} fps are asked for, and live video comes at its own rate: leave the rate out, or \
                     change it before (ffmpeg -r)"
                );
                return Err(SourceError::format("standard input", problem));
            }
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

    /// The encoded frames of `name` ([`crate::media::encoded`]), sent unchanged and repeated where possible; also
    /// returns their codec. Size and rate are those of `format` where the source has none.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn encoded(name: &str, format: Format) -> Result<(Camera, VideoCodec), SourceError> {
        let repeat = if name == "-" { Repeat::Once } else { Repeat::Forever };
        let source = EncodedSource::open(name, EncodedOptions { repeat, frame_rate: format.frame_rate })?;
        let codec = source.codec();
        let format = Format { size: source.size().unwrap_or(format.size), frame_rate: source.frame_rate() };
        Ok((Camera { pictures: Pictures::Encoded(Box::new(source)), format, barcode: false }, codec))
    }

    /// A camera without samples, for encoders that use none.
    pub fn blank(format: Format) -> Camera {
        Camera { pictures: Pictures::None, format, barcode: false }
    }

    /// Size and rate of its pictures.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Starts the camera: picture n is taken n intervals after `begin`, and `take` is called with each. Live pictures
    /// count from the first arrival, and those that arrive too fast are skipped. `ended` gets the reason why there are
    /// no more, unless the camera was stopped.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(
        self,
        clock: Clock,
        begin: Time,
        mut take: impl FnMut(Taken) + Send + 'static,
        ended: impl FnOnce(Result<(), SourceError>) + Send + 'static,
    ) -> io::Result<Running> {
        Running::start("camera", move |stop| self.run(clock, begin, stop, &mut take), ended)
    }

    fn run(self, clock: Clock, begin: Time, stop: &AtomicBool, take: &mut dyn FnMut(Taken)) -> Result<(), SourceError> {
        let Camera { mut pictures, format, barcode } = self;
        let mut number = 0;
        let mut has_turned = false;
        while !stop.load(Ordering::Relaxed) {
            let mut due = begin + format.time_of(number);
            let seen = match &mut pictures {
                Pictures::None => Seen::Nothing,
                Pictures::Footage(footage) => {
                    let Some(picture) = footage.picture(number)? else { return Ok(()) };
                    if let Some(length) = footage.turns_after().filter(|_| !has_turned) {
                        has_turned = true;
                        tracing::info!(%length, "the video has ended; it is played forwards and backwards by turns");
                    }
                    Seen::Picture(picture)
                }
                Pictures::Stream(stream) => match stream.next_picture()? {
                    Some(picture) => {
                        let came = clock.now();
                        // Pictures that arrive in a burst ahead of their times, such as a player's first second, are
                        // skipped.
                        if came + format.interval() < due {
                            continue;
                        }
                        if number == 0 || due + BEHIND < came {
                            number = number_at(format, came - begin);
                        }
                        Seen::Picture(picture)
                    }
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
            // A camera that falls behind skips pictures instead of catching up. Already encoded frames depend on each
            // other and have their own times, so none is skipped.
            while matches!(pictures, Pictures::Footage(_) | Pictures::None)
                && begin + format.time_of(number) + format.interval() < clock.now()
            {
                number += 1;
            }
        }
        Ok(())
    }
}

/// The frame in the engine's format; only its encoder knows quantiser and states.
fn encoded(frame: EncodedVideoFrame, format: Format) -> Encoded {
    let size = Bytes::new(frame.data.len() as u64);
    let (keyframe, picture) = (frame.keyframe, format.size);
    let about = EncodedFrame::new(size, picture).with(|frame| frame.keyframe = keyframe);
    Encoded { frame: about, data: frame.data.into() }
}

/// The number of the picture that is taken this long after the first.
fn number_at(format: Format, since: Span) -> u64 {
    let (pictures, seconds) = format.frame_rate;
    let nanos = u128::from(seconds.max(1)) * 1_000_000_000;
    let since = u128::try_from(since.as_nanos()).unwrap_or(0);
    u64::try_from(since * u128::from(pictures) / nanos).unwrap_or(u64::MAX)
}

fn numbered(picture: &Picture, number: u64) -> Arc<Picture> {
    let mut picture = picture.clone();
    barcode::draw(&mut picture, number);
    Arc::new(picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    #[test]
    fn a_pictures_number_is_that_of_the_interval_in_which_it_is_taken() {
        let format = Format { size: Size::HD, frame_rate: (30_000, 1001) };
        for number in [0, 1, 2, 1_799, 1 << 30] {
            // The time is rounded down to a nanosecond.
            let at = format.time_of(number) + Span::from_nanos(1);
            assert_eq!((number_at(format, at), number_at(format, at + format.interval() / 2)), (number, number));
        }
        assert_eq!(number_at(format, Span::from_millis(-3)), 0);
    }
}
