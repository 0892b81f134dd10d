//! A sender's configuration, and a scheme adapted to what was negotiated.

use std::sync::Arc;

use thalweg_sender::padding::redundant::{self, Kind};
use thalweg_sender::repair::fec::Format;
use thalweg_sender::scheme::ReceiverKind;
use thalweg_sender::{Camera, PacketSizes, Parts, SenderFactory};
use thalweg_transport::sdp::{CongestionFeedback, ExtensionIds, Negotiated, Redundancy, Video, VideoCodec};
use thalweg_units::{Bytes, ConfigError, Seed};
use thalweg_wire::overhead::{self, Overhead};
use thalweg_wire::rtcp::NtpTime;
use thalweg_wire::rtp::{BytesBefore, FragmentGrace};

/// The configuration of a sender.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The scheme.
    pub scheme: Arc<dyn SenderFactory>,
    /// The camera.
    pub camera: Camera,
    /// The media negotiated with the peer.
    pub media: Negotiated,
    /// The CNAME of its streams (RFC 7022).
    pub cname: String,
    /// Seed of initial sequence numbers and timestamps: anything hard to guess (RFC 3550 section 5.1).
    pub seed: Seed,
    /// The wall clock at [`Time::ZERO`](thalweg_units::Time::ZERO), for sender reports.
    pub wall: NtpTime,
    /// True if packets go over IPv6, whose header is 20 bytes longer.
    pub ipv6: bool,
}

/// Why no sender could be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The peer accepted no video.
    #[error("the peer agreed to no video codec: it must offer VP8, H.264 or VP9")]
    NoVideo,
    /// A parameter of the scheme is out of range.
    #[error(transparent)]
    Scheme(#[from] ConfigError),
}

/// Has each frame refer to the one before, and losses retransmitted, where frames would refer to others, the peer cannot be
/// told which, and it requests what it lost; returns whether that was so. libwebrtc takes each frame to need the one before
/// it where nothing says otherwise (`rtp_frame_id_only_ref_finder.cc`): none after a loss is decodable then, and it requests
/// a keyframe 3 s later.
pub(super) fn fall_back(parts: &mut Parts, video: &Video) -> bool {
    let requests = video.retransmission.is_some() && video.feedback.nack;
    let falls_back = parts.needs_descriptors() && video.extensions.dependencies.is_none() && requests;
    if falls_back {
        parts.keep_order();
    } else {
        parts.frames.expect_overtaking();
    }
    falls_back
}

/// Sets the packet sizes of this path in `parts`, and removes what the peer did not agree to; `measured` if it measures
/// the path.
pub(super) fn fit(
    parts: &mut Parts,
    measured: bool,
    media: &Negotiated,
    video: &Video,
    (srtp_tag, ipv6): (Bytes, bool),
) {
    match &mut parts.repair {
        Some(repair) if video.retransmission.is_some() && video.feedback.nack => {
            if !takes_xor(video) {
                repair.fec = None;
            }
        }
        repair => *repair = None,
    }
    parts.padding_content = parts.padding_content.and_then(|redundant| fillable(redundant, video));
    // Only RFC 8888 says how packets were marked; without that nothing may say ECT (specs/l4s.md 1.2).
    if video.congestion() != Some(CongestionFeedback::PerStream) {
        parts.ecn = None;
    }
    let redundancy = in_red(parts, video);
    let red = if redundancy.is_some() { RED } else { Bytes::ZERO };
    let layered = parts.frames.layers() > 1;
    let dependency = if layered { DEPENDENCY_OF_LAYERS } else { DEPENDENCY };
    let mut every = lengths(&video.extensions, &video.mid, measured);
    every.extend(video.extensions.dependencies.filter(|_| parts.frames.names_references()).map(|_| dependency));
    let mut first = every.clone();
    first.extend(video.extensions.playout_delay.map(|_| 3));
    first.extend(video.extensions.states.map(|_| 16));
    let ip = if ipv6 { overhead::IPV6 } else { overhead::IPV4 };
    let around =
        |lengths: &[usize]| Overhead { ip, srtp_tag, extensions: overhead::extension_block(lengths) }.per_packet();
    let of_audio = media.audio.as_ref().map_or(Vec::new(), |audio| lengths(&audio.extensions, &audio.mid, measured));
    let (of_video, of_first, of_audio) = (around(&every), around(&first), around(&of_audio));
    parts.packets = PacketSizes {
        overhead: of_video + red + descriptor(video.codec, layered),
        audio: of_audio,
        states: of_first.saturating_sub(of_video),
        // Retransmissions are in RED too, if that was negotiated.
        retransmission: match redundancy {
            Some(Redundancy { retransmission: None, .. }) => overhead::RTX - RED,
            _ => overhead::RTX,
        },
        padding: of_video + Bytes::new(LONGEST_PADDING),
        ..parts.packets
    };
    let extensions = overhead::extension_block(&every);
    let format = if redundancy.is_some() { Format::Ulpfec } else { Format::Flexfec };
    if let Some(fec) = parts.repair.as_mut().and_then(|repair| repair.fec.as_mut()) {
        (fec.format, fec.extensions) = (format, extensions);
        fec.packets = fec.packets.min(format.longest());
    }
    if let Some(redundant) = &mut parts.padding_content {
        (redundant.format, redundant.extensions) = (format, extensions);
        let max = format.longest() as u16;
        redundant.max_group = redundant.max_group.min(max);
        redundant.min_group = redundant.min_group.min(max);
    }
}

/// The RED header before a single payload (RFC 2198 section 3).
const RED: Bytes = Bytes::new(1);

/// The RED encapsulation of media for adapted parts, if FEC is, or could be, part of the media stream.
pub(super) fn in_red(fitted: &Parts, video: &Video) -> Option<Redundancy> {
    let beforehand = fitted.repair.as_ref().is_some_and(|repair| repair.fec.is_some());
    let fills =
        fitted.padding_content.as_ref().is_some_and(|redundant| matches!(redundant.kind, Kind::Fec | Kind::Best));
    among_media(video).filter(|_| beforehand || fills)
}

/// Returns true if the peer can use XOR FEC.
fn takes_xor(video: &Video) -> bool {
    video.fec.is_some() || among_media(video).is_some()
}

/// RED, if it was negotiated and FEC in it does no harm. A lost FEC packet leaves a gap in the sequence numbers that is
/// never filled. A receiver that recognizes frames only by sequence numbers waits for it (libwebrtc
/// `PayloadTypeSupportsSkippingFecPackets`: no ULPFEC then, with retransmissions).
fn among_media(video: &Video) -> Option<Redundancy> {
    let has_picture_ids = match video.codec {
        VideoCodec::Vp8 | VideoCodec::Vp9 => true,
        VideoCodec::H264 | VideoCodec::Av1 => false,
    };
    video.redundancy.filter(|_| has_picture_ids || !video.feedback.nack)
}

/// The padding content that the peer can use.
fn fillable(redundant: redundant::Config, video: &Video) -> Option<redundant::Config> {
    let (xor, rtx) = (takes_xor(video), video.retransmission.is_some());
    match redundant.kind {
        Kind::Fec if !xor => None,
        Kind::Rtx if !rtx => None,
        Kind::Best if xor && !rtx => Some(redundant::Config { kind: Kind::Fec, ..redundant }),
        Kind::Best if rtx && !xor => Some(redundant::Config { kind: Kind::Rtx, ..redundant }),
        Kind::Best if !rtx => Some(redundant::Config { kind: Kind::Keyframe, ..redundant }),
        _ => Some(redundant),
    }
}

/// Max padding in a packet, as in libwebrtc (`kMaxPaddingLength`).
const LONGEST_PADDING: u64 = 224;

/// Returns true if the peer measures the path for the scheme, with packets that carry the bytes sent before them.
pub(super) fn is_measured(receiver: ReceiverKind, video: &Video) -> bool {
    let wanted = matches!(receiver, ReceiverKind::Measures(_));
    wanted && video.feedback.path && video.extensions.bytes_before.is_some()
}

/// Lengths of the extension elements in every packet of the media section `mid`, with the count of bytes sent before it
/// if the path is `measured`.
fn lengths(ids: &ExtensionIds, mid: &str, measured: bool) -> Vec<usize> {
    let transport = ids.transport_sequence.map(|_| if ids.transport_on_request { 4 } else { 2 });
    let before = ids.bytes_before.filter(|_| measured).map(|_| BytesBefore::SIZE);
    let grace = ids.grace.map(|_| FragmentGrace::LARGEST);
    [transport, grace, before, ids.mid.map(|_| mid.len())].into_iter().flatten().collect()
}

/// Bytes of a dependency descriptor that needs only its template, as most do where frames are in layers ...
const DEPENDENCY_OF_LAYERS: usize = 3;
/// ... and of one that says two references, the second of them up to 16 frames back.
const DEPENDENCY: usize = 6;

/// Bytes of payload descriptor in every packet: VP8 with a picture id of 15 bits (RFC 7741), H.264's FU indicator and
/// header (RFC 6184), VP9's flags and picture id (RFC 9628), none of AV1, whose payloads are cut with theirs; with layers
/// also the fields of [`super::labels`].
fn descriptor(codec: VideoCodec, layered: bool) -> Bytes {
    let layers = if layered { 2 } else { 0 };
    Bytes::new(match codec {
        VideoCodec::Vp8 => 4 + layers,
        VideoCodec::H264 => 2,
        VideoCodec::Vp9 => 3 + layers,
        VideoCodec::Av1 => 0,
    })
}
