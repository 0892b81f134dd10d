//! Packet sizes and rates as the foreign program counts them, and as the wire does.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::overhead;

/// Bytes that the wire adds to an RTP packet: IPv4, UDP and SRTP's usual tag, 38.
pub const RTP_OVERHEAD: Bytes =
    Bytes::new(overhead::IPV4.get() + overhead::UDP.get() + overhead::SRTP_TAG_SHA1_80.get());
/// The ratio is taken over the packets of this time before the last one.
const WINDOW: Span = Span::from_secs(1);
/// The size assumed before the first packet.
const ASSUMED: Bytes = Bytes::new(1100);

/// Converts by the mean size of recent packets.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    overhead: Bytes,
    /// The sizes of recent packets as the foreign program counts them, in order of sending.
    recent: VecDeque<(Time, Bytes)>,
    /// The sum of `recent`.
    sum: Bytes,
}

impl Sizes {
    pub(crate) fn new(overhead: Bytes) -> Sizes {
        Sizes { overhead, recent: VecDeque::new(), sum: Bytes::ZERO }
    }

    /// Takes a packet that left; returns its size on the wire.
    pub(crate) fn on_sent(&mut self, at: Time, size: Bytes) -> Bytes {
        self.recent.push_back((at, size));
        self.sum += size;
        while let Some((_, old)) = self.recent.front().filter(|(old, _)| at - *old > WINDOW) {
            self.sum -= *old;
            self.recent.pop_front();
        }
        size + self.overhead
    }

    /// Foreign bytes in a byte on the wire, 0..=1.
    pub(crate) fn ratio(&self) -> f64 {
        let share = |foreign: Bytes, packets: u64| foreign.as_f64() / (foreign + self.overhead * packets).as_f64();
        if self.sum == Bytes::ZERO { share(ASSUMED, 1) } else { share(self.sum, self.recent.len() as u64) }
    }

    /// Part of a rate on the wire that is the foreign program's.
    pub(crate) fn foreign(&self, wire: Rate) -> Rate {
        wire.scale(self.ratio())
    }

    /// The rate on the wire of a foreign program's rate.
    pub(crate) fn wire(&self, foreign: Rate) -> Rate {
        foreign.scale(1.0 / self.ratio())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn a_packet_of_1100_bytes_is_assumed_and_the_mean_of_the_last_second_counts() {
        let mut sizes = Sizes::new(RTP_OVERHEAD);
        assert_eq!(RTP_OVERHEAD, Bytes::new(38));
        // 1100 of 1138 bytes.
        assert_eq!(sizes.foreign(Rate::from_kbps(1138)), Rate::from_kbps(1100));
        assert_eq!(sizes.wire(Rate::from_kbps(1100)), Rate::from_kbps(1138));
        assert_eq!(sizes.on_sent(MS(0), Bytes::new(162)), Bytes::new(200));
        assert_eq!(sizes.foreign(Rate::from_kbps(1000)), Rate::from_kbps(810));
        // 162 and 1200 bytes: 1362 of 1438.
        sizes.on_sent(MS(1000), Bytes::new(1200));
        assert_eq!(sizes.foreign(Rate::from_kbps(1438)), Rate::from_kbps(1362));
        // The first is older than a second now: 2400 of 2476.
        sizes.on_sent(MS(1001), Bytes::new(1200));
        assert_eq!(sizes.foreign(Rate::from_kbps(2476)), Rate::from_kbps(2400));
    }

    #[test]
    fn without_overhead_and_for_empty_packets_there_is_still_a_ratio() {
        let mut sizes = Sizes::new(Bytes::ZERO);
        sizes.on_sent(MS(0), Bytes::ZERO);
        assert_eq!(sizes.ratio(), 1.0);
        let mut sizes = Sizes::new(Bytes::new(28));
        sizes.on_sent(MS(0), Bytes::ZERO);
        assert!(sizes.ratio() > 0.97 && sizes.ratio() < 1.0, "{}", sizes.ratio());
    }
}
