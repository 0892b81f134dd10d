//! Packets in order of arrival, grouped into frames by RTP timestamp (specs/rrtcc.md 2).

use thalweg_units::{Bytes, Time};

use crate::packet::{Payload, SentPacket};

/// The part of a frame that arrived before the next frame began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The time that its RTP timestamp carries.
    pub(crate) captured: Time,
    /// When the last of its packets arrived, by the receiver's clock.
    pub(crate) arrived: Time,
    /// Bytes of it that arrived.
    pub(crate) size: Bytes,
    pub(crate) keyframe: bool,
}

/// Groups media packets into frames in their order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames {
    current: Option<Frame>,
}

impl Frames {
    /// Takes an arrived packet; returns the frame before it if the packet begins another. Packets of older frames and
    /// packets other than media are ignored. A media packet that belongs to no frame counts as a frame captured when it
    /// was sent.
    pub(crate) fn on_arrival(&mut self, at: Time, packet: &SentPacket) -> Option<Frame> {
        if packet.payload != Payload::Media {
            return None;
        }
        let (captured, keyframe) = packet.place.map_or((packet.at, false), |place| (place.captured, place.keyframe));
        match &mut self.current {
            Some(frame) if captured < frame.captured => None,
            Some(frame) if captured == frame.captured => {
                frame.arrived = frame.arrived.max(at);
                frame.size += packet.size;
                frame.keyframe |= keyframe;
                None
            }
            _ => self.current.replace(Frame { captured, arrived: at, size: packet.size, keyframe }),
        }
    }

    /// Discards the frame that is arriving.
    pub(crate) fn clear(&mut self) {
        self.current = None;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::{FramePlace, PacketId};

    /// A media packet of a frame captured at `captured_ms`.
    pub(crate) fn packet_of(captured_ms: u64, bytes: u64, keyframe: bool) -> SentPacket {
        let captured = Time::from_millis(captured_ms);
        let place = FramePlace { keyframe, ..crate::testing::whole(0, captured) };
        SentPacket { place: Some(place), ..SentPacket::new(PacketId(0), captured, Bytes::new(bytes)) }
    }

    #[test]
    fn a_frame_is_whole_when_a_packet_of_a_newer_one_arrives() {
        let mut frames = Frames::default();
        let ms = Time::from_millis;
        assert_eq!(frames.on_arrival(ms(50), &packet_of(0, 1000, true)), None);
        assert_eq!(frames.on_arrival(ms(55), &packet_of(0, 700, true)), None);
        let whole = frames.on_arrival(ms(90), &packet_of(33, 500, false));
        assert_eq!(whole, Some(Frame { captured: ms(0), arrived: ms(55), size: Bytes::new(1700), keyframe: true }));
        // A late packet of an older frame, and a packet that is not media.
        assert_eq!(frames.on_arrival(ms(95), &packet_of(0, 1000, true)), None);
        let repair = SentPacket { payload: Payload::Repair, ..packet_of(66, 1000, false) };
        assert_eq!(frames.on_arrival(ms(96), &repair), None);
        let whole = frames.on_arrival(ms(120), &packet_of(66, 900, false)).unwrap();
        assert_eq!((whole.captured, whole.arrived, whole.size), (ms(33), ms(90), Bytes::new(500)));
    }

    #[test]
    fn a_packet_of_no_frame_is_one_of_its_own() {
        let mut frames = Frames::default();
        let packet = |ms| SentPacket { place: None, ..packet_of(ms, 1000, false) };
        assert_eq!(frames.on_arrival(Time::from_millis(50), &packet(0)), None);
        assert!(frames.on_arrival(Time::from_millis(60), &packet(10)).is_some());
    }
}
