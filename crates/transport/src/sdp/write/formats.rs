//! Writes payload types as lines.

use crate::sdp::av1::Av1Format;
use crate::sdp::capabilities::VideoCodec;
use crate::sdp::h264::H264Format;
use crate::sdp::negotiated::{Feedback, Redundancy};

/// Opus in `a=rtpmap`, whatever its channels (RFC 7587 section 7).
pub(crate) const OPUS: &str = "opus/48000/2";

/// Retransmissions (RFC 4588), FEC packets, and RED with ULPFEC in `a=rtpmap`.
pub(crate) const RTX: &str = "rtx/90000";
pub(crate) const FLEXFEC: &str = "flexfec-03/90000";
pub(crate) const RED: &str = "red/90000";
pub(crate) const ULPFEC: &str = "ulpfec/90000";

/// Max time that an FEC packet of video may span, in microseconds: libwebrtc's value, which only checks that there is
/// one.
const REPAIR_WINDOW: &str = "repair-window=10000000";

/// The lines of a payload type.
pub(crate) struct FormatLines {
    pub(crate) payload_type: u8,
    pub(crate) map: String,
    pub(crate) parameters: Option<String>,
    pub(crate) feedback: Feedback,
}

/// A video codec with its payload type, and that of its retransmissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Codec {
    pub(crate) codec: VideoCodec,
    pub(crate) h264: Option<H264Format>,
    pub(crate) av1: Option<Av1Format>,
    pub(crate) payload_type: u8,
    pub(crate) retransmission: Option<u8>,
}

/// A codec in `a=rtpmap`.
pub(crate) fn codec_map(codec: VideoCodec) -> String {
    format!("{}/90000", codec.name())
}

/// The parameters in `a=fmtp` that must be equal at both endpoints.
fn codec_parameters(codec: &Codec) -> Option<String> {
    match codec.codec {
        VideoCodec::Vp8 => None,
        VideoCodec::Vp9 => Some("profile-id=0".to_owned()),
        VideoCodec::H264 => {
            let format = codec.h264.unwrap_or(H264Format::UNSAID);
            Some(format!("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={format}"))
        }
        VideoCodec::Av1 => Some(codec.av1.unwrap_or(Av1Format::UNSAID).to_string()),
    }
}

/// The payload types of video. Arrival feedback is also declared for retransmissions and FEC packets: libwebrtc
/// requires `ack ccfb` for every payload type, and declares `transport-cc` and `goog-remb` for FEC packets, but neither
/// for RED.
pub(crate) fn video_formats(
    codecs: &[Codec],
    fec: Option<u8>,
    redundancy: Option<Redundancy>,
    feedback: Feedback,
) -> Vec<FormatLines> {
    let only = |transport, bitrate| Feedback {
        congestion: feedback.congestion,
        transport: transport && feedback.transport,
        bitrate: bitrate && feedback.bitrate,
        ..Feedback::default()
    };
    let rtx_of = |media: u8, payload_type| FormatLines {
        payload_type,
        map: RTX.to_owned(),
        parameters: Some(format!("apt={media}")),
        feedback: only(false, false),
    };
    let mut lines = Vec::new();
    for codec in codecs {
        let (payload_type, parameters) = (codec.payload_type, codec_parameters(codec));
        lines.push(FormatLines { payload_type, map: codec_map(codec.codec), parameters, feedback });
        lines.extend(codec.retransmission.map(|rtx| rtx_of(payload_type, rtx)));
    }
    lines.extend(fec.map(|payload_type| FormatLines {
        payload_type,
        map: FLEXFEC.to_owned(),
        parameters: Some(REPAIR_WINDOW.to_owned()),
        feedback: only(true, true),
    }));
    if let Some(Redundancy { red, ulpfec, retransmission }) = redundancy {
        let without = |payload_type, map: &str| FormatLines {
            payload_type,
            map: map.to_owned(),
            parameters: None,
            feedback: only(false, false),
        };
        lines.push(without(red, RED));
        lines.extend(retransmission.map(|rtx| rtx_of(red, rtx)));
        lines.push(without(ulpfec, ULPFEC));
    }
    lines
}

/// The payload type of audio.
pub(crate) fn audio_format(payload_type: u8, feedback: Feedback) -> FormatLines {
    let parameters = Some("minptime=10;useinbandfec=1".to_owned());
    FormatLines { payload_type, map: OPUS.to_owned(), parameters, feedback }
}
