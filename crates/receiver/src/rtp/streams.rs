//! Assigns packets to streams: by SSRC, and where SDP names none by payload type (RFC 8843 section 9.2).

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::ReportBlock;

use super::clock::SenderClock;
use super::config::Config;
use super::source::Source;
use super::statistics::StreamCounts;

/// Min time before a stream whose SSRC SDP did not name may be replaced by another: this limits the rate at which a
/// sender can create streams (libwebrtc `webrtc_video_engine.cc`, `kUnsignaledSsrcCooldownMs`).
const COOLDOWN: Span = Span::from_millis(500);

/// The content of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Video,
    Retransmission,
    Fec,
    Audio,
}

/// A negotiated stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) kind: Kind,
    pub(super) payload_type: u8,
    /// The payload type of the same content in RED.
    red: Option<u8>,
    pub(super) ssrc: Option<u32>,
    /// True if SDP named its SSRC.
    named: bool,
    /// When its SSRC was first seen.
    learned: Time,
    pub(super) source: Source,
    pub(super) clock: SenderClock,
    /// RTP clock rate in Hz.
    pub(super) rate: u32,
}

impl Stream {
    fn new(kind: Kind, payload_type: u8, ssrc: Option<u32>) -> Stream {
        let rate = if kind == Kind::Audio { 48_000 } else { 90_000 };
        let (source, clock) = (Source::new(rate), SenderClock::new(rate));
        let (named, learned, red) = (ssrc.is_some(), Time::ZERO, None);
        Stream { kind, payload_type, red, ssrc, named, learned, source, clock, rate }
    }

    /// Returns true if packets of this payload type belong to it.
    fn takes(&self, payload_type: u8) -> bool {
        self.payload_type == payload_type || self.red == Some(payload_type)
    }

    /// Adopts an SSRC that SDP did not name; returns the one it replaces.
    fn learn(&mut self, now: Time, ssrc: u32) -> Option<u32> {
        let before = self.ssrc.replace(ssrc);
        self.learned = now;
        (self.source, self.clock) = (Source::new(self.rate), SenderClock::new(self.rate));
        before
    }

    pub(super) fn counts(&self) -> StreamCounts {
        StreamCounts {
            ssrc: self.ssrc,
            received: self.source.received(),
            lost: self.source.lost(),
            jitter: self.source.jitter(),
        }
    }
}

/// A packet's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// The SSRC of the stream that this one replaced.
    pub(super) instead_of: Option<u32>,
}

/// All negotiated streams: four at most.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    ours: u32,
}

impl Streams {
    pub(super) fn new(config: &Config) -> Streams {
        let mut streams = Vec::new();
        if let Some(video) = &config.video {
            streams.push(Stream::new(Kind::Video, video.payload_type, video.ssrcs.media));
            let rtx = video.retransmission.map(|kind| (Kind::Retransmission, kind, video.ssrcs.retransmission));
            let fec = video.fec.map(|kind| (Kind::Fec, kind, video.ssrcs.fec));
            streams.extend(rtx.into_iter().chain(fec).map(|(kind, number, ssrc)| Stream::new(kind, number, ssrc)));
        }
        streams.extend(config.audio.iter().map(|audio| Stream::new(Kind::Audio, audio.payload_type, audio.ssrc)));
        for stream in &mut streams {
            stream.red = match stream.kind {
                Kind::Video => config.redundancy.map(|redundancy| redundancy.red),
                Kind::Retransmission => config.redundancy.and_then(|redundancy| redundancy.retransmission),
                Kind::Fec | Kind::Audio => None,
            };
        }
        Streams { streams, ours: config.ssrc }
    }

    pub(super) fn get(&self, kind: Kind) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.kind == kind)
    }

    pub(super) fn get_mut(&mut self, kind: Kind) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.kind == kind)
    }

    /// The stream with this SSRC, if known.
    pub(super) fn of_mut(&mut self, ssrc: u32) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.ssrc == Some(ssrc))
    }

    /// The stream of a packet; `None` if it belongs to no negotiated one.
    pub(super) fn find(&mut self, now: Time, ssrc: u32, payload_type: u8) -> Option<Found> {
        if let Some(stream) = self.of_mut(ssrc) {
            return stream.takes(payload_type).then_some(Found { kind: stream.kind, instead_of: None });
        }
        let ours = self.ours;
        let stream = self.streams.iter_mut().find(|stream| stream.takes(payload_type))?;
        if ssrc == ours || stream.named || stream.ssrc.is_some() && now < stream.learned + COOLDOWN {
            return None;
        }
        let instead_of = stream.learn(now, ssrc);
        Some(Found { kind: stream.kind, instead_of })
    }

    /// Report blocks of all streams that have received packets.
    pub(super) fn blocks(&mut self, now: Time) -> Vec<ReportBlock> {
        let block = |stream: &mut Stream| stream.source.block(stream.ssrc?, stream.clock.last(now));
        self.streams.iter_mut().filter_map(block).collect()
    }

    /// The counters of one kind of stream.
    pub(super) fn counts(&self, kind: Kind) -> StreamCounts {
        self.get(kind).map(Stream::counts).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::{Audio, Codec, Ssrcs, Video};

    fn streams(ssrcs: Ssrcs) -> Streams {
        let video = Video { retransmission: Some(97), ssrcs, ..Video::new(Codec::Vp8, 96) };
        Streams::new(&Config { video: Some(video), audio: Some(Audio::new(111)), ..Config::default() })
    }

    fn found(kind: Kind, instead_of: Option<u32>) -> Option<Found> {
        Some(Found { kind, instead_of })
    }

    #[test]
    fn a_named_stream_is_known_by_its_ssrc_and_no_other_takes_its_place() {
        let mut streams = streams(Ssrcs { media: Some(7), retransmission: Some(8), fec: None });
        assert_eq!(streams.find(Time::ZERO, 7, 96), found(Kind::Video, None));
        assert_eq!(streams.find(Time::ZERO, 8, 97), found(Kind::Retransmission, None));
        for (ssrc, payload_type) in [(7, 97), (9, 96), (7, 5), (9, 5)] {
            assert_eq!(streams.find(Time::from_millis(10_000), ssrc, payload_type), None);
        }
    }

    #[test]
    fn a_stream_nobody_named_is_known_by_its_payload_type_and_gives_way_twice_a_second() {
        let mut streams = streams(Ssrcs::default());
        assert_eq!(streams.find(Time::ZERO, 20, 111), found(Kind::Audio, None));
        assert_eq!(streams.find(Time::from_millis(1), 21, 96), found(Kind::Video, None));
        let made_up = (0..10_000u32).filter(|place| {
            let now = Time::from_micros(2_000 + 100 * u64::from(*place));
            streams.find(now, 1000 + place, 96).is_some()
        });
        assert_eq!(made_up.count(), 2);
        assert_eq!(streams.find(Time::from_millis(1500), 1, 96), None, "our own");
    }

    #[test]
    fn what_was_counted_of_a_stream_does_not_go_on_in_another() {
        let mut streams = streams(Ssrcs::default());
        streams.find(Time::ZERO, 20, 96);
        streams.get_mut(Kind::Video).unwrap().source.on_packet(Time::ZERO, 5, 0);
        assert_eq!(streams.counts(Kind::Video).received, 1);
        assert_eq!(streams.find(Time::from_millis(501), 21, 96), found(Kind::Video, Some(20)));
        assert_eq!(streams.counts(Kind::Video), StreamCounts { ssrc: Some(21), ..StreamCounts::default() });
    }
}
