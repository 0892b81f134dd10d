//! The RTP streams that pass: what each is for, and the retransmission streams, on which padding leaves.

use std::collections::VecDeque;

use thalweg_control::Payload;

use crate::flow::on_the_wire;
use crate::queue::Packet;
use crate::rtp::{self, Header};

/// The header extension with the transport-wide number (transport-wide-cc-extensions-01).
const TRANSPORT_CC: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// Media packets to choose from for padding.
const RECENT: usize = 16;
/// Dropped packets whose retransmission is not sent either: two seconds at 10 Mbps.
const DROPPED: usize = 2048;
/// Below this size padding has no payload.
const SMALL: usize = 256;

/// The retransmissions of a stream (RFC 4588).
#[derive(Debug, Clone, Copy)]
struct Repair {
    ssrc: u32,
    payload_type: Option<u8>,
    /// The number of the next packet. Padding is numbered in between, so every packet is numbered anew.
    next: Option<u16>,
}

#[derive(Debug)]
struct Stream {
    ssrc: u32,
    audio: bool,
    repair: Option<Repair>,
    recent: VecDeque<gst::Buffer>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: Vec<Stream>,
    /// The identifier of the extension with the transport-wide number, if it was negotiated.
    extension: Option<u8>,
    /// Packets that were dropped here, by stream and number.
    dropped: VecDeque<(u32, u16)>,
}

impl Streams {
    /// Caps announce a stream, and where rtprtxsend made them also its retransmissions.
    pub(crate) fn on_caps(&mut self, caps: &gst::CapsRef) {
        let Some(structure) = caps.structure(0) else { return };
        if let Some(id) = extension(structure) {
            self.extension = Some(id);
        }
        let Ok(ssrc) = structure.get::<u32>("ssrc") else { return };
        let audio = structure.get::<&str>("media") == Ok("audio");
        let stream = self.stream(ssrc);
        stream.audio = audio;
        if let Ok(repair) = structure.get::<u32>("rtx-ssrc") {
            let payload_type = structure.get::<i32>("rtx-payload").ok().and_then(|number| u8::try_from(number).ok());
            let next = structure.get::<u32>("rtx-seqnum-offset").ok().and_then(|number| u16::try_from(number).ok());
            let known = stream.repair.filter(|known| known.ssrc == repair);
            stream.repair = Some(Repair {
                ssrc: repair,
                payload_type: payload_type.or(known.and_then(|known| known.payload_type)),
                next: known.map_or(next, |known| known.next),
            });
        }
    }

    fn stream(&mut self, ssrc: u32) -> &mut Stream {
        let at = self.streams.iter().position(|stream| stream.ssrc == ssrc).unwrap_or_else(|| {
            self.streams.push(Stream { ssrc, audio: false, repair: None, recent: VecDeque::new() });
            self.streams.len() - 1
        });
        &mut self.streams[at]
    }

    /// Describes a packet; `None` if it is not RTP, or repeats a packet that was dropped here.
    pub(crate) fn describe(&self, bytes: &[u8]) -> Option<Packet> {
        let header = Header::read(bytes)?;
        let repairs = self.streams.iter().find(|stream| stream.repair.is_some_and(|repair| repair.ssrc == header.ssrc));
        if let Some(stream) = repairs
            && let Some(original) = rtp::original_sequence(bytes)
            && self.dropped.contains(&(stream.ssrc, original))
        {
            return None;
        }
        let audio = self.streams.iter().any(|stream| stream.audio && stream.ssrc == header.ssrc);
        let kind = match (repairs, audio) {
            (Some(_), _) => Payload::Repair,
            (None, true) => Payload::Audio,
            (None, false) => Payload::Media,
        };
        Some(self.packet(bytes, &header, kind))
    }

    fn packet(&self, bytes: &[u8], header: &Header, kind: Payload) -> Packet {
        Packet {
            size: on_the_wire(bytes.len()),
            payload: payload_size(bytes, header),
            kind,
            ssrc: header.ssrc,
            timestamp: header.timestamp,
            marker: header.marker,
            // Without caps that say so every packet may be numbered: reports show it.
            numbered: self.extension.is_none_or(|id| rtp::has_extension(bytes, id)),
        }
    }

    /// A packet is pushed: remembered if it is media, numbered anew if it is a retransmission.
    pub(crate) fn on_sending(&mut self, mut buffer: gst::Buffer, packet: &Packet) -> gst::Buffer {
        match packet.kind {
            Payload::Media => {
                let stream = self.stream(packet.ssrc);
                stream.recent.push_back(buffer.clone());
                if stream.recent.len() > RECENT {
                    stream.recent.pop_front();
                }
            }
            Payload::Repair => {
                let repairs = self.streams.iter_mut().filter_map(|stream| stream.repair.as_mut());
                if let Some(repair) = repairs.into_iter().find(|repair| repair.ssrc == packet.ssrc)
                    && let Ok(mut map) = buffer.make_mut().map_writable()
                    && let Some(header) = Header::read(&map)
                {
                    repair.payload_type.get_or_insert(map[1] & 0x7F);
                    let number = repair.next.unwrap_or(header.sequence);
                    repair.next = Some(number.wrapping_add(1));
                    rtp::set_sequence(&mut map, number);
                }
            }
            Payload::Audio | Payload::Padding => {}
        }
        buffer
    }

    /// Media was dropped here: receivers will ask for it in vain.
    pub(crate) fn on_dropped(&mut self, buffer: &gst::BufferRef) {
        if let Ok(map) = buffer.map_readable()
            && let Some(header) = Header::read(&map)
        {
            self.dropped.push_back((header.ssrc, header.sequence));
            if self.dropped.len() > DROPPED {
                self.dropped.pop_front();
            }
        }
    }

    /// A packet of padding of at most so many bytes: a recent packet once more, as a retransmission that comes too late, or
    /// padding alone where none is small enough (as libwebrtc does). `None` without a stream of retransmissions.
    pub(crate) fn padding(&mut self, most: usize) -> Option<(gst::Buffer, Packet)> {
        let (stream, repair, payload_type) = self.streams.iter_mut().find_map(|stream| {
            let repair = stream.repair.as_mut()?;
            let payload_type = repair.payload_type?;
            (!stream.recent.is_empty()).then_some((&stream.recent, repair, payload_type))
        })?;
        // Where rtprtxsend said nothing of its numbers, those of its first packet will follow on ours.
        let number = repair.next.unwrap_or(0);
        let fitting = stream.iter().filter(|buffer| buffer.size() + 2 <= most).max_by_key(|buffer| buffer.size());
        let bytes = match fitting.filter(|_| most >= SMALL) {
            Some(buffer) => rtp::retransmission(&buffer.map_readable().ok()?, repair.ssrc, payload_type, number)?,
            None => {
                let recent = stream.back()?.map_readable().ok()?;
                rtp::padding(&recent, repair.ssrc, payload_type, number, most)?
            }
        };
        repair.next = Some(number.wrapping_add(1));
        let header = Header::read(&bytes)?;
        let packet = self.packet(&bytes, &header, Payload::Padding);
        Some((gst::Buffer::from_mut_slice(bytes), packet))
    }
}

/// The bytes of payload as GStreamer's session counts them: without padding.
fn payload_size(bytes: &[u8], header: &Header) -> u32 {
    let payload = bytes.len() - header.length;
    let padding = if bytes[0] & 0x20 != 0 { bytes.last().map_or(0, |last| usize::from(*last)) } else { 0 };
    payload.saturating_sub(padding) as u32
}

fn extension(structure: &gst::StructureRef) -> Option<u8> {
    structure.iter().find_map(|(name, value)| {
        let id = name.strip_prefix("extmap-")?.parse().ok()?;
        let uri = value.get::<String>().ok().or_else(|| {
            // Direction, address, attributes.
            value.get::<gst::Array>().ok()?.get(1)?.get::<String>().ok()
        })?;
        (uri == TRANSPORT_CC).then_some(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn caps(more: &str) -> gst::Caps {
        gst::init().unwrap();
        let text = format!(
            "application/x-rtp, media=(string)video, ssrc=(uint)4, payload=(int)96, extmap-3=(string)\"{TRANSPORT_CC}\"{more}"
        );
        text.parse().unwrap()
    }

    /// A packet of stream 4 with extension 3 and a payload of this size.
    fn media(sequence: u16, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0x90, 96, 0, 0, 0, 0, 0, 9, 0, 0, 0, 4, 0xBE, 0xDE, 0, 1, 0x31, 0, 0, 0];
        rtp::set_sequence(&mut bytes, sequence);
        bytes.resize(20 + payload, 0xAA);
        bytes
    }

    fn send(streams: &mut Streams, bytes: Vec<u8>) -> Vec<u8> {
        let packet = streams.describe(&bytes).unwrap();
        streams.on_sending(gst::Buffer::from_mut_slice(bytes), &packet).map_readable().unwrap().to_vec()
    }

    const REPAIR: &str = ", rtx-ssrc=(uint)40, rtx-payload=(int)97, rtx-seqnum-offset=(uint)65535";

    #[test]
    fn padding_repeats_recent_media_and_retransmissions_are_numbered_around_it() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(REPAIR));
        assert!(streams.padding(1200).is_none(), "nothing has left");
        send(&mut streams, media(7, 1000));
        let (buffer, packet) = streams.padding(1200).unwrap();
        let bytes = buffer.map_readable().unwrap();
        let header = Header::read(&bytes).unwrap();
        assert_eq!((header.ssrc, header.sequence, rtp::original_sequence(&bytes)), (40, 65535, Some(7)));
        assert_eq!((packet.kind, packet.size, packet.payload), (Payload::Padding, Bytes::new(1060), 1002));
        assert!(packet.numbered);
        // A retransmission of rtprtxsend's, which counts from its own.
        let repair = rtp::retransmission(&media(7, 1000), 40, 97, 65535).unwrap();
        assert_eq!(streams.describe(&repair).unwrap().kind, Payload::Repair);
        assert_eq!(Header::read(&send(&mut streams, repair)).unwrap().sequence, 0);
    }

    #[test]
    fn small_padding_has_no_payload_and_is_as_large_as_asked() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(REPAIR));
        send(&mut streams, media(7, 1000));
        let (buffer, packet) = streams.padding(162).unwrap();
        assert_eq!((buffer.size(), packet.payload, packet.size), (162, 0, Bytes::new(200)));
        let bytes = buffer.map_readable().unwrap();
        assert!(bytes[0] & 0x20 != 0 && bytes.last() == Some(&142), "{:?}", bytes.last());
    }

    #[test]
    fn without_a_stream_of_retransmissions_there_is_no_padding() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(""));
        send(&mut streams, media(7, 1000));
        assert!(streams.padding(1200).is_none());
    }

    #[test]
    fn where_caps_have_no_payload_type_the_first_retransmission_shows_it() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(", rtx-ssrc=(uint)40"));
        send(&mut streams, media(7, 1000));
        assert!(streams.padding(1200).is_none());
        send(&mut streams, rtp::retransmission(&media(7, 1000), 40, 97, 500).unwrap());
        let (buffer, _) = streams.padding(1200).unwrap();
        let bytes = buffer.map_readable().unwrap();
        assert_eq!((bytes[1] & 0x7F, Header::read(&bytes).unwrap().sequence), (97, 501));
    }

    #[test]
    fn what_was_dropped_is_not_retransmitted() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(REPAIR));
        streams.on_dropped(&gst::Buffer::from_mut_slice(media(7, 1000)));
        let repair = |number| rtp::retransmission(&media(number, 1000), 40, 97, 0).unwrap();
        assert!(streams.describe(&repair(7)).is_none());
        assert!(streams.describe(&repair(8)).is_some());
    }

    #[test]
    fn packets_without_the_extension_get_no_transport_wide_number() {
        let mut streams = Streams::default();
        streams.on_caps(&caps(REPAIR));
        let mut plain = media(1, 10);
        plain[16] = 0x51;
        assert!(!streams.describe(&plain).unwrap().numbered && streams.describe(&media(1, 10)).unwrap().numbered);
    }
}
