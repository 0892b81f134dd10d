//! The number of FEC packets in a probe, and their rate.

use thalweg_units::{Bytes, Rate, Time};

use super::FecConfig;
use crate::packet::{Payload, SentPacket};

/// The FEC of the current probe.
#[derive(Debug, Clone, Default)]
pub(super) struct Fec {
    /// N.
    interval: u16,
    /// When FEC packets began to be sent, and the bytes of FEC sent since.
    since: Option<Time>,
    sent: Bytes,
}

impl Fec {
    /// N, while FEC is sent.
    pub(super) fn interval(&self) -> Option<u16> {
        self.since.map(|_| self.interval)
    }

    /// Begins a probe.
    pub(super) fn begin(&mut self, now: Time, interval: u16) {
        *self = Fec { interval, since: Some(now), sent: Bytes::ZERO };
    }

    /// Continues the probe with fewer FEC packets.
    pub(super) fn widen(&mut self, config: &FecConfig) {
        self.interval = (self.interval + 1).min(config.max);
    }

    /// Ends the probe.
    pub(super) fn end(&mut self) {
        self.since = None;
    }

    /// Counts a sent packet.
    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        if self.since.is_some() && packet.payload == Payload::Repair {
            self.sent += packet.size;
        }
    }

    /// Returns true if no FEC packet has left since the probe began.
    pub(super) fn is_unsent(&self) -> bool {
        self.sent == Bytes::ZERO
    }

    /// FEC_rate: the rate of FEC packets sent since the probe began; zero without a probe.
    pub(super) fn rate(&self, now: Time) -> Rate {
        self.since.map_or(Rate::ZERO, |since| self.sent.per(now - since))
    }
}

impl FecConfig {
    /// N for a media rate, given the recent max rate `greatest` and the first goodput `first` (specs/fbra.md 3): few
    /// FEC packets at a rate that the path has carried, many at a rate far below it or where nothing is known.
    pub(super) fn interval(&self, rate: Rate, greatest: Rate, first: Rate) -> u16 {
        let share = rate.as_bps_f64() / greatest.as_bps_f64().max(1.0);
        let place = ((share - self.from) / (1.0 - self.from)).clamp(0.0, 1.0);
        let interval = f64::from(self.min) + f64::from(self.at_greatest - self.min) * place;
        // Ties are rounded to even, as in the worked example.
        let interval = libm::rint(interval) as u16;
        let max = if rate <= first { self.max_at_first.min(self.max) } else { self.max };
        interval.clamp(self.min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use proptest::prelude::*;

    #[test]
    fn the_worked_rates_give_the_worked_intervals() {
        // specs/fbra.md 8, example 3.
        let config = FecConfig { max_at_first: 4, at_greatest: 14, ..FecConfig::default() };
        for (rate, greatest, first, interval) in [
            (128, 128, 128, 4),
            (200, 256, 128, 9),
            (240, 256, 128, 12),
            (256, 256, 128, 14),
            (130, 256, 128, 2),
            (100, 256, 128, 2),
        ] {
            let [rate, greatest, first] = [rate, greatest, first].map(Rate::from_kbps);
            assert_eq!(config.interval(rate, greatest, first), interval, "{rate} of {greatest}");
        }
    }

    #[test]
    fn the_rate_of_fec_is_what_left_since_the_probe_began() {
        let mut fec = Fec::default();
        let packet = |payload| SentPacket { payload, ..SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(575)) };
        fec.on_sent(&packet(Payload::Repair));
        assert_eq!((fec.interval(), fec.rate(Time::from_millis(200))), (None, Rate::ZERO));
        fec.begin(Time::from_millis(200), 13);
        fec.on_sent(&packet(Payload::Repair));
        fec.on_sent(&packet(Payload::Media));
        assert_eq!(fec.rate(Time::from_millis(400)), Rate::from_kbps(23));
        (0..3).for_each(|_| fec.widen(&FecConfig::default()));
        assert_eq!(fec.interval(), Some(14));
        fec.end();
        assert_eq!((fec.interval(), fec.rate(Time::from_millis(400))), (None, Rate::ZERO));
    }

    proptest! {
        #[test]
        fn the_interval_is_always_between_least_and_most_and_grows_with_the_rate(
            rate in 0u64..10_000, more in 0u64..1_000, greatest in 0u64..10_000, first in 0u64..10_000, at_greatest in 2u16..=14
        ) {
            let config = FecConfig { at_greatest, ..FecConfig::default() };
            let of = |kbps| config.interval(Rate::from_kbps(kbps), Rate::from_kbps(greatest), Rate::from_kbps(first));
            prop_assert!((2..=at_greatest).contains(&of(rate)));
            prop_assert!(of(rate) <= of(rate + more));
        }
    }
}
