//! The sender's clock: converts RTP timestamps to time (RFC 3550 section 6.4.1).

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::{NtpShort, NtpTime, SenderReport};

/// Contents of a stream's last sender report.
#[derive(Debug, Clone, Copy)]
struct Reference {
    ntp: NtpTime,
    timestamp: u32,
    /// Arrival time by our clock.
    arrived: Time,
}

/// Converts a stream's timestamps to time.
#[derive(Debug)]
pub(super) struct SenderClock {
    /// RTP clock rate in Hz.
    rate: u32,
    reference: Option<Reference>,
}

impl SenderClock {
    /// A clock of `rate` Hz without any sender report yet.
    pub(super) fn new(rate: u32) -> SenderClock {
        SenderClock { rate, reference: None }
    }

    /// Processes a sender report; one older than the last is ignored.
    pub(super) fn on_report(&mut self, now: Time, report: &SenderReport) {
        if self.reference.is_none_or(|last| report.ntp >= last.ntp || now - last.arrived > STALE) {
            self.reference = Some(Reference { ntp: report.ntp, timestamp: report.rtp_timestamp, arrived: now });
        }
    }

    /// The time of an RTP timestamp, by the sender's clock.
    pub(super) fn instant(&self, timestamp: u32) -> Option<Time> {
        let reference = self.reference?;
        let ticks = i64::from(timestamp.wrapping_sub(reference.timestamp) as i32);
        // 2^31 ticks are less than 3 10^14 ns even at 8 kHz.
        let since = Span::from_nanos((i128::from(ticks) * 1_000_000_000 / i128::from(self.rate)) as i64);
        let reported = (u128::from(reference.ntp.bits()) * 1_000_000_000) >> 32;
        Some(Time::from_nanos(reported as u64) + since)
    }

    /// The last sender report for a report block: the middle of its NTP time, and its age.
    pub(super) fn last(&self, now: Time) -> Option<(NtpShort, Span)> {
        self.reference.map(|reference| (reference.ntp.short(), now - reference.arrived))
    }
}

/// If a sender's report times stay behind the last one for this long, the sender has reset its clock: five of the
/// longest usual intervals, 5 s (RFC 3550 section 6.2, which times senders out after as many).
const STALE: Span = Span::from_secs(25);

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seconds: u64, rtp_timestamp: u32) -> SenderReport {
        SenderReport { ntp: NtpTime::at(Time::from_millis(1000 * seconds)), rtp_timestamp, ..SenderReport::default() }
    }

    #[test]
    fn a_timestamp_is_an_instant_around_the_last_report_through_the_wrap_of_32_bits() {
        let mut clock = SenderClock::new(90_000);
        assert_eq!(clock.instant(5), None);
        clock.on_report(Time::ZERO, &report(100, 45_000));
        assert_eq!(clock.instant(135_000), Some(Time::from_millis(101_000)));
        assert_eq!(clock.instant(45_000u32.wrapping_sub(90_000)), Some(Time::from_millis(99_000)));
    }

    #[test]
    fn a_report_that_was_overtaken_changes_nothing() {
        let mut clock = SenderClock::new(48_000);
        clock.on_report(Time::from_millis(10), &report(100, 0));
        clock.on_report(Time::from_millis(20), &report(99, 7));
        assert_eq!(clock.instant(0), Some(Time::from_millis(100_000)));
        let (last, age) = clock.last(Time::from_millis(30)).unwrap();
        assert_eq!((last, age), (NtpShort::at(Time::from_millis(100_000)), Span::from_millis(20)));
        clock.on_report(Time::from_millis(26_000), &report(9, 0));
        assert_eq!(clock.instant(0), Some(Time::from_millis(9_000)));
    }

    #[test]
    fn a_lying_report_gives_some_instant_and_no_more() {
        let mut clock = SenderClock::new(90_000);
        for bits in [0, u64::MAX] {
            let ntp = NtpTime::from_bits(bits);
            clock.on_report(Time::from_millis(bits % 2), &SenderReport { ntp, ..SenderReport::default() });
            assert!(clock.instant(1 << 31).is_some() && clock.instant(u32::MAX >> 1).is_some());
        }
    }
}
