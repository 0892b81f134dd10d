//! Decides what of a section this endpoint accepts.

use thalweg_wire::rtp::uri;

use super::av1::Av1Format;
use super::capabilities::{Capabilities, CongestionFeedback, Direction, VideoCodec};
use super::h264::{H264Format, H264Profile};
use super::local::Local;
use super::negotiated::{Audio, ExtensionIds, Feedback, Kinds, Redundancy, Ssrcs, Video};
use super::read::{Format, Mapped, Section, extensions, formats, has_extended_reports, streams};
use super::write::{Codec, FLEXFEC, OPUS, RED, RTX, ULPFEC, codec_map};

/// Which side's codec order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    Ours,
    Theirs,
}

impl Preference {
    /// Preference of the side that sends, if this one's direction is `ours`.
    pub(super) fn of_sender(ours: Direction) -> Preference {
        match ours {
            Direction::SendOnly => Preference::Ours,
            Direction::ReceiveOnly => Preference::Theirs,
        }
    }
}

/// Negotiates one section at a time.
pub(super) struct Negotiator<'a> {
    pub(super) local: &'a Local,
    pub(super) capabilities: &'a Capabilities,
    pub(super) preference: Preference,
}

impl Negotiator<'_> {
    /// Accepts a video section, or returns the reason for rejection.
    pub(super) fn video(&self, section: &Section<'_>) -> Result<Video, String> {
        let mid = self.usable(section)?;
        let formats = formats(section);
        let Codec { codec, h264, av1, payload_type, .. } =
            self.codec(&formats).ok_or_else(|| self.no_codec(&formats))?;
        let media =
            formats.iter().find(|format| format.payload_type == payload_type).expect("the codec is one of them");
        let rtx = rtx_of(&formats, media).filter(|_| self.capabilities.retransmission);
        let fec = formats.iter().find(|format| format.is(FLEXFEC)).filter(|_| self.capabilities.fec);
        let red = formats.iter().find(|format| format.is(RED));
        let red = red.filter(|_| self.capabilities.redundancy && fec.is_none());
        let red = red.zip(formats.iter().find(|format| format.is(ULPFEC)));
        let red_rtx = red.and_then(|(red, _)| rtx_of(&formats, red)).filter(|_| rtx.is_some());
        let mapped = extensions(section, self.capabilities.direction);
        let counted = [Some(media), rtx, fec, red.map(|(red, _)| red), red_rtx];
        let congestion = self.congestion(section, &counted, &mapped, &self.capabilities.congestion);
        let (retransmission, fec) = (rtx.map(|format| format.payload_type), fec.map(|format| format.payload_type));
        let ours = self.local.streams;
        Ok(Video {
            mid: mid.to_owned(),
            codec,
            h264,
            av1,
            payload_type,
            retransmission,
            fec,
            redundancy: red.map(|(red, ulpfec)| Redundancy {
                red: red.payload_type,
                ulpfec: ulpfec.payload_type,
                retransmission: red_rtx.map(|format| format.payload_type),
            }),
            extensions: ExtensionIds {
                playout_delay: self.capabilities.playout_delay.then(|| id(&mapped, uri::PLAYOUT_DELAY)).flatten(),
                grace: self.capabilities.functional.then(|| id(&mapped, uri::FRAGMENT_GRACE)).flatten(),
                states: self.capabilities.functional.then(|| id(&mapped, uri::FRAME_STATES)).flatten(),
                dependencies: self.capabilities.dependencies.then(|| id(&mapped, uri::DEPENDENCY_DESCRIPTOR)).flatten(),
                ..self.common_extensions(&mapped, congestion)
            },
            feedback: self.feedback(media.feedback, congestion),
            streams: match self.capabilities.direction {
                Direction::SendOnly => Ssrcs {
                    media: Some(ours.video),
                    retransmission: retransmission.map(|_| ours.retransmission),
                    fec: fec.map(|_| ours.fec),
                },
                Direction::ReceiveOnly => {
                    let theirs = streams(section);
                    Ssrcs {
                        media: theirs.media,
                        retransmission: theirs.retransmission.filter(|_| retransmission.is_some()),
                        fec: theirs.fec.filter(|_| fec.is_some()),
                    }
                }
            },
            limit: section.limit().filter(|_| self.capabilities.direction == Direction::SendOnly),
        })
    }

    /// Accepts an audio section, or returns the reason for rejection. `beside` is the video on the same transport, if
    /// any; audio must use its kind of congestion feedback, because another kind would report only some of the packets.
    pub(super) fn audio(&self, section: &Section<'_>, beside: Option<&Video>) -> Result<Audio, String> {
        if !self.capabilities.audio {
            return Err("no audio is wanted here".to_owned());
        }
        let mid = self.usable(section)?;
        if beside.is_some_and(|video| video.mid == mid) {
            return Err(format!("a=mid:{mid} is the name of the video too, must be of its own"));
        }
        let formats = formats(section);
        let wanted = formats.iter().find(|format| format.is(OPUS));
        let media = wanted.ok_or_else(|| format!("offers {}, needed is {OPUS}", listed(&formats)))?;
        let mapped = extensions(section, self.capabilities.direction);
        let kinds = match beside {
            Some(video) => video.congestion().into_iter().collect(),
            None => self.capabilities.congestion.clone(),
        };
        let congestion = self.congestion(section, &[Some(media)], &mapped, &kinds);
        let says = |name| media.parameter(name) == Some("1");
        Ok(Audio {
            mid: mid.to_owned(),
            payload_type: media.payload_type,
            stereo: says("stereo"),
            in_band_repair: says("useinbandfec"),
            extensions: self.common_extensions(&mapped, congestion),
            feedback: self.feedback(media.feedback, congestion).of_audio(),
            streams: Ssrcs {
                media: match self.capabilities.direction {
                    Direction::SendOnly => Some(self.local.streams.audio),
                    Direction::ReceiveOnly => streams(section).media,
                },
                ..Ssrcs::default()
            },
        })
    }

    /// The section's MID, if its transport and direction suit this endpoint.
    fn usable<'a>(&self, section: &Section<'a>) -> Result<&'a str, String> {
        if section.is_closed() {
            return Err("closed: its port is 0".to_owned());
        }
        if !section.is_rtp() {
            return Err(format!("goes over {}, needed is RTP, such as UDP/TLS/RTP/SAVPF", section.protocol()));
        }
        if !section.has("rtcp-mux") {
            return Err("has no a=rtcp-mux: RTCP has no port of its own here".to_owned());
        }
        if !self.is_meant(section) {
            let direction = self.capabilities.direction;
            return Err(format!("is not {}, and this end is {}", direction.reverse().name(), direction.name()));
        }
        section.mid().map_err(|error| error.to_string())
    }

    /// Returns true if the peer wants to exchange media in this section in a direction that this endpoint has.
    pub(super) fn is_meant(&self, section: &Section<'_>) -> bool {
        let (sends, receives) = section.sends_and_receives();
        let suits = if self.capabilities.direction == Direction::SendOnly { receives } else { sends };
        suits && !section.is_closed() && matches!(section.kind(), "video" | "audio")
    }

    /// The codec to use.
    fn codec(&self, formats: &[Format<'_>]) -> Option<Codec> {
        let codecs = &self.capabilities.video;
        let mut known: Vec<_> = formats.iter().filter_map(|format| self.known(format)).collect();
        if self.preference == Preference::Ours {
            let profile = |profile| self.capabilities.h264.iter().position(|known| *known == profile);
            known.sort_by_key(|found| {
                let codec = codecs.iter().position(|codec| *codec == found.codec);
                (codec, found.h264.and_then(|format| profile(format.profile)))
            });
        }
        known.first().copied()
    }

    /// The codec of a payload type, if this endpoint supports it.
    fn known(&self, format: &Format<'_>) -> Option<Codec> {
        let codec = self.capabilities.video.iter().copied().find(|codec| format.is(&codec_map(*codec)))?;
        let (h264, av1) = match codec {
            VideoCodec::Vp8 => (None, None),
            VideoCodec::Vp9 if format.parameter("profile-id").is_none_or(|id| id == "0") => (None, None),
            VideoCodec::Vp9 => return None,
            VideoCodec::Av1 => (None, Some(Av1Format::read(|name| format.parameter(name))?)),
            VideoCodec::H264 => {
                let level = match format.parameter("profile-level-id") {
                    Some(text) => text.parse().ok()?,
                    None => H264Format::UNSAID,
                };
                if format.parameter("packetization-mode") != Some("1")
                    || !self.capabilities.h264.contains(&level.profile)
                {
                    return None;
                }
                (Some(level), None)
            }
        };
        Some(Codec { codec, h264, av1, payload_type: format.payload_type, retransmission: None })
    }

    fn no_codec(&self, formats: &[Format<'_>]) -> String {
        let codecs: Vec<_> = self.capabilities.video.iter().map(|codec| codec.name()).collect();
        if codecs.is_empty() {
            return "no video is wanted here".to_owned();
        }
        let profiles: &[H264Profile] = &self.capabilities.h264;
        let is_h264 = self.capabilities.video.contains(&VideoCodec::H264);
        let detail = if is_h264 { format!(" (H264 in packetization mode 1, {profiles:?})") } else { String::new() };
        format!("offers {}, needed is one of {}{detail}", listed(formats), codecs.join(", "))
    }

    /// The first of `kinds` that the peer supports for all relevant packets.
    fn congestion(
        &self,
        section: &Section<'_>,
        counted: &[Option<&Format<'_>>],
        mapped: &[Mapped<'_>],
        kinds: &[CongestionFeedback],
    ) -> Option<CongestionFeedback> {
        let counted = || counted.iter().flatten();
        let media = counted().next()?.feedback;
        let has = |kind: &CongestionFeedback| match kind {
            CongestionFeedback::TransportOnRequest => media.transport && id(mapped, uri::TRANSPORT_CC_02).is_some(),
            CongestionFeedback::Transport => media.transport && id(mapped, uri::TRANSPORT_CC_01).is_some(),
            CongestionFeedback::PerStream => counted().all(|format| format.feedback.congestion),
            CongestionFeedback::Extended => has_extended_reports(section),
        };
        kinds.iter().copied().find(has)
    }

    fn feedback(&self, offered: Feedback, congestion: Option<CongestionFeedback>) -> Feedback {
        offered.repair().and(self.capabilities.feedback).with(congestion)
    }

    fn common_extensions(&self, mapped: &[Mapped<'_>], congestion: Option<CongestionFeedback>) -> ExtensionIds {
        let on_request = congestion == Some(CongestionFeedback::TransportOnRequest);
        let transport = match congestion {
            Some(CongestionFeedback::TransportOnRequest) => id(mapped, uri::TRANSPORT_CC_02),
            Some(CongestionFeedback::Transport) => id(mapped, uri::TRANSPORT_CC_01),
            Some(CongestionFeedback::PerStream | CongestionFeedback::Extended) | None => None,
        };
        ExtensionIds {
            transport_sequence: transport,
            transport_on_request: on_request,
            mid: self.capabilities.mid.then(|| id(mapped, uri::MID)).flatten(),
            absolute_send_time: self
                .capabilities
                .absolute_send_time
                .then(|| id(mapped, uri::ABSOLUTE_SEND_TIME))
                .flatten(),
            bytes_before: self.capabilities.bytes_before.then(|| id(mapped, uri::BYTES_BEFORE)).flatten(),
            ..ExtensionIds::default()
        }
    }
}

/// The retransmission format for packets of `media`'s payload type.
fn rtx_of<'a, 'b>(formats: &'b [Format<'a>], media: &Format<'_>) -> Option<&'b Format<'a>> {
    let apt = |format: &&Format<'_>| format.parameter("apt").and_then(|number| number.parse().ok());
    formats.iter().filter(|format| format.is(RTX)).find(|format| apt(format) == Some(media.payload_type))
}

fn id(mapped: &[Mapped<'_>], uri: &str) -> Option<u8> {
    mapped.iter().find(|mapped| mapped.uri == uri).map(|mapped| mapped.id)
}

/// The first few codecs of a section, human-readable.
fn listed(formats: &[Format<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for format in formats {
        let name = match format.parameters {
            "" => format.map.to_owned(),
            parameters => format!("{} ({parameters})", format.map),
        };
        names.push(name);
    }
    names.dedup();
    if names.is_empty() { "no codec".to_owned() } else { crate::parameters::excerpt(&names.join(", ")) }
}
