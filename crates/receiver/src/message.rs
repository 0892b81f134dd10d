//! Messages of the simulated receiver on the reverse path, as RTCP bytes, and the sender's reading of them.

use thalweg_control::Acknowledgement;
use thalweg_types::feedback::{Reader, RtcpFeedback, Streams};
use thalweg_types::{Content, Packet};
use thalweg_units::Bytes;
use thalweg_wire::{overhead, rtcp};

/// SSRC of the reporting receiver.
pub(super) const RECEIVER: u32 = 1;
/// SSRC of the media stream, whose packets can be requested again.
pub(super) const MEDIA: u32 = 2;
/// SSRC for RFC 8888 and extended reports, which are per RTP stream. Here all packets form one stream, numbered in
/// sending order; a sender with retransmissions and padding on a separate stream (RFC 4588) would get 8 bytes more in a
/// report.
pub(super) const EVERYTHING: u32 = 3;

/// Size of a per-packet acknowledgement on the wire. No format exists, so this is RTCP feedback with one arrival, 20
/// bytes, plus overhead.
pub(super) const PER_PACKET_SIZE: Bytes = Bytes::new(20 + 8 + 20 + 14);

/// A datagram on the reverse path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message's content.
    pub about: About,
    /// Its RTCP, reduced-size (RFC 5506), as browsers negotiate.
    pub rtcp: Vec<u8>,
    /// The acknowledgements of [`FeedbackStyle::PerPacket`](thalweg_types::FeedbackStyle::PerPacket), for which no
    /// format exists.
    pub acknowledgements: Vec<Acknowledgement>,
    /// Its size on the wire: the datagram's bytes, SRTCP, UDP and IPv4.
    pub size: Bytes,
}

/// The content of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// A report on arrivals (and losses) of this many packets, or on the path.
    Report {
        /// Number of packets.
        packets: u32,
    },
    /// A NACK for this many packets (RFC 4585 section 6.2.1).
    Nack {
        /// Number of packets.
        packets: u32,
    },
    /// A PLI: a keyframe is needed (RFC 4585 section 6.3.1).
    Pli,
}

impl Message {
    /// A message with this RTCP.
    pub(super) fn new(about: About, rtcp: Vec<u8>) -> Message {
        let size = wire_size(&rtcp);
        Message { about, rtcp, acknowledgements: Vec::new(), size }
    }

    /// A report in the idealised style of the papers, on so many arrivals; what it names as missing comes for nothing.
    pub(super) fn acknowledging(acknowledgements: Vec<Acknowledgement>) -> Message {
        let arrived = acknowledgements.iter().filter(|acknowledgement| acknowledgement.arrival.is_some());
        let about = About::Report { packets: arrived.count() as u32 };
        Message { about, rtcp: Vec::new(), acknowledgements, size: PER_PACKET_SIZE }
    }

    /// The same message with another RTCP packet in front.
    pub(super) fn led_by(mut self, packet: rtcp::Packet) -> Message {
        let before = datagram(&[packet]);
        self.size += Bytes::new(before.len() as u64);
        self.rtcp.splice(..0, before);
        self
    }
}

/// Serialises RTCP packets into the bytes of a datagram.
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

/// Parses [`Message`]s at the sender, with the parser and packet numbering of a real sender.
#[derive(Debug, Clone, Default)]
pub struct MessageReader {
    reader: Reader,
    sent: Streams,
}

impl MessageReader {
    /// Records a sent packet under the number by which the receiver will report it.
    pub fn on_sent(&mut self, packet: &Packet) {
        let id = packet.sent.id;
        self.sent.on_sent(id, EVERYTHING, id.0);
        if let Content::Media { sequence, fragment } = packet.content {
            self.sent.on_sent(id, MEDIA, sequence);
            self.sent.on_frame(MEDIA, fragment.frame);
        }
    }

    /// The feedback in a message.
    pub fn read(&mut self, message: Message) -> Vec<RtcpFeedback> {
        let mut feedback = Vec::new();
        if !message.rtcp.is_empty() {
            let read = self.reader.read(&message.rtcp, &self.sent);
            debug_assert!(read.is_ok(), "the receiver sends RTCP that can be read: {read:?}");
            feedback.extend(read.unwrap_or_default());
        }
        if !message.acknowledgements.is_empty() {
            feedback.push(RtcpFeedback::Arrivals { acknowledgements: message.acknowledgements, hold: None });
        }
        feedback
    }
}
