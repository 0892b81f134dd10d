//! Missing media packets and their retransmission requests (libwebrtc `modules/video_coding/nack_requester.cc`).

use std::collections::{BTreeMap, BTreeSet};

use thalweg_units::{Span, Time};

/// Interval at which requested packets are checked again (`NackPeriodicProcessor::kUpdateInterval`). The grid begins at
/// time zero.
const INTERVAL: Span = Span::from_millis(20);
/// Max number of requests per packet (`kMaxNackRetries`; 10 in libwebrtc before 2024). Senders forget the packet before
/// that.
const TIMES: u32 = 100;
/// Max distance in packets behind the newest; older packets are abandoned (`kMaxPacketAge`).
const AGE: u64 = 10_000;
/// Max number of missing packets; beyond it all are abandoned and a keyframe is requested (`kMaxNackPackets`).
const MAX: u64 = 1_000;

/// Delays of retransmission requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Config {
    /// Interval between requests for the same packet. libwebrtc uses the round trip, but a receiver that sends no media
    /// never learns it (RTCP XR, which would report it, is not negotiated by default) and stays with `kDefaultRtt`.
    pub(super) round_trip: Span,
    /// Delay before a missing packet is first requested (field trial `WebRTC-SendNackDelayMs`, 0 to 20 ms). libwebrtc
    /// can also wait for a number of later packets according to a reordering histogram, but never fills that histogram.
    pub(super) delay: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { round_trip: Span::from_millis(100), delay: Span::ZERO }
    }
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    next: Time,
    times: u32,
}

/// Missing packets of the media sequence.
#[derive(Debug)]
pub(super) struct MissingPackets {
    config: Config,
    newest: Option<u64>,
    missing: BTreeMap<u64, Asked>,
    /// Recovered packets newer than every media packet received so far.
    recovered: BTreeSet<u64>,
    /// Time of the next request, or earlier.
    next: Time,
}

impl MissingPackets {
    pub(super) fn new(config: Config) -> MissingPackets {
        let (missing, recovered) = (BTreeMap::new(), BTreeSet::new());
        MissingPackets { config, newest: None, missing, recovered, next: Time::NEVER }
    }

    /// A fresh state with the same round-trip time.
    pub(super) fn begin_anew(&self) -> MissingPackets {
        MissingPackets::new(self.config)
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.config.round_trip = round_trip.max(Span::from_millis(1));
    }

    /// Processes a media packet; returns whether so much is missing that only a keyframe helps. Packets before the
    /// first one received are unknown and never requested.
    #[must_use]
    pub(super) fn on_media(&mut self, now: Time, sequence: u64) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(sequence);
            return false;
        };
        if sequence <= newest {
            self.remove(sequence);
            return false;
        }
        self.newest = Some(sequence);
        sequence > newest + 1 && self.on_gap(now, newest + 1, sequence)
    }

    /// Numbers from `begin` up to, not including, `end` are missing.
    fn on_gap(&mut self, now: Time, begin: u64, end: u64) -> bool {
        let oldest = end.saturating_sub(AGE);
        self.missing = self.missing.split_off(&oldest);
        if self.missing.len() as u64 + (end - begin) > MAX {
            self.missing.clear();
            self.next = Time::NEVER;
            return true;
        }
        let next = if self.config.delay > Span::ZERO { tick(now + self.config.delay) } else { now };
        for sequence in (begin..end).filter(|sequence| !self.recovered.contains(sequence)) {
            self.missing.insert(sequence, Asked { next, times: 0 });
            self.next = self.next.min(next);
        }
        self.recovered = self.recovered.split_off(&oldest.max(begin));
        false
    }

    /// A retransmission of `sequence` arrived.
    pub(super) fn on_retransmission(&mut self, sequence: u64) {
        if self.newest.is_some_and(|newest| sequence > newest) {
            self.recovered.insert(sequence);
            if self.recovered.len() as u64 > MAX {
                self.recovered.pop_first();
            }
        } else {
            self.remove(sequence);
        }
    }

    /// Packets before `sequence` are no longer needed: their frames were decoded without them or skipped.
    pub(super) fn clear_up_to(&mut self, sequence: u64) {
        if !self.missing.is_empty() {
            self.missing = self.missing.split_off(&sequence);
            self.rest();
        }
    }

    fn remove(&mut self, sequence: u64) {
        self.missing.remove(&sequence);
        self.rest();
    }

    /// Clears the timer if nothing is missing.
    fn rest(&mut self) {
        if self.missing.is_empty() {
            self.next = Time::NEVER;
        }
    }

    /// The packets to request now, in order.
    pub(super) fn poll(&mut self, now: Time) -> Vec<u64> {
        if self.next > now {
            return Vec::new();
        }
        let mut wanted = Vec::new();
        let again = tick(now + self.config.round_trip);
        self.next = Time::NEVER;
        let earliest = &mut self.next;
        self.missing.retain(|sequence, asked| {
            if asked.next <= now {
                wanted.push(*sequence);
                *asked = Asked { next: again, times: asked.times + 1 };
            }
            let stays = asked.times < TIMES;
            if stays {
                *earliest = asked.next.min(*earliest);
            }
            stays
        });
        wanted
    }

    /// Earliest time at which a request may be due.
    pub(super) fn next_event(&self) -> Time {
        self.next
    }
}

/// The first check at or after `at`.
fn tick(at: Time) -> Time {
    Time::from_nanos(at.as_nanos().next_multiple_of(INTERVAL.as_nanos() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u64; 0] = [];

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// A state in which packet 0 arrived at time zero.
    fn begun(config: Config) -> MissingPackets {
        let mut missing = MissingPackets::new(config);
        assert!(!missing.on_media(Time::ZERO, 0));
        missing
    }

    #[test]
    fn gaps_are_asked_for_at_once_and_again_at_the_first_look_after_a_round_trip() {
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(7), 3));
        assert_eq!((missing.next_event(), missing.poll(at(7))), (at(7), vec![1, 2]));
        missing.on_retransmission(1);
        // Due at 107 ms; checks are at 100 and 120.
        assert_eq!((missing.next_event(), missing.poll(at(119))), (at(120), NONE.to_vec()));
        assert_eq!(missing.poll(at(120)), [2]);
        assert_eq!(missing.next_event(), at(220));
        assert!(!missing.on_media(at(130), 2));
        assert_eq!(missing.next_event(), Time::NEVER);
    }

    #[test]
    fn a_longer_round_trip_means_a_longer_wait() {
        let mut missing = begun(Config { round_trip: Span::from_millis(250), ..Config::default() });
        assert!(!missing.on_media(at(0), 2));
        assert_eq!(missing.poll(at(0)), [1]);
        assert_eq!(missing.next_event(), at(260));
    }

    #[test]
    fn a_packet_is_asked_for_a_hundred_times() {
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(0), 2));
        let mut times = Vec::new();
        while missing.next_event() != Time::NEVER {
            let now = missing.next_event();
            assert_eq!(missing.poll(now), [1]);
            times.push(now);
        }
        assert_eq!(times, (0..100).map(|time| at(100 * time)).collect::<Vec<_>>());
    }

    #[test]
    fn what_came_before_the_first_packet_is_not_asked_for() {
        let mut missing = MissingPackets::new(Config::default());
        assert!(!missing.on_media(at(0), 5));
        assert!(!missing.on_media(at(1), 4));
        assert!(!missing.on_media(at(2), 7));
        assert_eq!(missing.poll(at(2)), [6]);
    }

    #[test]
    fn a_packet_that_is_only_late_is_not_asked_for_within_the_delay() {
        let mut missing = begun(Config { delay: Span::from_millis(20), ..Config::default() });
        assert!(!missing.on_media(at(5), 3));
        assert_eq!((missing.next_event(), missing.poll(at(5))), (at(40), NONE.to_vec()));
        assert!(!missing.on_media(at(30), 1));
        assert_eq!(missing.poll(at(40)), [2]);
    }

    #[test]
    fn a_retransmission_of_the_newest_packets_leaves_no_gap() {
        let mut missing = begun(Config::default());
        missing.on_retransmission(2);
        assert!(!missing.on_media(at(1), 4));
        assert_eq!(missing.poll(at(1)), [1, 3]);
    }

    #[test]
    fn with_more_than_a_thousand_missing_a_keyframe_is_asked_for_instead() {
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(0), 601));
        assert_eq!(missing.poll(at(0)).len(), 600);
        assert!(missing.on_media(at(1), 1003));
        assert_eq!((missing.next_event(), missing.poll(at(500))), (Time::NEVER, NONE.to_vec()));
        assert!(!missing.on_media(at(501), 1005));
        assert_eq!(missing.poll(at(501)), [1004]);
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(0), 1001));
        assert_eq!(missing.poll(at(0)).len(), 1000);
    }

    #[test]
    fn packets_ten_thousand_behind_are_given_up() {
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(0), 2));
        for sequence in 3..10_001 {
            assert!(!missing.on_media(at(0), sequence));
        }
        // Packet 1 is 10,000 behind 10,001 and one too far behind 10,002.
        assert_eq!(missing.poll(at(0)), [1]);
        assert!(!missing.on_media(at(1), 10_002));
        assert_eq!(missing.poll(at(1)), [10_001]);
        assert_eq!(missing.poll(at(200)), [10_001]);
    }

    #[test]
    fn what_a_decoded_frame_leaves_behind_is_not_asked_for_again() {
        let mut missing = begun(Config::default());
        assert!(!missing.on_media(at(0), 3));
        assert!(!missing.on_media(at(0), 5));
        assert_eq!(missing.poll(at(0)), [1, 2, 4]);
        missing.clear_up_to(3);
        assert_eq!(missing.poll(at(100)), [4]);
        missing.clear_up_to(5);
        assert_eq!(missing.next_event(), Time::NEVER);
    }
}
