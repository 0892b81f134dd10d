//! A thread that makes pictures at their times.

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
use crate::clock::Clock;
use crate::media::Repeat;
use crate::media::encoded::{EncodedOptions, EncodedSource, EncodedVideoFrame};

/// A picture that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Which, from 0: it was taken so many intervals after the camera began. Some may be left out.
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

/// How far live pictures may fall behind before they are counted anew: what waited in a pipe is late, what a camera left out is not.
const BEHIND: Span = Span::from_millis(500);

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

    /// Frames as they are in `name` ([`crate::media::encoded`]), from the beginning again at the end where that is possible; and their codec.
    /// Of size and rate what the source does not say is that of `format`.
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

    /// A camera whose pictures nobody looks at.
    pub fn blank(format: Format) -> Camera {
        Camera { pictures: Pictures::None, format, barcode: false }
    }

    /// Size and rate of its pictures.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Begins: picture n is taken n intervals after `begin`, and `take` is called with each. Live ones are counted from when the first came;
    /// those that come too fast are left out.
    /// `ended` is given why there are no more, unless it was stopped.
    ///
    /// # Errors
    /// When the system gives no thread.
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
        while !stop.load(Ordering::Relaxed) {
            let mut due = begin + format.time_of(number);
            let seen = match &mut pictures {
                Pictures::None => Seen::Nothing,
                Pictures::Footage(footage) => match footage.picture(number)? {
                    Some(picture) => Seen::Picture(picture),
                    None => return Ok(()),
                },
                Pictures::Stream(stream) => match stream.next_picture()? {
                    Some(picture) => {
                        let came = clock.now();
                        // What comes in a burst before its time, as a player's first second does, was not taken then.
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
            // What could not be made in time is not made up for: a camera that falls behind skips. Frames that are encoded already need each
            // other, and have times of their own.
            while matches!(pictures, Pictures::Footage(_) | Pictures::None)
                && begin + format.time_of(number) + format.interval() < clock.now()
            {
                number += 1;
            }
        }
        Ok(())
    }
}

/// The frame as the engine takes it; its quantiser and states are known to who encoded it.
fn encoded(frame: EncodedVideoFrame, format: Format) -> Encoded {
    let size = Bytes::new(frame.data.len() as u64);
    let (keyframe, picture) = (frame.keyframe, format.size);
    let about = EncodedFrame { size, keyframe, layer: 0, quantizer: None, picture, transition: None };
    Encoded { frame: about, data: frame.data.into() }
}

/// The picture that is being taken so long after the first.
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
