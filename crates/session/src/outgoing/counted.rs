//! The counts of sent bytes in packets, and path reports based on them, converted to the engine's bytes.
//!
//! Packets carry IP bytes, because that is what the receiver adds up. The engine counts the usual size of a packet of
//! the kind, a few bytes off if a dependency descriptor is longer than usual, and a controller counts only packets that
//! left since its scheme began. In a long call the difference would look like backlog, or like more bytes received than
//! sent; so it is subtracted from every report.

use thalweg_control::PathReport;
use thalweg_units::Bytes;
use thalweg_wire::rtp::BytesBefore;

/// Counts the packets that leave.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// True if packets carry the count.
    are_reported: bool,
    /// IP bytes of the packets that carried the count.
    total: Bytes,
    /// Bytes sent since the scheme began, as the engine counts them.
    charged: Bytes,
}

impl Counted {
    /// A scheme begins, with a new controller; `are_reported` if its packets carry the count.
    pub(super) fn begin(&mut self, are_reported: bool) {
        (self.are_reported, self.charged) = (are_reported, Bytes::ZERO);
    }

    /// The count that the next packet carries, if any.
    pub(super) fn before(&self) -> Option<BytesBefore> {
        self.are_reported.then(|| BytesBefore::of(self.total))
    }

    /// A packet of this size leaves, which the engine counts as `charged`; `said` if it carried the count.
    pub(super) fn on_packet(&mut self, size: Bytes, charged: Bytes, said: bool) {
        self.charged += charged;
        if said {
            self.total += size;
        }
    }

    /// The peer's measurement in the engine's bytes; `None` if packets carry no count.
    pub(super) fn report(&self, report: PathReport) -> Option<PathReport> {
        // No more can have arrived than was sent, whatever the report says.
        let possible = report.received <= self.total && report.lost <= self.total;
        (self.are_reported && possible).then(|| {
            // The bytes sent since the scheme began that are no longer in flight; of these, no more were lost.
            let over = (report.received + report.lost + self.charged).saturating_sub(self.total);
            let lost = report.lost.min(over);
            PathReport { received: over.saturating_sub(lost), lost, ..report }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn report(received: u64, lost: u64) -> PathReport {
        PathReport { capacity: Some(Rate::from_kbps(300)), received: Bytes::new(received), lost: Bytes::new(lost) }
    }

    fn sent(counted: &mut Counted, packets: u32) {
        (0..packets).for_each(|_| counted.on_packet(Bytes::new(1010), Bytes::new(1000), true));
    }

    #[test]
    fn what_the_engine_counts_otherwise_is_neither_backlog_nor_more_than_was_sent() {
        let mut counted = Counted::default();
        counted.begin(true);
        sent(&mut counted, 100);
        assert_eq!(counted.before().map(BytesBefore::low), Some(101_000));
        // All but the last packet arrived or were lost; one was lost.
        assert_eq!(counted.report(report(98 * 1010, 1010)), Some(report(98 * 1010 - 1000, 1010)));
        assert_eq!(counted.report(report(101_000, 0)), Some(report(100_000, 0)));
    }

    #[test]
    fn a_controller_hears_only_of_what_it_saw_leave() {
        let mut counted = Counted::default();
        counted.begin(true);
        sent(&mut counted, 100);
        counted.begin(true);
        sent(&mut counted, 3);
        assert_eq!(counted.report(report(101_000 + 1010, 0)), Some(report(1000 - 20, 0)));
        // Reported before the change, or after it about packets sent before.
        assert_eq!(counted.report(report(50_500, 0)), Some(report(0, 0)));
        // Many were lost before it.
        assert_eq!(counted.report(report(51_000, 50_000 + 1010)), Some(report(0, 1000 - 20)));
    }

    #[test]
    fn more_than_left_did_not_come_and_nobody_measures_by_what_was_not_told() {
        let mut counted = Counted::default();
        counted.on_packet(Bytes::new(1010), Bytes::new(1000), false);
        assert_eq!((counted.before(), counted.report(report(0, 0))), (None, None));
        counted.begin(true);
        sent(&mut counted, 2);
        for (received, lost) in [(2021, 0), (0, 2021), (u64::MAX, 0), (0, u64::MAX)] {
            assert_eq!(counted.report(report(received, lost)), None);
        }
    }
}
