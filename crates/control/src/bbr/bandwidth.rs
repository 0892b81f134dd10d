//! BtlBw: the max delivery rate of the last ten round trips.

use thalweg_units::Rate;

use super::config::Ageing;
use crate::estimate::{RateSample, WindowedMax};

/// The max filter. Its window is counted in its own rounds, which stop while the estimate must not age.
#[derive(Debug, Clone)]
pub(super) struct Bandwidth {
    window: u64,
    ageing: Ageing,
    largest: WindowedMax<Rate, u64>,
    round: u64,
    /// The round of the newest sample that was accepted.
    counted_at: u64,
    /// True if this round had a sample that was not app-limited.
    saw_full_path: bool,
    /// True while lower app-limited samples are accepted, after a bad round.
    accept_lower: bool,
}

impl Bandwidth {
    pub(super) fn new(window: u64, ageing: Ageing) -> Bandwidth {
        Bandwidth {
            window,
            ageing,
            largest: WindowedMax::default(),
            round: 0,
            counted_at: 0,
            saw_full_path: false,
            accept_lower: false,
        }
    }

    /// BtlBw; `None` before the first sample.
    pub(super) fn get(&self) -> Option<Rate> {
        self.largest.get()
    }

    /// Records the end of a round; `bad` if more was sent in it than the path carries.
    pub(super) fn on_round(&mut self, bad: bool) {
        let frozen = matches!(self.ageing, Ageing::Frozen(_));
        self.accept_lower = frozen && bad;
        if !frozen || self.saw_full_path || bad {
            self.round += 1;
        }
        self.saw_full_path = false;
    }

    /// Takes in a sample.
    pub(super) fn add(&mut self, sample: &RateSample) {
        self.saw_full_path |= !sample.app_limited;
        if self.ageing == Ageing::EveryRound {
            if self.round >= self.counted_at + self.window {
                self.largest.clear();
            }
            self.largest.expire(self.round, self.window);
        }
        // An equal sample is accepted too, as in the draft: it keeps the estimate from ageing.
        let as_large = self.get().is_none_or(|largest| sample.rate >= largest);
        if as_large || !sample.app_limited || self.accept_lower {
            self.largest.add(self.round, sample.rate, self.window);
            self.counted_at = self.round;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr::config::BadRound;
    use proptest::prelude::*;
    use thalweg_units::{Bytes, Span};

    fn sample(mbps: u64, app_limited: bool) -> RateSample {
        RateSample {
            rate: Rate::from_kbps(1000 * mbps),
            delivered: Bytes::new(15_000),
            interval: Span::from_millis(50),
            delivered_before: Bytes::ZERO,
            app_limited,
        }
    }

    fn mbps(bandwidth: &Bandwidth) -> u64 {
        bandwidth.get().unwrap().as_bps() / 1_000_000
    }

    fn six_full(ageing: Ageing) -> Bandwidth {
        let mut bandwidth = Bandwidth::new(10, ageing);
        bandwidth.add(&sample(6, false));
        bandwidth
    }

    /// Rounds with one app-limited sample of `rate` each; BtlBw after each.
    fn limited_rounds(bandwidth: &mut Bandwidth, rate: u64, rounds: u64, bad: bool) -> alloc::vec::Vec<u64> {
        let round = |_| {
            bandwidth.on_round(bad);
            bandwidth.add(&sample(rate, true));
            mbps(bandwidth)
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn a_limited_sample_of_two_is_ignored_at_six_and_one_of_seven_is_not() {
        // specs/bbr.md 9, example 4, for every kind of ageing.
        for ageing in [Ageing::EveryRound, Ageing::WithSamples, Ageing::Frozen(BadRound::default())] {
            let mut bandwidth = six_full(ageing);
            bandwidth.add(&sample(2, true));
            assert_eq!(mbps(&bandwidth), 6);
            bandwidth.add(&sample(7, true));
            assert_eq!(mbps(&bandwidth), 7);
        }
    }

    #[test]
    fn ageing_by_every_round_falls_to_what_media_fill_in_the_tenth() {
        let mut bandwidth = six_full(Ageing::EveryRound);
        assert_eq!(limited_rounds(&mut bandwidth, 2, 12, false), [6, 6, 6, 6, 6, 6, 6, 6, 6, 2, 2, 2]);
    }

    #[test]
    fn ageing_with_samples_waits_for_one_that_counts() {
        let mut bandwidth = six_full(Ageing::WithSamples);
        assert_eq!(limited_rounds(&mut bandwidth, 2, 40, false), [6; 40]);
        bandwidth.add(&sample(3, false));
        assert_eq!(mbps(&bandwidth), 3);
    }

    #[test]
    fn frozen_rounds_do_not_count_until_they_are_bad() {
        let mut bandwidth = six_full(Ageing::Frozen(BadRound::default()));
        assert_eq!(limited_rounds(&mut bandwidth, 2, 40, false), [6; 40]);
        bandwidth.on_round(false);
        bandwidth.add(&sample(3, false));
        assert_eq!(mbps(&bandwidth), 6, "a round that filled the path counts, and forty that did not are forgotten");
        let falling = limited_rounds(&mut bandwidth, 2, 12, true);
        assert_eq!((falling[0], falling[11]), (6, 2));
    }

    proptest! {
        #[test]
        fn it_is_a_sample_and_not_below_those_of_the_last_ten_rounds_that_filled_the_path(
            rounds in prop::collection::vec((1u64..50, any::<bool>(), any::<bool>()), 1..60),
            ageing in prop_oneof![
                Just(Ageing::WithSamples), Just(Ageing::EveryRound), Just(Ageing::Frozen(BadRound::default()))
            ],
        ) {
            let mut bandwidth = Bandwidth::new(10, ageing);
            for (index, (rate, app_limited, bad)) in rounds.iter().enumerate() {
                bandwidth.on_round(*bad);
                bandwidth.add(&sample(*rate, *app_limited));
                let now = mbps(&bandwidth);
                prop_assert!(rounds[..=index].iter().any(|round| round.0 == now));
                let recent = &rounds[(index + 1).saturating_sub(10)..=index];
                let full = recent.iter().filter(|round| !round.1).map(|round| round.0).max();
                prop_assert!(full.is_none_or(|full| now >= full), "{now} after {recent:?}");
            }
        }
    }
}
