//! One received RTP stream: unwrapped sequence numbers, losses and jitter (RFC 3550 appendices A.1, A.3 and A.8).

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::{NtpShort, ReportBlock};
use thalweg_wire::unwrap::SequenceUnwrapper;

/// Two consecutive packets this far behind the newest are not late but of a restarted stream. RFC 3550 appendix A.1
/// uses 100 (`MAX_MISORDER`), which reordering by 100 ms at 10 Mbps exceeds; this value is as far back as a packet
/// could still be useful (`buffer::PACKETS`).
const RESTART: u64 = 2048;

/// Two consecutive packets so far ahead of the newest are of a restarted stream, and those between are not lost (RFC 3550
/// appendix A.1, `MAX_DROPOUT`).
const DROPOUT: u64 = 3000;

/// Sequence numbers, losses and jitter of a stream.
#[derive(Debug)]
pub(crate) struct Source {
    /// RTP clock rate in Hz.
    rate: u32,
    /// The highest sequence number.
    newest: Option<u64>,
    /// The sequence number that would confirm a restart (`bad_seq`).
    restart: Option<u16>,
    /// The first sequence number (`base_seq`).
    base: u64,
    /// Packets received since the start, duplicates included (`received`).
    received: u64,
    /// Packets expected and received at the time of the last report block (`expected_prior`, `received_prior`).
    prior: (u64, u64),
    /// Arrival minus timestamp of the last packet, in ticks (`transit`).
    transit: Option<u32>,
    /// The jitter times 16, in ticks.
    jitter: u64,
}

impl Source {
    /// A stream with an RTP clock of `rate` Hz, before its first packet.
    pub(crate) fn new(rate: u32) -> Source {
        let (newest, restart, transit) = (None, None, None);
        Source { rate, newest, restart, base: 0, received: 0, prior: (0, 0), transit, jitter: 0 }
    }

    /// The highest sequence number received.
    #[cfg(test)]
    fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Processes a packet; returns its unwrapped sequence number. After a restart, numbers continue above the earlier
    /// ones.
    pub(crate) fn on_packet(&mut self, now: Time, sequence: u16, timestamp: u32) -> u64 {
        let number = self.place(sequence);
        self.received += 1;
        self.on_timestamp(now, timestamp);
        number
    }

    /// Unwraps a 16-bit sequence number without changing state.
    pub(super) fn locate(&self, sequence: u16) -> Option<u64> {
        Some(SequenceUnwrapper::after(self.newest?).peek(sequence.into()))
    }

    fn place(&mut self, sequence: u16) -> u64 {
        let Some(newest) = self.newest else {
            return self.begin(SequenceUnwrapper::new().peek(sequence.into()));
        };
        let number = SequenceUnwrapper::after(newest).peek(sequence.into());
        if number + RESTART > newest && number < newest + DROPOUT {
            self.restart = None;
            self.newest = Some(newest.max(number));
            return number;
        }
        if self.restart == Some(sequence) {
            let behind = SequenceUnwrapper::after(newest + (1 << 15)).peek(sequence.into());
            return self.begin(if number > newest { number } else { behind });
        }
        self.restart = Some(sequence.wrapping_add(1));
        number
    }

    fn begin(&mut self, number: u64) -> u64 {
        *self = Source { newest: Some(number), base: number, ..Source::new(self.rate) };
        number
    }

    /// RFC 3550 appendix A.8, in integers.
    fn on_timestamp(&mut self, now: Time, timestamp: u32) {
        let arrival = u128::from(now.as_nanos()) * u128::from(self.rate) / 1_000_000_000;
        let transit = (arrival as u32).wrapping_sub(timestamp);
        if let Some(last) = self.transit.replace(transit) {
            let difference = u64::from((transit.wrapping_sub(last) as i32).unsigned_abs());
            self.jitter = self.jitter + difference - ((self.jitter + 8) >> 4);
        }
    }

    /// Number of packets between the first and the highest sequence number, inclusive.
    fn expected(&self) -> u64 {
        self.newest.map_or(0, |newest| newest + 1 - self.base)
    }

    /// Packets received since the stream began, duplicates included.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// Packets lost; negative if duplicates arrived.
    pub(super) fn lost(&self) -> i64 {
        self.expected() as i64 - self.received as i64
    }

    /// The interarrival jitter.
    pub(super) fn jitter(&self) -> Span {
        Span::from_secs_f64((self.jitter >> 4) as f64 / f64::from(self.rate))
    }

    /// The report block of stream `ssrc`, whose last sender report has this age; `None` before the first packet.
    pub(crate) fn block(&mut self, ssrc: u32, last: Option<(NtpShort, Span)>) -> Option<ReportBlock> {
        let newest = self.newest?;
        let (expected, received) = (self.expected(), self.received);
        let (expected_prior, received_prior) = std::mem::replace(&mut self.prior, (expected, received));
        let expected_interval = expected.saturating_sub(expected_prior);
        let lost_interval = expected_interval.saturating_sub(received - received_prior);
        let (last_report, age) = last.unwrap_or_default();
        Some(ReportBlock {
            ssrc,
            fraction_lost: (lost_interval << 8).checked_div(expected_interval).unwrap_or(0).min(255) as u8,
            cumulative_lost: self.lost().clamp(i32::MIN.into(), i32::MAX.into()) as i32,
            // An unwrapped number starts one cycle ahead of the one on the wire.
            highest_sequence: (newest - (1 << 16)) as u32,
            jitter: u32::try_from(self.jitter >> 4).unwrap_or(u32::MAX),
            last_report,
            delay: NtpShort::of(age),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VIDEO: u32 = 90_000;

    fn fed(packets: &[u16]) -> Source {
        let mut source = Source::new(VIDEO);
        for sequence in packets {
            source.on_packet(Time::ZERO, *sequence, 0);
        }
        source
    }

    #[test]
    fn the_numbers_go_on_after_65535_and_the_block_counts_turns_from_zero() {
        let mut source = fed(&[65_534, 65_535, 1, 0]);
        let block = source.block(7, None).unwrap();
        assert_eq!((block.highest_sequence, block.cumulative_lost, block.fraction_lost), (65_537, 0, 0));
        assert_eq!((block.last_report.bits(), block.delay.bits()), (0, 0));
    }

    #[test]
    fn the_fraction_lost_is_of_what_was_expected_since_the_last_block() {
        let mut source = fed(&[10, 11, 13]);
        let first = source.block(7, None).unwrap();
        assert_eq!((first.fraction_lost, first.cumulative_lost), (64, 1));
        for sequence in 14..22 {
            source.on_packet(Time::ZERO, sequence, 0);
        }
        assert_eq!(source.block(7, None).unwrap().fraction_lost, 0);
        // Of the next two expected, three arrive, because one is duplicated: this makes up for the earlier losses.
        for sequence in [22, 23, 23] {
            source.on_packet(Time::ZERO, sequence, 0);
        }
        let third = source.block(7, None).unwrap();
        assert_eq!((third.fraction_lost, third.cumulative_lost), (0, 0));
        assert_eq!(source.block(7, None).unwrap().fraction_lost, 0);
        // All but the last of 300 are lost: 299/300 of 256.
        source.on_packet(Time::ZERO, 323, 0);
        assert_eq!(source.block(7, None).unwrap().fraction_lost, 255);
    }

    #[test]
    fn jitter_is_a_sixteenth_of_each_deviation_and_forgets_as_much() {
        let mut source = Source::new(VIDEO);
        // 10 ms late once and equally late afterwards: 900 ticks of deviation, then none.
        source.on_packet(Time::from_millis(0), 1, 0);
        source.on_packet(Time::from_millis(43), 2, 2970);
        assert_eq!(source.block(7, None).unwrap().jitter, 56);
        source.on_packet(Time::from_millis(76), 3, 5940);
        assert_eq!(source.block(7, None).unwrap().jitter, 52);
        assert_eq!(source.jitter(), Span::from_secs_f64(52.0 / 90_000.0));
    }

    #[test]
    fn one_stray_number_is_passed_over_and_two_in_a_row_begin_anew() {
        let mut source = fed(&[30_000]);
        assert_eq!(source.on_packet(Time::ZERO, 9, 0), 65_536 + 9);
        assert_eq!(source.newest(), Some(65_536 + 30_000));
        assert_eq!(source.on_packet(Time::ZERO, 10, 0), 2 * 65_536 + 10);
        assert_eq!((source.received(), source.lost()), (1, 0));
        assert_eq!(source.on_packet(Time::ZERO, 11, 0), 2 * 65_536 + 11);
    }

    #[test]
    fn a_jump_ahead_is_a_restart_and_no_loss_where_two_in_a_row_follow_it() {
        let mut source = fed(&[1, 2, 3]);
        let numbers = [20_003, 20_004, 20_005].map(|sequence| source.on_packet(Time::ZERO, sequence, 0));
        assert_eq!(numbers, [20_003, 20_004, 20_005].map(|sequence| 65_536 + sequence));
        assert_eq!((source.received(), source.lost()), (2, 0));
        let block = source.block(7, None).unwrap();
        assert_eq!((block.cumulative_lost, block.fraction_lost), (0, 0));
        // A stray one is passed over, and up to 3000 are lost as before.
        source.on_packet(Time::ZERO, 40_000, 0);
        source.on_packet(Time::ZERO, 20_006, 0);
        source.on_packet(Time::ZERO, 23_005, 0);
        assert_eq!(source.lost(), 2998 - 1, "the stray one counts as received");
    }

    #[test]
    fn age_and_middle_of_the_last_sender_report_come_back() {
        let mut source = fed(&[1]);
        let last = NtpShort::at(Time::from_millis(1500));
        let block = source.block(7, Some((last, Span::from_millis(250)))).unwrap();
        assert_eq!((block.last_report, block.delay.bits()), (last, 0x4000));
    }

    proptest! {
        #[test]
        fn no_packets_make_it_panic(packets: Vec<(u64, u16, u32)>) {
            let mut source = Source::new(VIDEO);
            let mut newest = 0;
            for (at, sequence, timestamp) in packets {
                let number = source.on_packet(Time::from_nanos(at), sequence, timestamp);
                prop_assert_eq!(number as u16, sequence);
                prop_assert!(source.newest().unwrap() >= newest);
                newest = source.newest().unwrap();
                prop_assert!(source.block(1, None).is_some());
            }
        }
    }
}
