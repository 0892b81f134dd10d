//! The signals and their thresholds: what is under way, and the round trip. All averages are per look.

use thalweg_units::{Bytes, Rate, Span};

use super::Config;

/// The share that averages keep, and by which the largest rise decays.
const MEMORY: f64 = 0.99;
/// The same for the change of the round trip, and for the rate sent.
const SLOPE_MEMORY: f64 = 0.8;
const SENT_MEMORY: f64 = 0.97;
/// By this the least round trip rises with each look, so that a longer path is learned.
const FORGETTING: f64 = 1.001;
/// The round trip assumed before the first, and the least.
const FIRST_ROUND_TRIP: f64 = 300.0;
const FIRST_LEAST: f64 = 200.0;
/// SRT's own assumption before it has measured, which never counts as the least.
const UNMEASURED: f64 = 100.0;
/// The least threshold of what is under way, in packets.
const FEW_PACKETS: f64 = 50.0;
/// belacoder divides bit/s by this for kbit/s.
const KIBI: f64 = 1024.0;

/// Bytes in the sender or on the path, in packets: SRT's send buffer.
#[derive(Debug, Clone, Default)]
pub(super) struct UnderWay {
    /// The present number.
    pub(super) packets: f64,
    average: f64,
    rise: f64,
    /// The rate sent, in belacoder's kbit/s.
    sent: f64,
}

impl UnderWay {
    pub(super) fn look(&mut self, now: Bytes, sent: Rate, config: &Config) {
        let packets = libm::trunc(now.as_f64() / config.packet.as_f64());
        self.average = self.average * MEMORY + packets * (1.0 - MEMORY);
        self.rise = (self.rise * MEMORY).max(packets - self.packets);
        self.packets = packets;
        self.sent = self.sent * SENT_MEMORY + sent.as_bps_f64() / KIBI * (1.0 - SENT_MEMORY);
    }

    /// Above this the congestion is light.
    pub(super) fn light(&self) -> f64 {
        libm::trunc((self.average + self.rise * 2.5).max(FEW_PACKETS))
    }

    /// Above this it is heavy: never more than what is sent in half of the latency.
    pub(super) fn heavy(&self, config: &Config) -> f64 {
        let half = self.sent / 8.0 * (config.latency / 2).as_millis_f64() / config.packet.as_f64();
        let usual = (self.average + (self.rise * 3.0).max(self.average)).max(FEW_PACKETS);
        libm::trunc(usual).min(libm::trunc(half))
    }

    /// Above this only the min rate is sent.
    pub(super) fn worst(&self) -> f64 {
        libm::trunc((self.average + self.rise) * 4.0)
    }
}

/// The round trip in whole milliseconds.
#[derive(Debug, Clone)]
pub(super) struct RoundTrip {
    /// The present one.
    pub(super) now: f64,
    average: Option<f64>,
    /// The average change from look to look.
    pub(super) slope: f64,
    pub(super) least: f64,
    rise: f64,
}

impl Default for RoundTrip {
    fn default() -> RoundTrip {
        RoundTrip { now: FIRST_ROUND_TRIP, average: None, slope: 0.0, least: FIRST_LEAST, rise: 0.0 }
    }
}

impl RoundTrip {
    pub(super) fn look(&mut self, round_trip: Span) {
        let now = libm::trunc(round_trip.as_millis_f64());
        self.average = Some(self.average.map_or(now, |average| average * MEMORY + now * (1.0 - MEMORY)));
        let change = now - self.now;
        self.now = now;
        self.slope = self.slope * SLOPE_MEMORY + change * (1.0 - SLOPE_MEMORY);
        self.least *= FORGETTING;
        if now != UNMEASURED && now < self.least && self.slope < 1.0 {
            self.least = now;
        }
        self.rise = (self.rise * MEMORY).max(change);
    }

    /// Above this the congestion is light.
    pub(super) fn light(&self) -> f64 {
        let average = self.average.unwrap_or(self.now);
        libm::trunc(average + (self.rise * 4.0).max(average * 0.15))
    }

    /// Below this the path is free.
    pub(super) fn free(&self) -> f64 {
        libm::trunc(self.least + (self.rise * 2.0).max(1.0))
    }
}
