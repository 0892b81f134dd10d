//! The format of FEC packets, as far as it determines their size.

use thalweg_types::Protected;
use thalweg_units::Bytes;

/// Which of the two FEC formats that receivers support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Format {
    /// flexfec-03, on a stream of its own.
    #[default]
    Flexfec,
    /// ULPFEC in RED (RFC 5109, RFC 2198): in the media stream, where it uses sequence numbers, so that the packets it
    /// protects are farther apart. The byte that RED adds to each packet is in
    /// [`PacketSizes::overhead`](crate::PacketSizes::overhead).
    Ulpfec,
}

impl Format {
    /// Length of the longest mask: how far apart two packets under one FEC packet may be on the wire (specs/fec.md 2).
    pub const fn longest(self) -> u64 {
        match self {
            Format::Flexfec => Protected::LONGEST,
            Format::Ulpfec => 48,
        }
    }

    /// Size of an FEC packet before the XOR, when the protected packets span this many sequence numbers on the wire, 1
    /// to [`Format::longest`]: the header with its short, middle or long mask (specs/fec.md 2).
    pub fn header(self, numbers: u64) -> Bytes {
        Bytes::new(match (self, numbers) {
            (Format::Flexfec, ..=15) => 20,
            (Format::Flexfec, ..=46) => 24,
            (Format::Flexfec, _) => 32,
            (Format::Ulpfec, ..=16) => 14,
            (Format::Ulpfec, _) => 18,
        })
    }

    /// The default is not serialized, so that the files of runs without ULPFEC stay unchanged.
    #[cfg(feature = "serde")]
    pub(crate) fn is_flexfec(&self) -> bool {
        *self == Format::Flexfec
    }
}

/// How FEC packets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Their format.
    pub format: Format,
    /// Their own RTP header extensions.
    pub extensions: Bytes,
}

impl Written {
    /// How much larger an FEC packet is than the longest packet it protects, when those span this many numbers on the
    /// wire.
    pub fn around(self, numbers: u64) -> Bytes {
        self.format.header(numbers) + self.extensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use thalweg_wire::rtp::{Header, Packet};
    use thalweg_wire::{flexfec, ulpfec};

    /// The bytes that `wire` writes before the XOR of two packets, the second this many numbers after the first.
    fn written(format: Format, apart: u16) -> Bytes {
        let packet = |sequence| {
            let header = Header { marker: false, payload_type: 96, sequence, timestamp: 0, ssrc: 1 };
            let mut bytes = Vec::new();
            Packet::new(header, &[7; 100]).write(&mut bytes).unwrap();
            bytes
        };
        let packets =
            if apart == 0 { vec![packet(65_530)] } else { vec![packet(65_530), packet(65_530u16.wrapping_add(apart))] };
        let packets = packets.iter().map(Vec::as_slice);
        let payload = match format {
            Format::Flexfec => flexfec::protect(packets).unwrap(),
            Format::Ulpfec => ulpfec::protect(packets).unwrap(),
        };
        Bytes::new(payload.len() as u64 - 100)
    }

    #[test]
    fn the_header_is_as_long_as_the_one_that_is_written_and_no_longer_mask_is() {
        for format in [Format::Flexfec, Format::Ulpfec] {
            for apart in 0..format.longest() {
                assert_eq!(format.header(apart + 1), written(format, apart as u16), "{format:?}, {apart}");
            }
        }
        let longest = [Format::Flexfec, Format::Ulpfec].map(Format::longest);
        assert_eq!(longest, [flexfec::LONGEST.into(), ulpfec::LONGEST.into()]);
    }
}
