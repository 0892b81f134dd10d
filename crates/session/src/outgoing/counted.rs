//! What packets say was sent before them, and what a receiver that measures by it reports, in the engine's own bytes.
//!
//! Packets say it as IP counts them, because that is what the receiver adds up. The engine counts what a packet of the kind usually weighs, a
//! few bytes off where a dependency descriptor says more than usual, and a controller only what left since its scheme began. Of a long call
//! the difference would be taken for backlog, or for more having come than was sent; so it is taken off every report.

use thalweg_control::PathReport;
use thalweg_units::Bytes;
use thalweg_wire::rtp::BytesBefore;

/// Counts what leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// Whether packets say it.
    are_reported: bool,
    /// What left in packets that said it, as IP counts them.
    total: Bytes,
    /// What left since the scheme began, as the engine counts it.
    charged: Bytes,
}

impl Counted {
    /// A scheme begins, with a controller that saw nothing leave yet; whether its packets say it.
    pub(super) fn begin(&mut self, are_reported: bool) {
        (self.are_reported, self.charged) = (are_reported, Bytes::ZERO);
    }

    /// What the next packet says, if it is to say it.
    pub(super) fn before(&self) -> Option<BytesBefore> {
        self.are_reported.then(|| BytesBefore::of(self.total))
    }

    /// A packet of this size leaves, which the engine counts as `charged`; `said`: it said what was sent before it.
    pub(super) fn on_packet(&mut self, size: Bytes, charged: Bytes, said: bool) {
        self.charged += charged;
        if said {
            self.total += size;
        }
    }

    /// What the peer measured, in the engine's bytes; `None` where nothing was reported to measure by.
    pub(super) fn report(&self, report: PathReport) -> Option<PathReport> {
        // More than left cannot have come, whatever is said.
        let possible = report.received <= self.total && report.lost <= self.total;
        (self.are_reported && possible).then(|| {
            // What is no longer under way of what left since the scheme began; of that, no more was lost.
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
        // All but the last packet came, of which one was lost.
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
        // Reported before the change, or after it about what left before.
        assert_eq!(counted.report(report(50_500, 0)), Some(report(0, 0)));
        // Much was lost before it.
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
