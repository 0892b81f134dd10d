//! The sender's half: chooses between its own estimate, a TCP flow's rate and the receiver's estimate
//! (specs/cnadu.md 4).

use thalweg_units::{Rate, Span};

use super::SenderConfig;

/// A report with the sender's evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// C.
    pub(super) capacity: Rate,
    /// G.
    pub(super) goodput: Rate,
    /// X; [`Rate::MAX`] without loss.
    pub(super) tcp: Rate,
    /// f: the share of frames that missed their playout.
    pub(super) missed: f64,
    /// The share of packets lost, and the number of packets lost.
    pub(super) lost: f64,
    pub(super) lost_packets: u32,
    pub(super) rtt: Span,
    /// q75 and q90, and by how much they may be exceeded without effect.
    pub(super) long: Span,
    pub(super) very_long: Span,
}

/// Decision about the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Undershoot,
    Decrease,
    Hold,
    Grow,
}

impl Judged {
    /// Returns true if there is no trouble, so that the rate may return to its earlier value.
    pub(super) fn is_clean(&self) -> bool {
        self.missed == 0.0 && self.lost == 0.0 && self.rtt <= self.very_long
    }
}

impl SenderConfig {
    /// The rate after a report, the kind of change, and the reason.
    pub(super) fn step(&self, rate: Rate, judged: &Judged) -> (Rate, Verdict, &'static str) {
        let Judged { capacity, goodput, tcp, missed, lost, lost_packets, rtt, long, very_long } = *judged;
        if missed > self.trouble || lost > self.trouble && lost_packets >= self.trouble_packets {
            let why = if missed > self.trouble { "frames missed their playout" } else { "packets were lost" };
            return (capacity.min(goodput).scale(self.undershoot), Verdict::Undershoot, why);
        }
        if rtt > very_long {
            let max = if self.decrease_to_received { capacity.min(goodput) } else { capacity };
            let rate = rate.min(max).scale(self.decrease);
            return (rate, Verdict::Decrease, "round trip above its 90th percentile");
        }
        if rtt > long || missed > 0.0 {
            let why = if rtt > long { "round trip above its 75th percentile" } else { "a frame missed its playout" };
            return (rate.min(capacity), Verdict::Hold, why);
        }
        let between = (tcp.min(capacity.scale(self.max_of_capacity)) + capacity).scale(0.5);
        (between.clamp(rate, rate.scale(self.growth)), Verdict::Grow, "between both estimates")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfrc::Equation;
    use thalweg_units::Bytes;

    fn judged(capacity_bps: u64, goodput: u64) -> Judged {
        Judged {
            capacity: Rate::from_bps(capacity_bps),
            goodput: Rate::from_kbps(goodput),
            tcp: Rate::MAX,
            missed: 0.0,
            lost: 0.0,
            lost_packets: 0,
            rtt: Span::from_millis(100),
            long: Span::MAX,
            very_long: Span::MAX,
        }
    }

    /// The growth factor 1.08 of specs/cnadu.md's examples.
    fn cnadu_of_the_specification() -> SenderConfig {
        SenderConfig { growth: 1.08, ..SenderConfig::default() }
    }

    fn step(kbps: u64, judged: &Judged) -> (f64, Verdict) {
        let (rate, verdict, _) = cnadu_of_the_specification().step(Rate::from_kbps(kbps), judged);
        (rate.as_kbps_f64(), verdict)
    }

    #[test]
    fn a_round_trip_above_the_ninetieth_percentile_takes_a_twentieth_of_the_estimate() {
        // specs/cnadu.md 7, example 1.
        let long = Judged { very_long: Span::from_millis(99), ..judged(181_818, 200) };
        let (rate, verdict) = step(200, &long);
        assert!((rate - 172.7).abs() < 0.05 && verdict == Verdict::Decrease, "{rate}");
    }

    #[test]
    fn between_both_estimates_it_grows_by_eight_percent_at_most() {
        // Example 2: X is 898.7 kbps, twice C 315, the mean 236.
        let tcp = Equation::new(Bytes::new(1000), Span::from_millis(100)).rate(0.01);
        assert!((tcp.as_kbps_f64() - 898.7).abs() < 0.05);
        assert_eq!(step(150, &Judged { tcp, ..judged(157_500, 150) }), (162.0, Verdict::Grow));
        // If both are below the rate, it stays.
        assert_eq!(step(150, &Judged { tcp: Rate::from_kbps(100), ..judged(120_000, 150) }), (150.0, Verdict::Grow));
        assert_eq!(step(150, &Judged { tcp: Rate::from_kbps(150), ..judged(160_000, 150) }), (155.0, Verdict::Grow));
    }

    #[test]
    fn missed_playouts_and_losses_leave_nine_tenths_of_the_lesser_estimate() {
        // Example 3: f is 8 %.
        assert_eq!(step(200, &Judged { missed: 0.08, ..judged(170_000, 200) }), (153.0, Verdict::Undershoot));
        assert_eq!(
            step(200, &Judged { lost: 0.06, lost_packets: 2, ..judged(210_000, 180) }),
            (162.0, Verdict::Undershoot)
        );
        assert_eq!(step(200, &Judged { lost: 0.05, lost_packets: 9, ..judged(210_000, 180) }).1, Verdict::Grow);
        // One of fifteen counts as a short-lived event.
        assert_eq!(step(200, &Judged { lost: 0.067, lost_packets: 1, ..judged(210_000, 180) }).1, Verdict::Grow);
    }

    #[test]
    fn in_between_it_holds() {
        let long = Judged { long: Span::from_millis(99), ..judged(180_000, 200) };
        assert_eq!(step(200, &long), (180.0, Verdict::Hold));
        assert_eq!(step(200, &Judged { missed: 0.02, ..judged(250_000, 200) }), (200.0, Verdict::Hold));
        assert!(judged(1, 1).is_clean() && !Judged { missed: 0.02, ..judged(1, 1) }.is_clean());
    }
}
