//! How long frames take (specs/rmcat.md 6, after IEEE 802.11).

use thalweg_units::{Rate, Span};

use super::config::{Band, Modulation};

/// LLC and SNAP header, quality-of-service MAC header, frame check sequence.
const HEADERS: u64 = 8 + 26 + 4;
/// The delimiter in front of each packet of an aggregate.
const DELIMITER: u64 = 4;
/// Service field and tail of an OFDM frame, in bits.
const SERVICE_AND_TAIL: u64 = 16 + 6;
const SYMBOL: Span = Span::from_micros(4);
/// An acknowledgement and a clear-to-send, in bytes.
const ACK: u64 = 14;
const BLOCK_ACK: u64 = 32;
/// Max bytes and duration of an aggregate frame.
pub const MOST_BYTES: u64 = 65_535;
pub const LONGEST: Span = Span::from_micros(5484);

/// The timing of a band.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub slot: Span,
    pub sifs: Span,
    /// Signal extension after OFDM frames.
    tail: Span,
}

impl Timing {
    /// The timing of a band, with the long slot beside 802.11b clients.
    pub fn of(band: Band, has_dsss: bool) -> Timing {
        let (slot, sifs, tail) = match band {
            Band::FiveGigahertz => (9, 16, 0),
            Band::TwoPointFourGigahertz if has_dsss => (20, 10, 6),
            Band::TwoPointFourGigahertz => (9, 10, 6),
        };
        Timing { slot: Span::from_micros(slot), sifs: Span::from_micros(sifs), tail: Span::from_micros(tail) }
    }

    /// A frame of this many bytes, from the MAC header on.
    pub fn frame(&self, bytes: u64, rate: Rate) -> Span {
        let ofdm = |preamble| {
            let bits_per_symbol = (rate.as_bps() * 4 / 1_000_000).max(1);
            let symbols = (SERVICE_AND_TAIL + 8 * bytes).div_ceil(bits_per_symbol);
            Span::from_micros(preamble) + SYMBOL * symbols as i64 + self.tail
        };
        match Modulation::of(rate) {
            Modulation::Dsss => {
                let nanos = (8_000_000_000 * bytes).div_ceil(rate.as_bps().max(1));
                Span::from_micros(192) + Span::from_nanos(nanos as i64)
            }
            Modulation::Ofdm => ofdm(20),
            Modulation::Ht => ofdm(40),
        }
    }

    /// The most bytes of a frame that takes no longer than `within`; 0 if none does.
    pub fn most_bytes(&self, rate: Rate, within: Span) -> u64 {
        let (mut fits, mut too_long) = (0, MOST_BYTES + 1);
        while fits + 1 < too_long {
            let between = (fits + too_long) / 2;
            if self.frame(between, rate) <= within { fits = between } else { too_long = between }
        }
        fits
    }

    /// The answer to a frame at this rate: at the highest basic rate that is no higher (6, 12 or 24 Mbps; an 802.11b
    /// client's own).
    pub fn answer(&self, block: bool, rate: Rate) -> Span {
        let basic = match Modulation::of(rate) {
            Modulation::Dsss => rate,
            _ => [24_000, 12_000]
                .map(Rate::from_kbps)
                .into_iter()
                .find(|basic| *basic <= rate)
                .unwrap_or(Rate::from_kbps(6000)),
        };
        self.frame(if block { BLOCK_ACK } else { ACK }, basic)
    }

    /// A CTS-to-self and the gap after it.
    pub fn clear_to_send(&self, rate: Rate) -> Span {
        self.frame(ACK, rate) + self.sifs
    }
}

/// Bytes that a packet of this many IP bytes adds to a frame, from the MAC header on.
pub fn bytes_of(packet: u64, aggregated: bool) -> u64 {
    let alone = packet + HEADERS;
    if aggregated { (alone + DELIMITER).next_multiple_of(4) } else { alone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_take_as_long_as_in_the_worked_example() {
        // specs/rmcat.md 13, example 6.
        let timing = Timing::of(Band::FiveGigahertz, false);
        let rate = Rate::from_kbps(52_000);
        assert_eq!(bytes_of(1040, true), 1084);
        assert_eq!(timing.frame(bytes_of(1040, false), rate), Span::from_micros(208));
        assert_eq!(timing.frame(8 * bytes_of(1040, true), rate), Span::from_micros(1376));
        assert_eq!([false, true].map(|block| timing.answer(block, rate)), [28, 32].map(Span::from_micros));
    }

    #[test]
    fn slower_frames_are_answered_more_slowly_and_the_lower_band_adds_its_tail() {
        let timing = Timing::of(Band::TwoPointFourGigahertz, true);
        let answer = |kbps| timing.answer(false, Rate::from_kbps(kbps)).as_nanos() / 1000;
        // 20 us, 2, 3 and 6 symbols, and the tail; 192 us and 112 bits at 2 and 1 Mbps.
        assert_eq!([52_000, 18_000, 6000, 2000, 1000].map(answer), [34, 38, 50, 248, 304]);
        assert_eq!(timing.frame(1078, Rate::from_kbps(1000)), Span::from_micros(192 + 8624));
        assert_eq!(timing.clear_to_send(Rate::from_kbps(2000)), Span::from_micros(258));
    }
}
