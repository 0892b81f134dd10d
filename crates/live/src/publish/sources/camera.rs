//! A thread that produces pictures at their times.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use thalweg_sender::frames::EncodedFrame;
use thalweg_session::Encoded;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Bytes, Seed, Span, Time};
use thalweg_video::ffmpeg::is_address;
use thalweg_video::footage::{self, Footage};
use thalweg_video::source::{Format, Source, SourceError};
use thalweg_video::{Picture, Video, barcode};

use super::address::Address;
use super::running::{Running, wait_until};
use crate::media::Repeat;
use crate::media::encoded::{EncodedOptions, EncodedSource, EncodedVideoFrame};
use thalweg_emulate::clock::Clock;

/// A picture that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Its number, from 0: it was taken this many intervals after the camera started. Numbers may be skipped.
    pub number: u64,
    /// When it was captured: a file's own time, or the time at which a live picture came.
    pub captured: Time,
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
    /// The same of an address, which is opened again where it is lost.
    Address(Box<Address>),
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
    repeat: Repeat,
    /// The duration of a file that is repeated, once it has ended for the first time.
    round: Arc<OnceLock<Span>>,
}

/// A file is taken for a still picture, whose rounds the audio does not follow, below this duration.
const STILL: Span = Span::from_secs(1);

impl Camera {
    fn new(pictures: Pictures, format: Format) -> Camera {
        Camera { pictures, format, barcode: false, repeat: Repeat::Forever, round: Arc::default() }
    }

    /// Opens the source that `video` names. Standard input and an address without an end are live: a picture's time is its
    /// arrival. Any other source is played at its own rate, once or again and again.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn open(video: &Video, barcode: bool, repeat: Repeat, seed: Seed) -> Result<Camera, SourceError> {
        let name = video.source.as_str();
        let about = footage::about(video)?;
        for note in &about.notes {
            tracing::info!(video = name, "{note}");
        }
        let is_live = name == "-" || is_address(name) && about.duration.is_none();
        if is_live && video.retimed {
            let (pictures, seconds) = video.scene_format().frame_rate;
            let problem = format!(
                "{pictures}/{seconds} fps are asked for, and live video comes at its own rate: leave the rate out, or \
                 change it before (ffmpeg -r)"
            );
            return Err(SourceError::format(if name == "-" { "standard input" } else { name }, problem));
        }
        let (pictures, format) = if name == "-" {
            let stream = footage::once(video, seed)?;
            let format = stream.format();
            (Pictures::Stream(stream), format)
        } else if is_live {
            let (address, format) = Address::open(name, video.size, repeat)?;
            (Pictures::Address(Box::new(address)), format)
        } else {
            let footage = Footage::open(video, seed)?;
            let format = footage.format();
            (Pictures::Footage(Box::new(footage)), format)
        };
        Ok(Camera { barcode, repeat, ..Camera::new(pictures, format) })
    }

    /// The encoded frames of `name` ([`crate::media::encoded`]), sent unchanged and, where that is possible, repeated if they
    /// are to be; also returns their codec. Size and rate are those of `video` where the source has none.
    ///
    /// # Errors
    /// When it cannot be read, with what to do about it.
    pub fn encoded(video: &Video, repeat: Repeat) -> Result<(Camera, VideoCodec), SourceError> {
        let (name, format) = (video.source.as_str(), video.scene_format());
        let repeat = if name == "-" { Repeat::Once } else { repeat };
        let frame_rate = video.retimed.then_some(format.frame_rate);
        let source = EncodedSource::open(name, EncodedOptions { repeat, frame_rate })?;
        let codec = source.codec();
        let format = Format { size: source.size().unwrap_or(format.size), frame_rate: source.frame_rate() };
        Ok((Camera { repeat, ..Camera::new(Pictures::Encoded(Box::new(source)), format) }, codec))
    }

    /// A camera without samples, for encoders that use none.
    pub fn blank(format: Format) -> Camera {
        Camera::new(Pictures::None, format)
    }

    /// The duration of a file that is repeated, once it has ended for the first time: what is played beside it begins again
    /// with it. `None` where nothing is repeated.
    pub fn round(&self) -> Option<Arc<OnceLock<Span>>> {
        let is_repeated =
            self.repeat == Repeat::Forever && matches!(self.pictures, Pictures::Footage(_) | Pictures::Encoded(_));
        is_repeated.then(|| self.round.clone())
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
        let Camera { mut pictures, format, barcode, repeat, round } = self;
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            let mut captured = begin + format.time_of(number);
            let seen = match &mut pictures {
                Pictures::None => Seen::Nothing,
                Pictures::Footage(footage) => {
                    let Some(picture) = footage.picture(number)? else { return Ok(()) };
                    if let Some(length) = footage.turns_after() {
                        if repeat == Repeat::Once {
                            return Ok(());
                        }
                        has_turned(&round, length);
                    }
                    Seen::Picture(picture)
                }
                Pictures::Stream(_) | Pictures::Address(_) => {
                    let picture = match &mut pictures {
                        Pictures::Address(address) => address.next_picture(stop)?,
                        Pictures::Stream(stream) => stream.next_picture()?,
                        _ => None,
                    };
                    let Some(picture) = picture else { return Ok(()) };
                    let came = clock.now();
                    // Pictures that arrive in a burst ahead of their times, such as a player's first second, are
                    // skipped.
                    if came + format.interval() < captured {
                        continue;
                    }
                    if number == 0 || captured + BEHIND < came {
                        number = number_at(format, came - begin);
                    }
                    captured = came;
                    Seen::Picture(picture)
                }
                Pictures::Encoded(source) => match source.next_frame()? {
                    Some(frame) => {
                        if let Some(length) = source.round() {
                            has_turned(&round, length);
                        }
                        captured = begin + frame.time;
                        Seen::Frame(encoded(frame, format))
                    }
                    None => return Ok(()),
                },
            };
            let seen = match seen {
                Seen::Picture(picture) if barcode => Seen::Picture(numbered(&picture, number)),
                seen => seen,
            };
            wait_until(&clock, captured, stop);
            take(Taken { number, captured, seen });
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

/// A file of this duration begins again, which is said the first time.
fn has_turned(round: &OnceLock<Span>, length: Span) {
    if length >= STILL && round.set(length).is_ok() {
        tracing::info!(length = %length.whole_millis(), "the video has ended and begins again");
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
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::time::Duration;

    use super::*;
    use crate::media::testing::{Scratch, ffmpeg};
    use thalweg_units::Size;

    /// Longer than any picture takes on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Ten pictures of H.264 with B-frames at 20 a second, and so much sound.
    fn clip(folder: &Scratch, name: &str) -> String {
        let path = folder.path(name);
        let source = "testsrc2=size=96x64:rate=20:duration=0.5[out0];sine=duration=0.5[out1]";
        ffmpeg(&["-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", &path]);
        path
    }

    /// Starts the camera; the receiver ends with it.
    fn started(camera: Camera, clock: Clock, begin: Time) -> (Running, mpsc::Receiver<Taken>) {
        let (taken, pictures) = mpsc::channel();
        let take = move |picture| drop(taken.send(picture));
        (camera.start(clock, begin, take, |ended| ended.unwrap()).unwrap(), pictures)
    }

    #[test]
    fn a_file_begins_again_and_its_pictures_have_its_own_times() {
        let folder = Scratch::new("again");
        let video = Video::of(clip(&folder, "clip.mp4"), None);
        let clock = Clock::new();
        let begin = clock.now() + Span::from_millis(50);
        let camera = Camera::open(&video, false, Repeat::Forever, Seed::new(1)).unwrap();
        let (format, round) = (camera.format(), camera.round().unwrap());
        let (_running, pictures) = started(camera, clock, begin);
        let mut first: BTreeMap<u64, Arc<Picture>> = BTreeMap::new();
        let mut again = 0;
        while again < 15 {
            let taken = pictures.recv_timeout(PATIENCE).unwrap();
            assert_eq!(taken.captured, begin + format.time_of(taken.number));
            let Seen::Picture(picture) = taken.seen else { panic!("no picture") };
            let known = first.entry(taken.number % 10).or_insert_with(|| picture.clone());
            assert!(*known == picture, "picture {}", taken.number);
            again += u64::from(taken.number >= 10);
        }
        assert_eq!(round.get(), None, "half a second is a still picture's");
    }

    #[test]
    fn a_file_that_is_played_once_ends_with_its_last_picture() {
        let folder = Scratch::new("once");
        let video = Video::of(clip(&folder, "clip.mkv"), None);
        let clock = Clock::new();
        let camera = Camera::open(&video, false, Repeat::Once, Seed::new(1)).unwrap();
        assert!(camera.round().is_none());
        let (_running, pictures) = started(camera, clock, clock.now());
        let mut last = None;
        loop {
            match pictures.recv_timeout(PATIENCE) {
                Ok(taken) => last = Some(taken.number),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it goes on after {last:?}"),
            }
        }
        assert!(last.is_some_and(|last| last < 10), "{last:?}");
    }

    #[test]
    fn an_address_is_opened_again_when_it_is_lost() {
        let folder = Scratch::new("address");
        let bytes = std::fs::read(clip(&folder, "clip.ts")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let name = format!("http://{}/live", listener.local_addr().unwrap());
        // A live stream says no length. Each connection gets half a second of it, and is closed.
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let _ = connection.read(&mut [0; 4096]);
                let _ = connection.write_all(b"HTTP/1.0 200 OK\r\nContent-Type: video/mp2t\r\n\r\n");
                let _ = connection.write_all(&bytes);
            }
        });
        let clock = Clock::new();
        let camera = Camera::open(&Video::of(name, None), false, Repeat::Forever, Seed::new(1)).unwrap();
        assert_eq!(camera.format(), Format { size: Size::new(96, 64), frame_rate: (20, 1) });
        let begin = clock.now();
        let (_running, pictures) = started(camera, clock, begin);
        let (mut last, mut gaps) = (None, 0);
        while gaps < 2 {
            let taken = pictures.recv_timeout(PATIENCE).unwrap();
            let since = last.replace(taken.captured).map(|last| taken.captured - last);
            gaps += u64::from(since.is_some_and(|since| since > Span::from_millis(900)));
        }
    }

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
