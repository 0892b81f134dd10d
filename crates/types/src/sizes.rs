//! The sizes of packets, and how a frame is cut into them.

use thalweg_units::Bytes;

/// The sizes of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PacketSizes {
    /// Max payload of a media packet (libwebrtc's default for video).
    pub max_payload: Bytes,
    /// Min packets per burst that leaves together, so that its spacing at the receiver can be measured (Camel, 4:
    /// specs/camel.md 1); 1 if bursts are not measured.
    pub per_burst: u16,
    /// Min packets per frame (as far as its bytes allow), so that its spacing at the receiver can be measured (Rebera,
    /// 2: specs/rebera.md 2); 1 if frames are not measured.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_one"))]
    pub min_packets: u16,
    /// Overhead of a media packet over its payload: IPv4 20, UDP 8, RTP 12, extensions 8 to 20, VP8 descriptor 4, SRTP
    /// tag 10 or 16.
    pub overhead: Bytes,
    /// Additional overhead of a frame's first media packet: the hashes of two states, for a receiver that gets them.
    pub states: Bytes,
    /// Overhead of an audio packet over its payload: that of a media packet without the descriptor.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_usual_audio"))]
    pub audio: Bytes,
    /// Additional overhead of a retransmission: the original sequence number (RFC 4588).
    pub retransmission: Bytes,
    /// Max wire size of a padding packet without content: at most 255 bytes of RTP padding, libwebrtc uses 224.
    pub padding: Bytes,
}

/// A media packet's usual overhead without VP8's descriptor.
const USUAL_AUDIO: Bytes = Bytes::new(70);

/// The default is not serialized, so that the files of runs without audio stay unchanged.
#[cfg(feature = "serde")]
fn is_usual_audio(audio: &Bytes) -> bool {
    *audio == USUAL_AUDIO
}

#[cfg(feature = "serde")]
fn is_one(packets: &u16) -> bool {
    *packets == 1
}

impl Default for PacketSizes {
    fn default() -> PacketSizes {
        PacketSizes {
            max_payload: Bytes::new(1_140),
            per_burst: 1,
            min_packets: 1,
            overhead: Bytes::new(74),
            states: Bytes::ZERO,
            audio: USUAL_AUDIO,
            retransmission: Bytes::new(2),
            padding: Bytes::new(288),
        }
    }
}

/// The packets that a frame is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of packets.
    pub packets: u16,
    /// How many of them make a burst: as many as leave together if bursts are limited, otherwise all.
    pub per_burst: u16,
}

impl PacketSizes {
    /// How a frame of `size` is cut: into the min number of packets, at least one.
    ///
    /// If at most `burst` wire bytes may leave together, into the min number of equal bursts within that limit, each of
    /// at least [`PacketSizes::per_burst`] packets (as far as the bytes allow).
    pub fn cut(&self, size: Bytes, burst: Option<Bytes>) -> Cut {
        let packets = |size: u64| size.div_ceil(self.max_payload.get()).max(1);
        let min = u64::from(self.min_packets).min(size.get());
        let whole = u16::try_from(packets(size.get()).max(min)).unwrap_or(u16::MAX);
        let Some(max) = burst else { return Cut { packets: whole, per_burst: whole } };
        let size = size.get();
        let cut = |bursts: u64| {
            let slice = size.div_ceil(bursts);
            let per_burst = packets(slice).max(u64::from(self.per_burst)).min(slice.max(1));
            (per_burst, slice + per_burst * self.overhead.get())
        };
        let mut bursts = size.div_ceil(max.get().max(1)).max(1);
        // A burst with one packet per byte does not get shorter.
        while cut(bursts).1 > max.get() && bursts < size {
            bursts += 1;
        }
        let per_burst = cut(bursts).0;
        match (u16::try_from(bursts * per_burst), u16::try_from(per_burst)) {
            (Ok(packets), Ok(per_burst)) => Cut { packets, per_burst },
            _ => Cut { packets: whole, per_burst: whole },
        }
    }

    /// The bytes `[offset, offset + length)` of fragment `index` of `count` of a frame of `size`: as equal as whole
    /// bytes allow, the longer ones last (as libwebrtc splits VP8, so that the last packet is not the smallest).
    pub fn fragment(&self, size: Bytes, index: u16, count: u16) -> (u32, u32) {
        let (size, index, count) = (size.get(), u64::from(index), u64::from(count));
        let base = size / count;
        let longer_from = count - size % count;
        let offset = index * base + index.saturating_sub(longer_from);
        let length = base + u64::from(index >= longer_from);
        (offset as u32, length as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fragments_of_a_frame_are_its_bytes_in_order_and_nearly_equal(size in 1u64..500_000) {
            let sizes = PacketSizes::default();
            let count = sizes.cut(Bytes::new(size), None).packets;
            let pieces: alloc::vec::Vec<_> = (0..count).map(|i| sizes.fragment(Bytes::new(size), i, count)).collect();
            let mut at = 0;
            for (offset, length) in &pieces {
                prop_assert_eq!(*offset, at);
                prop_assert!(u64::from(*length) <= sizes.max_payload.get());
                at += length;
            }
            prop_assert_eq!(u64::from(at), size);
            let longest = pieces.iter().map(|p| p.1).max().unwrap();
            let shortest = pieces.iter().map(|p| p.1).min().unwrap();
            prop_assert!(longest - shortest <= 1);
        }

        #[test]
        fn bursts_keep_to_their_length_and_measure_something(size in 1u64..100_000, max in 2_048u64..65_536) {
            let sizes = PacketSizes { per_burst: 4, ..PacketSizes::default() };
            let Cut { packets, per_burst } = sizes.cut(Bytes::new(size), Some(Bytes::new(max)));
            let lengths: alloc::vec::Vec<u64> =
                (0..packets).map(|i| u64::from(sizes.fragment(Bytes::new(size), i, packets).1)).collect();
            prop_assert_eq!(lengths.iter().sum::<u64>(), size);
            prop_assert!(packets % per_burst == 0 && u64::from(per_burst) >= size.min(4));
            for burst in lengths.chunks(usize::from(per_burst)) {
                let wire = burst.iter().sum::<u64>() + u64::from(per_burst) * sizes.overhead.get();
                prop_assert!(wire <= max + u64::from(per_burst), "{} in a burst of {}", wire, max);
            }
            let bursts = u64::from(packets / per_burst);
            prop_assert!(bursts == 1 || (size + u64::from(packets) * sizes.overhead.get()) > (bursts - 1) * (max - 1_214));
        }
    }

    #[test]
    fn a_frame_that_fits_is_one_burst_and_a_longer_one_equal_slices() {
        let sizes = PacketSizes { per_burst: 4, ..PacketSizes::default() };
        let cut = |size, max| sizes.cut(Bytes::new(size), Some(Bytes::new(max)));
        assert_eq!(cut(1_250, 6_144), Cut { packets: 4, per_burst: 4 });
        assert_eq!(cut(5_500, 6_144), Cut { packets: 5, per_burst: 5 });
        assert_eq!(cut(4_000, 2_048), Cut { packets: 12, per_burst: 4 });
        assert_eq!(sizes.cut(Bytes::new(4_000), None), Cut { packets: 4, per_burst: 4 });
        assert_eq!(cut(2, 6_144), Cut { packets: 2, per_burst: 2 });
        assert_eq!(cut(0, 6_144), Cut { packets: 1, per_burst: 1 });
    }
}
