//! The reception that combines the parts: packets in, frames and RTCP out.

mod incoming;
mod redundant;
mod reporting;

use std::collections::VecDeque;

use thalweg_types::StateHash;
use thalweg_units::{ConfigError, Ecn, Span, Time};
use thalweg_wire::rtcp::{self, Compound};
use thalweg_wire::rtp::Packet;
use thalweg_wire::rtp::dependency::Structure;

use super::audio::AudioStream;
use super::config::Config;
use super::fec::FecStream;
use super::feedback::ArrivalFeedback;
use super::frames::Frames;
use super::measuring::Measuring;
use super::output::Output;
use super::statistics::Statistics;
use super::streams::{Kind, Streams};

/// The receiving side of a call: see [the module](super).
#[derive(Debug)]
pub struct Reception {
    config: Config,
    streams: Streams,
    video: Option<Frames>,
    /// The structure by which the video's dependency descriptors are parsed.
    structure: Option<Structure>,
    fec: Option<FecStream>,
    audio: Option<AudioStream>,
    feedback: ArrivalFeedback,
    /// The path measurement, if configured.
    measuring: Option<Measuring>,
    /// When the next receiver report is due.
    report_due: Time,
    outputs: VecDeque<Output>,
    last_video: Option<Passage>,
    last_audio: Option<Passage>,
    intra_requests: u8,
    /// Number of late packets that were recovered by FEC.
    made_late: u64,
    /// Number of frames reported as abandoned.
    abandoned: u64,
    counts: Statistics,
}

/// Delay from the sender's camera or microphone, by its clock, to the receiver, by our clock.
#[derive(Debug, Clone, Copy)]
struct Passage {
    captured: Time,
    arrived: Time,
}

impl Reception {
    /// Creates a reception that has received nothing yet.
    ///
    /// # Errors
    /// An empty or too long CNAME, an interval that is not positive, a payload type above 127 or used by two streams,
    /// an SSRC that is ours or used by two streams, redundancy without video, functional video of a codec other than
    /// VP8, or its parameters or those of path measurement out of range.
    pub fn new(config: Config) -> Result<Reception, ConfigError> {
        config.check()?;
        let video = config.video.as_ref().map(Frames::new).transpose()?;
        let in_red = config.redundancy.is_some();
        let fec = config.video.as_ref().filter(|video| video.fec.is_some() || in_red);
        let fec = fec.map(|video| FecStream::new(&video.extensions, video.payload_type));
        Ok(Reception {
            streams: Streams::new(&config),
            video,
            structure: None,
            fec,
            audio: config.audio.as_ref().map(|audio| AudioStream::new(audio.jitter_buffer_delay)),
            feedback: ArrivalFeedback::new(&config),
            measuring: Measuring::of(&config)?,
            report_due: Time::NEVER,
            outputs: VecDeque::new(),
            last_video: None,
            last_audio: None,
            intra_requests: 0,
            made_late: 0,
            abandoned: 0,
            counts: Statistics::default(),
            config,
        })
    }

    /// Sets the round-trip time; the default is 100 ms (libwebrtc). Not needed where
    /// [`Feedback::round_trip`](super::Feedback::round_trip) was negotiated: then the sender reports it.
    pub fn learn(&mut self, round_trip: Span) {
        self.counts.round_trip = Some(round_trip);
        self.feedback.learn(round_trip);
        if let Some(frames) = &mut self.video {
            frames.learn(round_trip);
        }
    }

    /// Processes a decrypted RTP packet with the ECN field that its IP packet arrived with, which RFC 8888 reports
    /// ([`Ecn::NotCapable`] where the socket does not tell it). Malformed packets and those of unknown streams are counted
    /// and dropped. What SRTP refused must not come here: anybody could have marked it.
    pub fn on_rtp(&mut self, now: Time, ecn: Ecn, packet: &[u8]) {
        match Packet::parse(packet) {
            Ok(rtp) => self.on_packet(now, ecn, &rtp, packet),
            Err(_) => self.counts.malformed += 1,
        }
        self.run(now);
    }

    /// Processes a packet of the video stream that the caller recovered: the whole packet with header and extensions.
    /// It is checked like a received one. Packets from negotiated flexfec-03 and ULPFEC are recovered internally.
    pub fn on_recovered(&mut self, now: Time, packet: &[u8]) {
        self.on_made(now, packet);
        self.run(now);
    }

    /// Processes decrypted RTCP: uses sender reports and echoes of our own times, and ignores everything else.
    pub fn on_rtcp(&mut self, now: Time, datagram: &[u8]) {
        self.counts.rtcp_received += 1;
        for packet in Compound::new(datagram) {
            match packet {
                Ok(rtcp::Packet::SenderReport(report)) => {
                    if let Some(stream) = self.streams.of_mut(report.ssrc) {
                        stream.clock.on_report(now, &report);
                    }
                }
                Ok(rtcp::Packet::Xr(report)) => self.on_echo(now, &report),
                Ok(_) => {}
                Err(_) => self.counts.malformed += 1,
            }
        }
        self.run(now);
    }

    /// Reports that the decoder could not decode the frame with this [`VideoFrame::number`](super::VideoFrame::number),
    /// or was not given it. A keyframe is requested, at once and every 200 ms until it arrives, and frames are held
    /// back until then, as libwebrtc does (`VideoReceiveStream2::HandleKeyFrameGeneration`). Has no effect when a
    /// keyframe was delivered since.
    pub fn on_undecodable(&mut self, now: Time, number: u64) {
        if let Some(frames) = &mut self.video {
            frames.on_undecodable(number);
        }
        self.run(now);
    }

    /// Requests a keyframe although all frames were decoded: somebody else needs one, to whom they are passed on. Frames
    /// go on meanwhile. One request is sent for all calls until then, at the earliest 200 ms after the last one; functional
    /// video has none.
    pub fn request_keyframe(&mut self, now: Time) {
        if let Some(frames) = &mut self.video {
            frames.request_keyframe();
        }
        self.run(now);
    }

    /// The decoder's state does not match the one a frame claimed.
    pub fn on_disagreement(&mut self, claimed: StateHash) {
        if let Some(frames) = &mut self.video {
            frames.on_disagreement(claimed);
        }
    }

    /// Advances the time.
    pub fn on_timeout(&mut self, now: Time) {
        self.run(now);
    }

    /// The next output; after every input call this until it returns [`Output::Wait`].
    pub fn poll(&mut self) -> Output {
        self.outputs.pop_front().unwrap_or_else(|| Output::Wait { until: self.next_event() })
    }

    /// How much later video arrives than audio of the same capture time, negative if earlier: a player has to delay the
    /// earlier one by this much. `None` until sender reports of both streams and something to play of both have
    /// arrived.
    pub fn skew(&self) -> Option<Span> {
        let (video, audio) = self.last_video.zip(self.last_audio)?;
        Some((video.arrived - video.captured) - (audio.arrived - audio.captured))
    }

    /// The counters so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            video_stream: self.streams.counts(Kind::Video),
            retransmission_stream: self.streams.counts(Kind::Retransmission),
            fec_stream: self.streams.counts(Kind::Fec),
            audio_stream: self.streams.counts(Kind::Audio),
            video: self.video.as_ref().map(Frames::counts).unwrap_or_default(),
            audio: self.audio.as_ref().map(AudioStream::counts).unwrap_or_default(),
            ..self.counts
        }
    }

    /// Performs everything that is due.
    fn run(&mut self, now: Time) {
        let arrivals = self.feedback.poll(now);
        self.send_feedback(now, arrivals);
        self.send_path_report(now);
        self.request(now);
        self.report(now);
        while let Some(packet) = self.audio.as_mut().and_then(|audio| audio.poll(now)) {
            if let Some(captured) = packet.captured {
                self.last_audio = Some(Passage { captured, arrived: packet.arrived });
            }
            self.outputs.push_back(Output::Audio(packet));
        }
        let abandoned = self.video.as_ref().map_or(0, |video| video.counts().abandoned);
        if abandoned > self.abandoned {
            self.outputs.push_back(Output::Abandoned(abandoned - self.abandoned));
            self.abandoned = abandoned;
        }
    }

    fn next_event(&self) -> Time {
        let video = self.video.as_ref().map_or(Time::NEVER, Frames::next_event);
        let audio = self.audio.as_ref().map_or(Time::NEVER, AudioStream::next_event);
        let path = self.measuring.as_ref().map_or(Time::NEVER, Measuring::next_event);
        self.report_due.min(self.feedback.next_event()).min(path).min(video).min(audio)
    }
}
