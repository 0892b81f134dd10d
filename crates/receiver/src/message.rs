//! What the simulated receiver sends to its sender over the reverse path, and how that reads it: RTCP as bytes.

use thalweg_control::Acknowledgement;
use thalweg_media::feedback::{Reader, RtcpFeedback, Streams};
use thalweg_media::{Content, Packet};
use thalweg_units::Bytes;
use thalweg_wire::{overhead, rtcp};

/// Who reports.
pub(super) const RECEIVER: u32 = 1;
/// The media stream, whose packets can be asked for again.
pub(super) const MEDIA: u32 = 2;
/// RFC 8888 and extended reports are per RTP stream. Here all packets are of one stream, numbered in the order of sending; a sender with
/// retransmissions and padding on a stream of their own (RFC 4588) would be sent 8 bytes more in a report.
pub(super) const EVERYTHING: u32 = 3;

/// An acknowledgement of a packet on the wire: no format exists, so the size of RTCP feedback with one arrival, 20 bytes.
pub(super) const PER_PACKET_SIZE: Bytes = Bytes::new(20 + 8 + 20 + 14);

/// A datagram on the reverse path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it is about.
    pub about: About,
    /// Its RTCP, reduced-size (RFC 5506), as browsers agree on.
    pub rtcp: Vec<u8>,
    /// The acknowledgements of [`FeedbackStyle::PerPacket`](thalweg_media::FeedbackStyle::PerPacket), which have no format.
    pub acknowledgements: Vec<Acknowledgement>,
    /// Its size on the wire: the datagram's bytes, SRTCP, UDP and IPv4.
    pub size: Bytes,
}

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Arrivals of so many packets, lost ones among them, or the path.
    Report {
        /// How many.
        packets: u32,
    },
    /// A NACK for so many packets (RFC 4585 section 6.2.1).
    Nack {
        /// How many.
        packets: u32,
    },
    /// A PLI: a keyframe is needed (RFC 4585 section 6.3.1).
    Pli,
}

impl Message {
    /// A datagram of this RTCP.
    pub(super) fn new(about: About, rtcp: Vec<u8>) -> Message {
        let size = wire_size(&rtcp);
        Message { about, rtcp, acknowledgements: Vec::new(), size }
    }

    /// A report of the papers' idealised kind.
    pub(super) fn acknowledging(acknowledgements: Vec<Acknowledgement>) -> Message {
        let about = About::Report { packets: acknowledgements.len() as u32 };
        Message { about, rtcp: Vec::new(), acknowledgements, size: PER_PACKET_SIZE }
    }

    /// The same with a packet more, before the others.
    pub(super) fn led_by(mut self, packet: rtcp::Packet) -> Message {
        let before = datagram(&[packet]);
        self.size += Bytes::new(before.len() as u64);
        self.rtcp.splice(..0, before);
        self
    }
}

/// Packets of RTCP as the bytes of a datagram.
pub(super) fn datagram(packets: &[rtcp::Packet]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = rtcp::write(packets, &mut bytes);
    debug_assert_eq!(written, Ok(()), "the receiver asks for no more than a packet holds");
    bytes
}

/// The size of RTCP on the wire: IPv4, UDP, and SRTCP's index and 80-bit tag (RFC 3711 sections 3.4 and 5.2).
fn wire_size(datagram: &[u8]) -> Bytes {
    let around = overhead::IPV4 + overhead::UDP + overhead::SRTCP_INDEX + overhead::SRTP_TAG_SHA1_80;
    Bytes::new(datagram.len() as u64) + around
}

/// Reads [`Message`]s where they arrive, with the reader and the numbering of a real sender.
#[derive(Debug, Clone, Default)]
pub struct MessageReader {
    reader: Reader,
    sent: Streams,
}

impl MessageReader {
    /// A packet leaves the sender: the number that the receiver will name it by.
    pub fn on_sent(&mut self, packet: &Packet) {
        let id = packet.sent.id;
        self.sent.on_sent(id, EVERYTHING, id.0);
        if let Content::Media { sequence, fragment } = packet.content {
            self.sent.on_sent(id, MEDIA, sequence);
            self.sent.on_frame(MEDIA, fragment.frame);
        }
    }

    /// What a message reports.
    pub fn read(&mut self, message: Message) -> Vec<RtcpFeedback> {
        let mut rtcp_feedback = Vec::new();
        if !message.rtcp.is_empty() {
            let read = self.reader.read(&message.rtcp, &self.sent);
            debug_assert!(read.is_ok(), "the receiver sends RTCP that can be read: {read:?}");
            rtcp_feedback.extend(read.unwrap_or_default());
        }
        if !message.acknowledgements.is_empty() {
            rtcp_feedback.push(RtcpFeedback::Arrivals { acknowledgements: message.acknowledgements, hold: None });
        }
        rtcp_feedback
    }
}
