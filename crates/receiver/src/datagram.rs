//! RTCP from receiver to sender: who is who, what a datagram weighs, and what the sender hears in it.

use thalweg_control::PacketId;
use thalweg_media::feedback::{News, Numbering, Reader};
use thalweg_media::{Content, Fragment, Packet};
use thalweg_units::Bytes;
use thalweg_wire::{overhead, rtcp};

/// Who reports.
pub(super) const RECEIVER: u32 = 1;
/// The media stream, whose packets can be asked for again.
pub(super) const MEDIA: u32 = 2;
/// RFC 8888 and extended reports tell of RTP streams. Here all packets are of one stream, numbered in the order of sending; a sender with
/// repeats and filler on a stream of their own (RFC 4588) would hear 8 bytes more in a report.
pub(super) const EVERYTHING: u32 = 3;

/// RTCP alone in a datagram, as bytes: reduced-size (RFC 5506), which browsers agree on.
pub(super) fn datagram(packet: rtcp::Packet) -> Vec<u8> {
    compound(&[packet])
}

/// Several packets of RTCP in a datagram, as bytes.
pub(super) fn compound(packets: &[rtcp::Packet]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = rtcp::write(packets, &mut bytes);
    debug_assert_eq!(written, Ok(()), "the receiver asks for no more than a packet holds");
    bytes
}

/// The size of RTCP on the wire: IPv4, UDP, and SRTCP's index and 80-bit tag (RFC 3711 sections 3.4 and 5.2).
pub(super) fn wire_size(datagram: &[u8]) -> Bytes {
    let around = overhead::IPV4 + overhead::UDP + overhead::SRTCP_INDEX + overhead::SRTP_TAG_SHA1_80;
    Bytes::new(datagram.len() as u64) + around
}

/// The sender's ear. It hears a datagram as it is sent, and places numbers by the newest packet that arrived: by the
/// newest one sent, a path later, they would be placed alike, as long as fewer than 32768 packets are under way.
#[derive(Debug, Default)]
pub(super) struct Ear {
    reader: Reader,
    sent: Arrived,
}

/// The newest numbers that arrived.
#[derive(Debug, Default)]
struct Arrived {
    newest: Option<PacketId>,
    media: Option<u64>,
    frame: Option<u64>,
}

impl Ear {
    /// A packet arrived.
    pub(super) fn on_packet(&mut self, packet: &Packet) {
        self.sent.newest = self.sent.newest.max(Some(packet.sent.id));
        if let Content::Media { sequence, fragment } | Content::Retransmission { of: sequence, fragment } =
            packet.content
        {
            self.on_media(sequence, &fragment);
        }
    }

    /// A media packet arrived, or was made of others.
    pub(super) fn on_media(&mut self, sequence: u64, fragment: &Fragment) {
        self.sent.media = self.sent.media.max(Some(sequence));
        self.sent.frame = self.sent.frame.max(Some(fragment.frame));
    }

    /// What the sender hears.
    pub(super) fn hear(&mut self, datagram: &[u8]) -> Vec<News> {
        let news = self.reader.read(datagram, &self.sent);
        debug_assert!(news.is_ok(), "the receiver sends RTCP that can be read: {news:?}");
        news.unwrap_or_default()
    }
}

impl Numbering for Arrived {
    fn newest(&self) -> Option<PacketId> {
        self.newest
    }

    fn newest_of(&self, ssrc: u32) -> Option<u64> {
        match ssrc {
            EVERYTHING => self.newest.map(|id| id.0),
            MEDIA => self.media,
            _ => None,
        }
    }

    fn is_media(&self, ssrc: u32) -> bool {
        ssrc == MEDIA
    }

    fn newest_frame(&self) -> Option<u64> {
        self.frame
    }

    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId> {
        (ssrc == EVERYTHING && Some(PacketId(sequence)) <= self.newest).then_some(PacketId(sequence))
    }
}
