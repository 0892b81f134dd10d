//! What a sender is made of, and a scheme as it fits what was agreed on.

use thalweg_sender::{Camera, PacketSizes, Scheme};
use thalweg_transport::sdp::{Negotiated, Video, VideoCodec};
use thalweg_units::{Bytes, Seed};
use thalweg_wire::overhead::{self, Overhead};
use thalweg_wire::rtcp::NtpTime;
use thalweg_wire::rtp::FragmentGrace;

/// What a sender is made of.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What kind of sender.
    pub scheme: Scheme,
    /// What takes its pictures.
    pub camera: Camera,
    /// What was agreed on with the other end.
    pub media: Negotiated,
    /// The name common to its streams (RFC 7022).
    pub cname: String,
    /// Where sequence numbers and timestamps begin: anything hard to guess (RFC 3550 section 5.1).
    pub seed: Seed,
    /// The wall clock at [`Time::ZERO`](thalweg_units::Time::ZERO), for sender reports.
    pub wall: NtpTime,
    /// Whether packets go over IPv6, whose header is 20 bytes longer.
    pub ipv6: bool,
}

/// The scheme with the sizes packets have on this path, and without what the other end did not agree to.
pub(super) fn fitted(scheme: &Scheme, video: &Video, srtp_tag: Bytes, ipv6: bool) -> Scheme {
    let mut scheme = scheme.clone();
    let every = lengths(video);
    let mut first = every.clone();
    first.extend(video.extensions.playout_delay.map(|_| 3));
    first.extend(video.extensions.states.map(|_| 16));
    let overhead = Overhead {
        ip: if ipv6 { overhead::IPV6 } else { overhead::IPV4 },
        srtp_tag,
        extensions: overhead::extension_block(&every),
    };
    let around = overhead.per_packet();
    scheme.packets = PacketSizes {
        overhead: around + descriptor(video.codec),
        audio: around,
        states: overhead::extension_block(&first).saturating_sub(overhead.extensions),
        retransmission: overhead::RTX,
        padding: around + Bytes::new(LONGEST_PADDING),
        ..scheme.packets
    };
    match &mut scheme.repair {
        Some(repair) if video.retransmission.is_some() && video.feedback.nack => {
            if video.parity.is_none() {
                repair.parity = None;
            }
        }
        repair => *repair = None,
    }
    scheme
}

/// libwebrtc pads with as much at most (`kMaxPaddingLength`).
pub(super) const LONGEST_PADDING: u64 = 224;

/// Lengths of the extension elements in every packet.
fn lengths(video: &Video) -> Vec<usize> {
    let ids = &video.extensions;
    let transport = ids.transport_sequence.map(|_| if ids.transport_on_request { 4 } else { 2 });
    [transport, ids.grace.map(|_| FragmentGrace::LARGEST), ids.mid.map(|_| video.mid.len())]
        .into_iter()
        .flatten()
        .collect()
}

/// Bytes of payload descriptor in every packet: VP8 with a picture id of 15 bits (RFC 7741), H.264's FU indicator and header (RFC 6184), VP9's
/// flags and picture id (RFC 9628).
fn descriptor(codec: VideoCodec) -> Bytes {
    Bytes::new(match codec {
        VideoCodec::Vp8 => 4,
        VideoCodec::H264 => 2,
        VideoCodec::Vp9 => 3,
    })
}
