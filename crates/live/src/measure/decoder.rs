//! The decoder, in its own thread: decoding takes milliseconds and must not delay packets. The thread writes the files
//! too.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use thalweg_codecs::functional::FunctionalDecoder;
use thalweg_codecs::{Decoder, dav1d};
use thalweg_receiver::rtp::VideoFrame;
use thalweg_sender::frames::StateHash;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::FrameRate;
use thalweg_video::{Picture, barcode};

use super::error::MeasureError;
use super::forward::Forward;
use super::measured::Measured;
use super::record::{Pictures, Recorder};
use super::{Handling, Numbers, Source, captured_ms, wall_ms};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::Waker;
use thalweg_emulate::thread::spawn;

/// Maximum number of frames that wait for the decoder: two seconds at 60 fps. Beyond that frames are skipped up to the
/// next keyframe.
const WAITING: usize = 120;

/// The handle of a decoder; its thread ends when `finish` is called.
pub(crate) struct DecoderThread {
    jobs: SyncSender<Job>,
    thread: Option<JoinHandle<Result<(), MeasureError>>>,
    /// Frames are skipped until the next keyframe.
    is_behind: bool,
}

/// A decoding failure to report to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
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
    /// A new session, with what is known of its video.
    Session {
        codec: VideoCodec,
        source: Source,
    },
    Frame(VideoFrame),
}

/// The parameters of a decoder thread.
pub(crate) struct Work {
    pub(crate) clock: Clock,
    pub(crate) codec: VideoCodec,
    pub(crate) source: Source,
    pub(crate) measured: Arc<Mutex<Measured>>,
    /// Receives failures to report to the sender.
    pub(crate) failures: Sender<Failure>,
    pub(crate) waker: Waker,
    /// Where pictures go besides being measured.
    pub(crate) forward: Option<Arc<dyn Forward>>,
}

impl DecoderThread {
    /// # Errors
    /// When there is no decoder for the codec, or a file cannot be created.
    pub(crate) fn start(handling: &Handling, work: Work) -> Result<DecoderThread, MeasureError> {
        let Source { size, frame_interval_ms, .. } = work.source;
        // Where the interval is not known, a camera of 30 fps is assumed.
        let frame_rate = FrameRate::near(1e3 / frame_interval_ms).unwrap_or(FrameRate::whole(30)).ratio();
        let recorder = handling.record.as_ref().map(|path| Recorder::create(path, work.codec, size)).transpose()?;
        let pictures = handling.y4m.as_ref().map(|path| Pictures::new(path, frame_rate));
        let decodes = handling.decode;
        let standard = if decodes { standard_decoder(work.codec)? } else { None };
        let (jobs, inbox) = sync_channel(WAITING);
        let mut decoding = Decoding { work, standard, functional: None, recorder, pictures, unwritten: None, decodes };
        let thread = spawn("decoder", move || {
            let done = decoding.run(&inbox);
            // What was decoded before an error is written nevertheless.
            let finished = decoding.finish();
            done.and(finished)
        })?;
        Ok(DecoderThread { jobs, thread: Some(thread), is_behind: false })
    }

    /// A new session began: its frames do not refer to earlier ones.
    pub(crate) fn begin_anew(&self, codec: VideoCodec, source: Source) {
        // If the thread has failed, `finish` returns the error.
        let _ = self.jobs.send(Job::Session { codec, source });
    }

    /// Queues a frame to decode. Returns the failure to report if the frame is skipped.
    pub(crate) fn decode(&mut self, frame: VideoFrame) -> Result<(), Option<Failure>> {
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

    /// Returns true if the thread has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Waits until everything is decoded and written.
    pub(crate) fn finish(self) -> Result<(), MeasureError> {
        drop(self.jobs);
        match self.thread.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(done)) => done,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

/// The codecs that this build decodes on this machine, in the order of
/// [`Capabilities::all`](thalweg_transport::sdp::Capabilities::all).
pub(crate) fn decodable() -> Vec<VideoCodec> {
    // VP8 is decoded without any library too.
    [
        Some(VideoCodec::Vp8),
        cfg!(feature = "openh264").then_some(VideoCodec::H264),
        cfg!(feature = "libvpx").then_some(VideoCodec::Vp9),
        dav1d::is_installed().then_some(VideoCodec::Av1),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Part that this build lacks for decoding a codec.
pub(crate) fn needed(codec: VideoCodec) -> &'static str {
    match codec {
        VideoCodec::Vp8 => "nothing",
        VideoCodec::H264 => "a build with the feature openh264",
        VideoCodec::Vp9 => "a build with the feature libvpx",
        VideoCodec::Av1 if cfg!(feature = "dav1d") => dav1d::NEEDED,
        VideoCodec::Av1 => "a build with the feature dav1d",
    }
}

/// The standard decoder of a codec; `None` if this build has none.
///
/// # Errors
/// When the library has no memory for one, or is not installed (AV1).
pub fn standard_decoder(codec: VideoCodec) -> Result<Option<Box<dyn Decoder>>, MeasureError> {
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
        #[cfg(feature = "dav1d")]
        VideoCodec::Av1 => Some(Box::new(dav1d::Av1Decoder::new()?)),
        #[cfg(not(feature = "dav1d"))]
        VideoCodec::Av1 => None,
    })
}

struct Decoding {
    work: Work,
    standard: Option<Box<dyn Decoder>>,
    functional: Option<FunctionalDecoder>,
    recorder: Option<Recorder>,
    pictures: Option<Pictures>,
    /// Why the first of the files ended before the session did.
    unwritten: Option<MeasureError>,
    decodes: bool,
}

impl Decoding {
    fn run(&mut self, jobs: &Receiver<Job>) -> Result<(), MeasureError> {
        for job in jobs {
            match job {
                Job::Frame(frame) => self.on_frame(&frame)?,
                Job::Session { codec, source } => self.begin_anew(codec, source)?,
            }
        }
        Ok(())
    }

    fn begin_anew(&mut self, codec: VideoCodec, source: Source) -> Result<(), MeasureError> {
        if self.decodes {
            self.standard = standard_decoder(codec)?;
        }
        self.functional = None;
        (self.work.codec, self.work.source) = (codec, source);
        if let Some(recorder) = self.recorder.take_if(|recorder| recorder.codec() != codec) {
            tracing::warn!(codec = codec.name(), "the codec is another: the recording ends here");
            let finished = recorder.finish();
            self.note(finished);
        }
        self.recorder.iter_mut().for_each(Recorder::begin_anew);
        self.pictures.iter_mut().for_each(Pictures::begin_anew);
        Ok(())
    }

    fn on_frame(&mut self, frame: &VideoFrame) -> Result<(), MeasureError> {
        if let Some(mut recorder) = self.recorder.take() {
            let written = recorder.add(frame.timestamp, &frame.data);
            self.recorder = self.note(written).then_some(recorder);
        }
        let decoded = match &frame.moves {
            _ if !self.decodes => None,
            Some(_) => Some(self.functional(frame)),
            None => self.standard.as_mut().map(|decoder| decoder.decode(&frame.data).map_err(|e| e.to_string())),
        };
        match decoded {
            // Without a decoder, a complete frame counts as shown.
            None => self.measure(|measured, now| measured.on_shown(now, frame.number, None)),
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

    fn on_picture(&mut self, frame: &VideoFrame, picture: Option<Picture>) -> Result<(), MeasureError> {
        self.measure(|measured, _| measured.on_decoded());
        let Some(picture) = picture.map(Arc::new) else { return Ok(()) };
        if let Some(forward) = &self.work.forward {
            forward.picture(self.work.clock.now(), picture.clone());
        }
        let Source { numbers, frame_interval_ms, .. } = self.work.source;
        let number = if numbers == Numbers::None { None } else { barcode::read(&picture) };
        let clock = self.work.clock;
        self.measure(|measured, now| {
            measured.on_shown(now, frame.number, Some(picture.size()));
            let Some(number) = number else { return };
            let there_ms = wall_ms(&clock, now) + measured.offset_ms();
            match numbers {
                Numbers::None => {}
                Numbers::Since { epoch_ms } => {
                    measured.on_number(number, |number| there_ms - (epoch_ms + number as f64 * frame_interval_ms));
                }
                Numbers::Perhaps => measured.on_reported_number(frame.number, number, there_ms, captured_ms(frame)),
            }
        });
        if let Some(mut pictures) = self.pictures.take() {
            let written = pictures.add(frame.timestamp, &picture);
            // Who reads the pictures from standard output has gone.
            if pictures.is_piped() {
                written?;
                self.pictures = Some(pictures);
            } else {
                self.pictures = self.note(written).then_some(pictures);
            }
        }
        Ok(())
    }

    /// Records the result of writing a file, and returns true if it was written. The session outlives one that cannot
    /// be; its error is the result at the end.
    fn note(&mut self, written: Result<(), MeasureError>) -> bool {
        let is_written = written.is_ok();
        if let Err(error) = written {
            tracing::warn!(%error, "this file ends here; the session goes on");
            self.unwritten.get_or_insert(error);
        }
        is_written
    }

    fn measure(&self, change: impl FnOnce(&mut Measured, thalweg_units::Time)) {
        let now = self.work.clock.now();
        change(&mut self.work.measured.lock().unwrap_or_else(PoisonError::into_inner), now);
    }

    fn finish(&mut self) -> Result<(), MeasureError> {
        let recorded = self.recorder.take().map_or(Ok(()), Recorder::finish);
        let pictured = self.pictures.take().map_or(Ok(()), Pictures::finish);
        self.unwritten.take().map_or(Ok(()), Err).and(recorded).and(pictured)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use thalweg_units::{Span, Time};

    use super::*;
    use thalweg_emulate::reactor::{Poller, PollerConfig};

    /// When all is over.
    const LATER: Time = Time::from_millis(60_000);

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

    /// A decoder of VP8, what it counts, and the failures that it reports.
    fn started(change: impl FnOnce(&mut Handling)) -> (DecoderThread, Arc<Mutex<Measured>>, Receiver<Failure>) {
        let mut handling = Handling { decode: true, record: None, y4m: None };
        change(&mut handling);
        let clock = Clock::new();
        let poller = Poller::new(clock, PollerConfig::default()).unwrap();
        let measured = Arc::new(Mutex::new(Measured::new(Span::from_millis(400))));
        let (failures, reported) = channel();
        let work = Work {
            clock,
            codec: VideoCodec::Vp8,
            source: Source::UNKNOWN,
            measured: measured.clone(),
            failures,
            waker: poller.waker(),
            forward: None,
        };
        (DecoderThread::start(&handling, work).unwrap(), measured, reported)
    }

    #[test]
    fn a_full_disk_ends_the_recording_and_not_the_session() {
        let (mut decoder, measured, _reported) = started(|handling| handling.record = Some("/dev/full".into()));
        for number in 0..4 {
            decoder.decode(frame(number, &[0; 20_000])).unwrap();
        }
        let error = decoder.finish().unwrap_err();
        assert!(matches!(&error, MeasureError::Write { path, .. } if path.ends_with("full")), "{error}");
        // All of them reached the decoder, though it can make nothing of zeros.
        assert_eq!(measured.lock().unwrap().report(LATER).frames_undecodable, 4);
    }

    /// Twelve temporal units of AV1, of which the first and the seventh are keyframes (`crates/codecs/tests/av1.rs`).
    #[cfg(feature = "dav1d")]
    const AV1: &[u8] = include_bytes!("../../../codecs/tests/data/av1.ivf");

    /// The frames that are received of this AV1 in packets of 100 bytes, when those of the unit `lost` do not come.
    #[cfg(feature = "dav1d")]
    fn received(lost: Option<usize>) -> Vec<VideoFrame> {
        use thalweg_receiver::rtp::{Codec, Config, Output, Reception, Video};
        use thalweg_units::{Bytes, Ecn};
        use thalweg_wire::av1;
        use thalweg_wire::rtp::{Header, Packet};

        let config = Config { video: Some(Video::new(Codec::Av1, 45)), ..Config::default() };
        let mut reception = Reception::new(config).unwrap();
        let mut frames = Vec::new();
        let mut sequence = 65_530u16;
        let units = thalweg_vp8::ivf::Reader::new(AV1, &[thalweg_vp8::ivf::AV1]).unwrap();
        for (number, unit) in units.enumerate() {
            let payloads = av1::fragments(&unit.unwrap().bytes, Bytes::new(100)).unwrap();
            for (place, payload) in (1..).zip(&payloads) {
                sequence = sequence.wrapping_add(1);
                let (marker, timestamp) = (place == payloads.len(), 3000 * number as u32);
                let mut packet = Vec::new();
                Packet::new(Header { marker, payload_type: 45, sequence, timestamp, ssrc: 5 }, payload)
                    .write(&mut packet)
                    .unwrap();
                if lost != Some(number) {
                    reception.on_rtp(Time::from_millis(33 * number as u64), Ecn::NotCapable, &packet);
                }
                loop {
                    match reception.poll() {
                        Output::Frame(frame) => frames.push(frame),
                        Output::Wait { .. } => break,
                        _ => {}
                    }
                }
            }
        }
        frames
    }

    #[cfg(feature = "dav1d")]
    #[test]
    fn av1_is_put_together_from_its_packets_and_decoded() {
        let frames = received(None);
        let keyframes: Vec<_> = frames.iter().filter(|frame| frame.keyframe).map(|frame| frame.number).collect();
        assert_eq!((frames.len(), keyframes), (12, vec![0, 6]));
        let (mut decoder, measured, reported) = started(|_| ());
        decoder.begin_anew(VideoCodec::Av1, Source::UNKNOWN);
        for frame in frames {
            decoder.decode(frame).unwrap();
        }
        decoder.finish().unwrap();
        let report = measured.lock().unwrap().report(LATER);
        assert_eq!((report.frames_decoded, report.frames_undecodable, reported.iter().count()), (12, 0, 0));
        assert_eq!(report.resolution.as_deref(), Some("161x91"));
    }

    #[cfg(feature = "dav1d")]
    #[test]
    fn of_av1_that_misses_a_frame_the_others_wait_for_a_keyframe() {
        let frames = received(Some(3));
        let times: Vec<_> = frames.iter().map(|frame| (frame.timestamp - frames[0].timestamp) / 3000).collect();
        assert_eq!(times, [0, 1, 2, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn what_the_decoder_refuses_is_told_by_its_number() {
        let (mut decoder, measured, reported) = started(|_| ());
        // A keyframe without its start code, and a frame that refers to a missing frame.
        decoder.decode(frame(0, &[0x10, 2, 0, 0, 0, 0, 64, 1, 180, 0])).unwrap();
        decoder.decode(frame(1, &[0x31, 2, 0, 7, 7, 7, 7])).unwrap();
        decoder.finish().unwrap();
        assert_eq!(reported.iter().collect::<Vec<_>>(), [Failure::Frame(0), Failure::Frame(1)]);
        assert_eq!(measured.lock().unwrap().report(LATER).frames_undecodable, 2);
    }
}
